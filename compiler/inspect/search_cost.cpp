#include "compiler/inspect/search_cost.h"

#include "compiler/module/index_cost.h"

#include <utility>

#include <fmt/format.h>

namespace curfew::inspect {
namespace {

std::vector<FoundRules> FoundBy(const module::PolicyModule& policy, schema::Action action,
                                const std::vector<module::IndexUse>& uses) {
  const auto attributes = schema::AttributesOf(action);
  std::vector<FoundRules> found;
  for (const module::IndexUse& use : uses) {
    const std::string fact =
        use.slot < attributes.size()
            ? std::string(attributes[use.slot].path)
            : std::string(policy.declared()[use.slot - attributes.size()].path);
    found.push_back({fact, use.entries});
  }
  return found;
}

std::size_t LookedAt(const module::IndexCost& cost) { return cost.always.size() + cost.beside; }

std::string ListText(const std::vector<FoundRules>& found, std::size_t always) {
  std::string text;
  for (const FoundRules& by : found) text += fmt::format("{} by {}, ", by.rules, by.fact);
  return text + fmt::format("{} on every request", always);
}

}  // namespace

std::vector<SearchCost> SearchCostsOf(const module::PolicyModule& policy) {
  const module::Tables& tables = policy.tables();
  std::vector<SearchCost> costs;
  for (std::size_t i = 0; i < schema::ActionCount && !tables.classes.empty(); ++i) {
    const auto action = static_cast<schema::Action>(i);
    module::ClassIndex worst = 0;
    module::IndexCost most = module::CostIn(tables, worst, action);
    for (module::ClassIndex other = 1; other < tables.classes.size(); ++other) {
      module::IndexCost cost = module::CostIn(tables, other, action);
      if (LookedAt(cost) <= LookedAt(most)) continue;
      worst = other;
      most = std::move(cost);
    }
    SearchCost& cost = costs.emplace_back();
    cost.action = schema::WordOf(action);
    cost.class_name = policy.class_name(worst);
    cost.found = FoundBy(policy, action, most.found);
    cost.always = LookedAt(most);
    if (action != schema::Action::Create) continue;
    const module::IndexCost of_classes = module::CostOfClasses(tables);
    cost.classes_found = FoundBy(policy, action, of_classes.found);
    cost.classes_always = of_classes.always.size();
  }
  return costs;
}

std::string RenderText(const std::vector<SearchCost>& costs) {
  std::string text;
  for (const SearchCost& cost : costs) {
    text += fmt::format("  {:<9} in {}: rules {}", cost.action, cost.class_name,
                        ListText(cost.found, cost.always));
    if (cost.classes_always > 0 || !cost.classes_found.empty()) {
      text += fmt::format("; classes {}", ListText(cost.classes_found, cost.classes_always));
    }
    text += "\n";
  }
  return text;
}

}  // namespace curfew::inspect
