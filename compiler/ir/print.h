// Decision code as text, for tests and `--dump=ir`. Deterministic: equal tables print equally.
#pragma once

#include "compiler/ir/decision_ir.h"

#include <string>

namespace curfew::ir {

std::string Print(const DecisionIr& ir);
// One condition, as in `and(has(egress.method), …)`; slots are named for `action`.
std::string Print(const module::Tables& tables, NodeId node, schema::Action action);

}  // namespace curfew::ir
