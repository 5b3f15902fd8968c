// A barrier with two unequal sides: many readers, who cross it before each decision and are to pay
// nothing for it, and one who swaps, who pays for all of them. Where the kernel can interrupt every
// thread of the process (membarrier(2)), a reader's side is an order to its compiler; elsewhere it
// is an instruction that costs some 20 cycles. readers.h is the one who needs it.
#pragma once

#include <cstdint>
#include <string_view>

namespace curfew::live {

enum class Barrier : std::uint8_t {
  Kernel,  // membarrier, private and expedited
  Fence    // every access in one order for all threads
};

// What this machine has. Tells the kernel that this process will ask for it.
Barrier BarrierHere();

// "membarrier" or "fence", for messages.
std::string_view NameOf(Barrier barrier);

// The side of who swaps: what another thread wrote before its side is seen from here on, or that
// thread sees what was written here. False where the kernel refuses, and then neither is known.
[[nodiscard]] bool Cross(Barrier barrier);

}  // namespace curfew::live
