// What it costs to find the rules of a decision, in the words of a policy.
#pragma once

#include "compiler/module/policy_module.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::inspect {

// Rules that are looked at only where the fact leads to them.
struct FoundRules {
  std::string fact;  // "egress.host"
  std::size_t rules = 0;
};

// Of one action, in the class where most rules are looked at for every request; built-in rules are
// counted too.
struct SearchCost {
  std::string action;
  std::string class_name;
  std::vector<FoundRules> found;
  std::size_t always = 0;
  // Of `create` alone: the conditions of classes, by which one is chosen before.
  std::vector<FoundRules> classes_found;
  std::size_t classes_always = 0;
};

// In the order of the actions; none where the set has no class.
std::vector<SearchCost> SearchCostsOf(const module::PolicyModule& policy);
// A line each.
std::string RenderText(const std::vector<SearchCost>& costs);

}  // namespace curfew::inspect
