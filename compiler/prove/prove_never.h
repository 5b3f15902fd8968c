// One `never`: whether the set without its nevers lets anything out for which it holds.
#pragma once

#include "compiler/interpret/interpreter.h"
#include "compiler/prove/prover.h"
#include "compiler/prove/solver.h"

#include <cstdint>

namespace curfew::prove {

Answer ProveNever(const interpret::Interpreter& engine, module::RuleIndex never, Solver& solver,
                  std::uint64_t steps);

}  // namespace curfew::prove
