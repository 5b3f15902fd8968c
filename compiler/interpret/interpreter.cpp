#include "compiler/interpret/interpreter.h"

#include "compiler/interpret/deciding.h"
#include "compiler/interpret/evaluate.h"

namespace curfew::interpret {
namespace {

class TableConditions {
 public:
  explicit TableConditions(const module::Tables& tables) : t_(tables) {}

  [[nodiscard]] Truth Condition(const module::Request& request, std::uint32_t entry,
                                bool /*by_key*/) const {
    return Evaluate(t_, request.facts(), t_.entries[entry].condition);
  }
  [[nodiscard]] Truth Within(const module::Request& request, std::uint32_t entry) const {
    return Evaluate(t_, request.facts(), t_.entries[entry].within);
  }
  [[nodiscard]] Truth When(const module::Request& request, module::ClassIndex index) const {
    return Evaluate(t_, request.facts(), t_.classes[index].when);
  }

  // It would have to look at them to know.
  [[nodiscard]] static bool NothingBefore(const module::Request&, std::size_t) { return false; }
  [[nodiscard]] static bool NothingLasting(const module::Request&, std::size_t) { return false; }
  [[nodiscard]] static bool NothingVarying(const module::Request&, std::size_t) { return false; }

 private:
  const module::Tables& t_;
};

}  // namespace

void Interpreter::Decide(const module::Request& request, module::Verdict& verdict) const {
  Decision(module_, TableConditions(module_.tables()), use_index_, request, verdict).Run(request);
}

// Of the index: without it nothing is folded or kept.
void Interpreter::DecidePrepared(const module::PreparedRequest& prepared,
                                 module::Verdict& verdict) const {
  if (use_index_ == UseIndex::No) return Decide(prepared.request(), verdict);
  interpret::DecidePrepared(module_, TableConditions(module_.tables()), prepared, verdict);
}

module::PreparedRequest Interpreter::Prepare(const module::Request& request) const {
  return interpret::Prepare(module_, TableConditions(module_.tables()), request);
}

module::InternedText Interpreter::Intern(std::string_view text) const {
  return Candidates::Intern(module_, text);
}

}  // namespace curfew::interpret
