// Every process of the guest, as /proc shows it.
#pragma once

#include "runtime/guest/protocol.h"

#include <cstdint>
#include <vector>

namespace curfew::guest {

// All of them but the agent itself, the kernel's own threads and the dead. At most `count_max` are
// described; `seen` counts all. Ports cost a look at every descriptor: only on request.
std::vector<Process> ReadProcesses(std::size_t count_max, bool with_ports, std::uint32_t& seen);

// Whether any such process is left: the cheap form of the above.
std::uint32_t CountProcesses();

}  // namespace curfew::guest
