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
  char state = '?';
  std::int64_t threads = 1;
  int exit_code = 0;  // as wait(2) has it; means something in a dead process alone
  std::string name;

  // Nothing of it runs or is held any more: at most its parent has not yet waited for it. A first
  // thread that ended alone also has the state Z, while others of its process go on.
  [[nodiscard]] bool is_dead() const { return (state == 'Z' || state == 'X') && threads <= 1; }
};
// Of a dead process, for a person: how it ended, and whose task it is to wait for it.
std::string DescribeDeath(const ProcessStat& stat);

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
  // False when it is gone, dead (see ProcessStat), or its pid belongs to another.
  virtual Result<bool> IsAlive(const ProcessIdentity& identity) = 0;
};

}  // namespace curfew::host
