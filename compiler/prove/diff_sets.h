// Two policy sets: what one allows and the other denies, class by class. What is written alike in
// both is put aside first, so that the work grows with what changed.
#pragma once

#include "compiler/interpret/interpreter.h"
#include "compiler/prove/differ.h"
#include "compiler/prove/solver.h"

namespace curfew::prove {

SetDifference Diff(const interpret::Interpreter& before, const interpret::Interpreter& after,
                   Solver& solver, std::uint64_t steps);

}  // namespace curfew::prove
