#include "compiler/testing/why.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace curfew::testing {
namespace {

class Lines {
 public:
  explicit Lines(const module::PolicyModule& policy) : policy_(policy) {}

  void Add(const explain::Cause& cause, std::string_view word) {
    Put(fmt::format("{} {}", word, policy_.rule(cause.rule).id));
    AddClauses(cause.clauses, "  ");
  }
  void Add(const explain::Lack& lack) {
    Put(fmt::format("denied by {}", policy_.rule(lack.denial).id));
    for (const explain::Near& near : lack.nearest) {
      Put(fmt::format("  {} would allow it, but", policy_.rule(near.allow).id));
      AddClauses(near.failing, "    ");
    }
  }
  std::vector<std::string> Take() && { return std::move(lines_); }

 private:
  void Put(std::string line) {
    if (lines_.size() < WhyLinesMax) lines_.push_back(std::move(line));
  }
  void AddClauses(const std::vector<explain::Clause>& clauses, std::string_view indent) {
    for (const explain::Clause& clause : clauses) {
      const std::string_view truth = clause.truth.is_true()    ? "holds"
                                     : clause.truth.is_false() ? "fails"
                                                               : "is not known";
      Put(fmt::format("{}{} {}: {}", indent, clause.text, truth, fmt::join(clause.seen, "; ")));
    }
  }

  const module::PolicyModule& policy_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> WhyOf(const module::PolicyModule& policy, const explain::Story& story,
                               bool allowed) {
  Lines lines(policy);
  if (allowed) {
    for (const explain::Cause& cause : story.allows) lines.Add(cause, "allowed by");
  } else {
    for (const explain::Cause& cause : story.denials) lines.Add(cause, "denied by");
    for (const explain::Lack& lack : story.lacks) lines.Add(lack);
  }
  return std::move(lines).Take();
}

}  // namespace curfew::testing
