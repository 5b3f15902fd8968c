#include "compiler/live/barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace curfew::live {
namespace {

long Membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

Barrier BarrierHere() {
  constexpr long kNeeded =
      MEMBARRIER_CMD_PRIVATE_EXPEDITED | MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
  const long known = Membarrier(MEMBARRIER_CMD_QUERY);
  if (known < 0 || (known & kNeeded) != kNeeded) return Barrier::Fence;
  if (Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0) return Barrier::Fence;
  // A process that lets no such call through says so now and not at the first swap.
  return Cross(Barrier::Kernel) ? Barrier::Kernel : Barrier::Fence;
}

std::string_view NameOf(Barrier barrier) {
  return barrier == Barrier::Kernel ? "membarrier" : "fence";
}

bool Cross(Barrier barrier) {
  return barrier == Barrier::Fence || Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

}  // namespace curfew::live
