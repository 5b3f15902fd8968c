#include "compiler/prove/diff_sets.h"

#include "compiler/prove/one_way.h"

#include <algorithm>
#include <set>
#include <string>

namespace curfew::prove {
namespace {

// The classes of either set by name, and "" for one that neither has.
std::set<std::string> ClassNames(const module::PolicyModule& one,
                                 const module::PolicyModule& other) {
  std::set<std::string> names{""};
  for (const module::PolicyModule* policy : {&one, &other}) {
    for (module::ClassIndex i = 0; i < policy->class_count(); ++i) {
      names.emplace(policy->class_name(i));
    }
  }
  return names;
}

// Creates that both sets allow, and that get another plan or the plan of another class.
void ComparePlans(const interpret::Interpreter& before, const interpret::Interpreter& after,
                  Solver& solver, std::uint64_t steps, std::vector<PlanDifference>& plans) {
  const module::PolicyModule& old = before.module();
  const module::PolicyModule& now = after.module();
  OneWay creates(schema::Action::Create, before, after, solver);
  for (module::ClassIndex i = 0; i < old.class_count(); ++i) {
    const auto same_name = now.FindClass(old.class_name(i));
    for (module::ClassIndex other = 0; other < now.class_count(); ++other) {
      if (same_name == other && old.plan(i) == now.plan(other)) continue;
      // A class that is chosen as before takes no create from another one.
      const auto is_alike = [&](auto of_class) { return creates.IsChosenAlike(of_class); };
      if (same_name != other && (is_alike(other) || (same_name && is_alike(*same_name)))) continue;
      Direction example = creates.AllowedByBoth(i, other, steps);
      if (example.differs == Differs::No) continue;
      plans.push_back(
          {std::string(old.class_name(i)), std::string(now.class_name(other)), std::move(example)});
    }
  }
}

}  // namespace

SetDifference Diff(const interpret::Interpreter& before, const interpret::Interpreter& after,
                   Solver& solver, std::uint64_t steps) {
  SetDifference difference;
  const auto names = ClassNames(before.module(), after.module());
  for (const schema::ActionInfo& info : schema::Actions()) {
    OneWay tightens(info.action, before, after, solver);
    OneWay relaxes(info.action, after, before, solver);
    for (const std::string& name : names) {
      if (name.empty() && info.action == schema::Action::Create) continue;
      Difference one{info.action, name, tightens.Ask(name, steps), relaxes.Ask(name, steps)};
      if (one.tightens.differs == Differs::No && one.relaxes.differs == Differs::No) continue;
      difference.actions.push_back(std::move(one));
    }
  }
  ComparePlans(before, after, solver, steps, difference.plans);
  return difference;
}

}  // namespace curfew::prove
