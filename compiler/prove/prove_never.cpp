#include "compiler/prove/prove_never.h"

#include "compiler/prove/search.h"

#include <vector>

namespace curfew::prove {
namespace {

struct Asked {
  Answer answer;
  std::uint64_t steps;
};

// Whether it is settled: nothing more need be asked.
bool Settle(Finding finding, Asked& asked) {
  switch (finding.kind) {
    case Finding::Kind::None:
      return false;
    case Finding::Kind::Found:
      asked.answer.outcome = Outcome::Refuted;
      asked.answer.text = std::move(finding.request);
      asked.answer.allows = std::move(finding.decided.allows);
      return true;
    case Finding::Kind::Unknown:
      if (asked.answer.outcome == Outcome::Proven) asked.answer.text = std::move(finding.why);
      asked.answer.outcome = Outcome::Undecided;
      return asked.steps == 0;
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

}  // namespace

Answer ProveNever(const interpret::Interpreter& engine, module::RuleIndex never, Solver& solver,
                  std::uint64_t steps) {
  const module::PolicyModule& policy = engine.module();
  const module::Tables& t = policy.tables();
  Asked asked{{never, Outcome::Proven, {}, {}}, steps};
  for (const schema::ActionInfo& info : schema::Actions()) {
    const module::PolicyModule* const sides[] = {&policy};
    const FactSpace space(info.action, sides);
    Search search(space, {&engine}, solver);
    for (module::ClassIndex i = 0; i <= t.classes.size(); ++i) {
      const bool is_gone = i == t.classes.size();
      if (is_gone && info.action == schema::Action::Create) continue;
      const module::ClassIndex of_class = is_gone ? module::NoClass : i;
      for (const std::uint32_t entry : search.DenialsOf(0, of_class, never)) {
        Wanted wanted;
        wanted.never = never;
        wanted.claims.push_back(
            Claim::Of(Claim::Kind::IsTrue, search.ViewOf(0, of_class), t.entries[entry].condition));
        if (Settle(search.Find(of_class, wanted, asked.steps), asked)) return asked.answer;
      }
    }
  }
  return asked.answer;
}

}  // namespace curfew::prove
