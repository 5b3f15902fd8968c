// The moment at which a test wants this process dead: the checkpoint that the variable
// CURFEW_KILL_AT names (with "#N", the N-th time it is passed). Compiled in by the option
// CURFEW_KILL_POINTS alone; a release has none.
#pragma once

#include "runtime/execute/executor.h"

#include <string>

namespace curfew::keeper {

// Never empty. `prefix` stands before each name: "sweep." for those of a sweep.
execute::Checkpoint KillPoint(const std::string& prefix = {});

}  // namespace curfew::keeper
