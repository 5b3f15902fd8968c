// Who a statement names: a principal, `task.owner`, or `any`.
#pragma once

#include "compiler/check/context.h"
#include "compiler/model/policy_model.h"
#include "compiler/syntax/ast.h"

#include <optional>

namespace curfew::check {

// Nothing after a report.
std::optional<model::Audience> ReadAudience(Context& context, const syntax::Audience& audience);

}  // namespace curfew::check
