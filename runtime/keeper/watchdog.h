// The backstop of a deadline: a process of its own that kills the machine when it should long be
// gone, whatever has become of the keeper (stopped, stuck, starved). It shares nothing with the
// keeper's loop or memory: it holds the machine's pidfd and an armed timer of the kernel, waits for
// whichever comes first, and ends. A pidfd names one process for ever, so that no pid can be
// mistaken.
//
// Not for a keeper that dies: the kernel then kills the machine (machine/qemu/launch.h), and with
// it the watchdog ends.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "runtime/host/linux/event_loop.h"
#include "runtime/host/processes.h"

#include <memory>
#include <string>

namespace curfew::keeper {

class Watchdog final : public host::EventSource {
 public:
  // `program` is a curfew-keeper. `machine` is a pidfd, which outlives this. `kill_at_ms` is
  // monotonic.
  static Result<std::unique_ptr<Watchdog>> Start(const std::string& program,
                                                 const std::string& sandbox_id, int machine,
                                                 std::int64_t kill_at_ms);
  ~Watchdog() override;  // kills and waits

  // At another time: the timer is shared, and the other process need not hear of it.
  Outcome KillAt(std::int64_t kill_at_ms);

  [[nodiscard]] host::ProcessIdentity identity() const { return identity_; }
  // It is gone while the machine is not: nobody would end that one on time.
  [[nodiscard]] bool is_lost() const { return lost_; }

  [[nodiscard]] std::vector<Watch> Watches() const override;
  void OnReady() override;

 private:
  Watchdog(int machine, OwnedFd timer, pid_t pid, OwnedFd pidfd);

  int machine_;
  OwnedFd timer_;
  host::ProcessIdentity identity_;
  OwnedFd pidfd_;
  bool seen_ = false;
  bool lost_ = false;
};

// The other process's whole life: descriptor 3 is the machine, 4 the timer. Its exit status.
int RunWatchdog();
inline constexpr const char* WatchdogWord = "watchdog";  // the program's first argument

}  // namespace curfew::keeper
