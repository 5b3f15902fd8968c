// `every sandbox`: what may stand in it. It only bounds, denies and takes away (language.md section
// 5.3).
#pragma once

#include "compiler/check/context.h"
#include "compiler/syntax/ast.h"

namespace curfew::check {

// Whether the statement could let something in or out, or relax what silence means.
[[nodiscard]] bool AllowsSomething(const syntax::Statement& statement);

void ReportInFloor(Context& context, const syntax::Statement& statement);

}  // namespace curfew::check
