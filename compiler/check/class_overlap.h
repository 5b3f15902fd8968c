// Two classes that a request could both have. Decided where the conditions are plain (`and` of `==`
// and `in` on the task); whatever else can overlap is denied when it happens (`class.ambiguous`).
#pragma once

#include "compiler/check/context.h"

namespace curfew::check {

void CheckClassOverlap(Context& context);

}  // namespace curfew::check
