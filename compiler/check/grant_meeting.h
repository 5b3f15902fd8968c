// Whether two allows have any request in common. The answer `true` is also given where nothing says
// otherwise: a condition, a principal's groups. What shares nothing for sure grants nothing along a
// chain.
#pragma once

#include "compiler/model/policy_model.h"

#include <optional>
#include <vector>

namespace curfew::check {

// Names and addresses that both cover.
bool PlacesMeet(const model::EgressTarget& a, const model::EgressTarget& b);
bool PortsMeet(const std::vector<model::PortRange>& a, const std::vector<model::PortRange>& b);
// Of two allows.
bool RulesMeet(const model::EgressRule& a, const model::EgressRule& b);

}  // namespace curfew::check
