#include "compiler/lint/unfound_rules.h"

#include "compiler/module/index_cost.h"

#include <utility>

namespace curfew::lint {

std::vector<UnfoundRules> FindUnfoundRules(const module::Tables& code) {
  std::vector<UnfoundRules> all;
  for (module::ClassIndex of_class = 0; of_class < code.classes.size(); ++of_class) {
    for (std::size_t i = 0; i < schema::ActionCount; ++i) {
      const auto action = static_cast<schema::Action>(i);
      UnfoundRules found{code.NameOf(code.classes[of_class].name), action, {}};
      for (const std::uint32_t entry : module::CostIn(code, of_class, action).always) {
        const module::RuleRecord& rule = code.rules[code.entries[entry].rule];
        // What Curfew says itself has no place in a file.
        if (rule.file.size > 0) found.ids.push_back(code.NameOf(rule.id));
      }
      if (found.ids.size() > UnfoundRulesMax) all.push_back(std::move(found));
    }
  }
  return all;
}

}  // namespace curfew::lint
