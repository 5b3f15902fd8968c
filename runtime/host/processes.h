// Processes of the host, by an identity that a reused pid does not share.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace curfew::host {

// Means something in one boot only (Clock::BootId).
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat
  friend auto operator<=>(const ProcessIdentity&, const ProcessIdentity&) = default;
};

// Start times are in hundredths of a second since the boot, cut off (CLOCK_BOOTTIME, as
// Clock::MonotonicNowMs).
inline constexpr std::int64_t TickMs = 10;

// What /proc/PID/stat says of a process.
struct ProcessStat {
  ProcessIdentity identity;
  pid_t parent = 0;
  char state = '?';  // Z is dead and not yet waited for
  std::string name;
};
// Nothing when `text` is not a line of /proc/PID/stat. A name may hold spaces and parentheses.
std::optional<ProcessStat> ParseProcessStat(std::string_view text);

class Processes {
 public:
  virtual ~Processes() = default;
  [[nodiscard]] virtual pid_t Self() const = 0;
  // NotFound when there is no such process.
  virtual Result<ProcessStat> StatOf(pid_t pid) = 0;
  // A pidfd of exactly this process; NotFound when it is gone or its pid belongs to another.
  virtual Result<OwnedFd> Open(const ProcessIdentity& identity) = 0;
  // Through a pidfd. False when it was gone already.
  virtual Result<bool> Signal(const ProcessIdentity& identity, int signal) = 0;
  // False when it is gone, a zombie, or its pid belongs to another.
  virtual Result<bool> IsAlive(const ProcessIdentity& identity) = 0;
};

}  // namespace curfew::host
