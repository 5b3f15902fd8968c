// Conditions that hold for every request, or for none, where that needs no prover: literals, an
// attribute against itself, and what comparisons of one attribute with constants leave of its
// values. Two attributes are never set against each other.
#pragma once

#include "compiler/model/policy_model.h"

namespace curfew::lint {

enum class Truth : std::uint8_t { Never, Always, Open };

Truth TruthOf(const model::PolicyModel& model, model::ExprId condition);

// The expressions that are no part of another: the conditions of the set.
std::vector<model::ExprId> Conditions(const model::PolicyModel& model);

}  // namespace curfew::lint
