// Conditions that hold for every request, or for none, where that needs no prover: literals, an
// attribute against itself, and what comparisons of one attribute with constants leave of its
// values, within what every request keeps to (schema/axioms.h). Two attributes are never set
// against each other.
#pragma once

#include "compiler/model/policy_model.h"

#include <vector>

namespace curfew::lint {

enum class Truth : std::uint8_t { Never, Always, Open };

Truth TruthOf(const model::PolicyModel& model, model::ExprId condition);

// Whether a request can be of the class: that all conditions of its chain hold at once.
bool MayBeChosen(const model::PolicyModel& model, const model::Class& of);

// The expressions that are no part of another: the conditions of the set.
std::vector<model::ExprId> Conditions(const model::PolicyModel& model);

}  // namespace curfew::lint
