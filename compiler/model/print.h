// A PolicyModel as text: for goldens and `--dump=model`, and, one expression or rule at a time, the
// canonical text from which ids and the set's digest are made. Deterministic; no spans, no ids of
// nodes.
#pragma once

#include "compiler/model/policy_model.h"

#include <string>

namespace curfew::model {

std::string Print(const PolicyModel& model);

std::string Print(const PolicyModel& model, ExprId expression);
std::string Print(const PolicyModel& model, const Constant& constant);
std::string Print(const PolicyModel& model, const Type& type);

}  // namespace curfew::model
