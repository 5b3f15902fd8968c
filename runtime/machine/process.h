// A child process as a machine's driver sees it: its identity, its CPU time, its end.
#pragma once

#include "compiler/base/result.h"
#include "runtime/machine/machine.h"

#include <cstdint>

namespace curfew::machine {

// By /proc/PID/stat. NotFound when there is no such process.
Result<ProcessIdentity> IdentityOf(pid_t pid);

// Of all its threads, also of those that ended. 0 when it is gone.
std::uint64_t ProcessCpuNs(pid_t pid);

}  // namespace curfew::machine
