// What a PID 1 does before it is useful: modules, mounts, the root file system, the port. Only ever
// run inside a virtual machine.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "runtime/guest/protocol.h"

#include <string>

namespace curfew::guest {

// Where the agent keeps the control groups of its commands.
inline constexpr char GuestCgroupRoot[] = "/sys/fs/cgroup/tasks";

// From the first instruction to a mounted root: read-only image below, memory above. Returns the
// control port.
Result<OwnedFd> BootMachine();

// Makes this guest a particular one: clock, entropy, name, disks, network.
Outcome ApplyConfiguration(const Configure& configuration);

// "what: why" for errno `error`.
Failure ErrnoFailure(int error, const std::string& what);

// Ends the machine. Does not return.
[[noreturn]] void PowerOffMachine();

}  // namespace curfew::guest
