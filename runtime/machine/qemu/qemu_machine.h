// A machine as a QEMU process: `microvm`, talked to by descriptors only, without privileges.
#pragma once

#include "runtime/machine/machine.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace curfew::machine::qemu {

inline constexpr std::int64_t StartTimeoutMs = 20'000;

// Starts one. What can be seen at once is a Failure here: QEMU is absent, a cgroup cannot be
// joined, no descriptors are left. What shows later is in Machine::failure.
Result<std::unique_ptr<Machine>> Start(Spec spec, const std::string& qemu_path,
                                       std::function<std::int64_t()> monotonic_ms);

}  // namespace curfew::machine::qemu
