#include "compiler/interpret/interpreter.h"

#include "compiler/interpret/evaluate.h"

namespace curfew::interpret {
namespace {

class TableConditions {
 public:
  explicit TableConditions(const module::Tables& tables) : t_(tables) {}

  [[nodiscard]] Truth Condition(const module::Request& request, std::uint32_t entry) const {
    return Evaluate(t_, request.facts(), t_.entries[entry].condition);
  }
  [[nodiscard]] Truth Within(const module::Request& request, std::uint32_t entry) const {
    return Evaluate(t_, request.facts(), t_.entries[entry].within);
  }
  [[nodiscard]] Truth When(const module::Request& request, module::ClassIndex index) const {
    return Evaluate(t_, request.facts(), t_.classes[index].when);
  }

  // It would have to look at them to know.
  [[nodiscard]] static bool NoCheckHolds(const module::Request&, std::size_t) { return false; }
  [[nodiscard]] static bool NoDenialHolds(const module::Request&, std::size_t) { return false; }

 private:
  const module::Tables& t_;
};

}  // namespace

void FillIn(const module::Tables& tables, const module::Range& defaults, module::Request& request) {
  using Kind = module::DefaultRecord::Kind;
  for (const module::DefaultRecord& record :
       tables.defaults.subspan(defaults.first, defaults.count)) {
    if (!request.is_known(record.slot) || request.is_present(record.slot)) continue;
    if (record.when_slot != module::NoIndex) {
      const auto slot = static_cast<schema::Slot>(record.when_slot);
      if (!request.is_present(slot) || request.value(slot).integer != record.when_value) continue;
    }
    switch (record.kind) {
      case Kind::Integer:
        request.SetInteger(record.slot, record.integer);
        break;
      case Kind::Text:
        request.SetText(record.slot, tables.TextOf(record.text));
        break;
      case Kind::NoItems:
        request.Set(record.slot, module::Value::OfItems({}));
        break;
    }
  }
}

void Interpreter::Decide(const module::Request& request, module::Verdict& verdict) const {
  Decision(module_, TableConditions(module_.tables()), use_index_, request, verdict).Run(request);
}

}  // namespace curfew::interpret
