// What this host can do for a machine, found by trying and not by asking. For `curfew doctor`, and
// for the check of a plan against the host.
#pragma once

#include "compiler/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace curfew::machine {

// One thing that was looked at.
struct Finding {
  std::string name;  // "kvm"
  bool good = false;
  bool needed = true;  // false: the host can do without, with a loss that `detail` names
  std::string detail;  // what was seen
  std::string remedy;  // empty when good
};

struct Capabilities {
  bool qemu = false;  // present, of a version that is known to work, with the microvm machine
  std::string qemu_path;
  std::string qemu_version;
  bool kvm = false;      // really runs a Linux guest, as far as a probe of 30 ms can tell
  bool cgroups = false;  // cpu, memory and pids can be limited
  bool sandbox = false;  // we are root and can give QEMU a uid and namespaces of its own
  std::uint32_t tsc_khz = 0;
  std::vector<Finding> findings;

  // A machine can be made with emulation, or with hardware.
  [[nodiscard]] bool CanEmulate() const { return qemu && sandbox && tsc_khz != 0; }
  [[nodiscard]] bool CanKvm() const { return qemu && sandbox && kvm; }
};

// Looks at everything; takes about 100 ms, most of it in `qemu --version` and its machine list.
Capabilities Probe();

// Whether /dev/kvm runs real mode, paging, and a loop at hardware's speed. Unsupported, with the
// reason, when not. About 30 ms.
Outcome ProbeKvm();

// The host's time stamp counter against its monotonic clock. About 20 ms.
Result<std::uint32_t> MeasureTscKhz();

}  // namespace curfew::machine
