// The control groups of one machine: cpu, cpuacct, memory, pids and freezer of version 1, or one
// group of version 2, whichever the host has. Their directories are all that a SIGKILL leaves
// behind, so they are named after the sandbox and can be removed by name.
#pragma once

#include "compiler/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace curfew::machine {

struct CgroupLimits {
  std::uint64_t memory_bytes = 0;  // of the process: the guest's RAM and QEMU's own
  std::uint32_t threads = 256;     // QEMU's pool has up to 64 for its disks
};

// Memory that a machine's process may use: the guest's RAM and what QEMU needs around it.
std::uint64_t MemoryLimitFor(std::uint64_t guest_bytes);

class Cgroups {
 public:
  // Makes `curfew/NAME` in every hierarchy that is there. `root` is for tests. A limit that reads
  // back differently is a Failure: a bound that does not hold is none.
  static Result<Cgroups> Create(const std::string& name, const CgroupLimits& limits,
                                const std::string& root = "/sys/fs/cgroup");
  // Those that exist under that name, for a sweep. Empty when none do.
  static Cgroups Find(const std::string& name, const std::string& root = "/sys/fs/cgroup");

  [[nodiscard]] const std::vector<std::string>& directories() const { return directories_; }
  // For machine::Spec.
  [[nodiscard]] std::vector<std::string> ProcsFiles() const;
  // At most `cpus` processors' time. To be set once the guest is up: booting under a quota takes
  // three times as long.
  Outcome LimitCpu(unsigned cpus) const;
  // All that its members have used, in nanoseconds.
  [[nodiscard]] Result<std::uint64_t> CpuNs() const;
  [[nodiscard]] Result<std::vector<int>> Members() const;
  // SIGKILL to every member until none is left, then removes the directories (tries again while
  // they are busy, for at most `patience_ms`). Fine when they are gone already.
  Outcome Remove(std::int64_t patience_ms = 2000) const;

 private:
  std::vector<std::string> directories_;
};

}  // namespace curfew::machine
