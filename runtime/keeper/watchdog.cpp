#include "runtime/keeper/watchdog.h"

#include "runtime/host/linux/spawn.h"
#include "runtime/machine/process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace curfew::keeper {
namespace {

constexpr int MachineFd = 3;
constexpr int TimerFd = 4;

bool Kill(int pidfd) { return syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0) == 0; }

bool IsReady(int fd) {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&one, 1, 0) == 1;
}

Outcome ArmTimer(int timer, std::int64_t at_ms) {
  itimerspec when{};
  const std::int64_t ms = std::max<std::int64_t>(at_ms, 1);  // zero would disarm it
  when.it_value.tv_sec = ms / 1000;
  when.it_value.tv_nsec = ms % 1000 * 1'000'000;
  if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, nullptr) != 0) {
    return SystemFailure(errno, "arm the watchdog's timer");
  }
  return Ok();
}

}  // namespace

Result<std::unique_ptr<Watchdog>> Watchdog::Start(const std::string& program,
                                                  const std::string& sandbox_id, int machine,
                                                  std::int64_t kill_at_ms) {
  // On the clock that goes on while the host sleeps, as host::Clock's monotonic time.
  OwnedFd timer(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC));
  if (!timer.is_open()) return SystemFailure(errno, "make the watchdog's timer");
  CURFEW_TRY_VOID(ArmTimer(timer.get(), kill_at_ms));
  // Its arguments name the sandbox, so that a search finds it without any record of it.
  CURFEW_TRY(host::Detached started, host::SpawnDetached(program, {WatchdogWord, sandbox_id},
                                                         {machine, timer.get()}, STDERR_FILENO));
  std::unique_ptr<Watchdog> watchdog(
      new Watchdog(machine, std::move(timer), started.pid, std::move(started.pidfd)));
  CURFEW_TRY(const machine::ProcessIdentity identity, machine::IdentityOf(started.pid));
  watchdog->identity_.start_ticks = identity.start_ticks;
  return watchdog;
}

Outcome Watchdog::KillAt(std::int64_t kill_at_ms) { return ArmTimer(timer_.get(), kill_at_ms); }

Watchdog::Watchdog(int machine, OwnedFd timer, pid_t pid, OwnedFd pidfd)
    : machine_(machine),
      timer_(std::move(timer)),
      identity_{.pid = pid, .start_ticks = 0},
      pidfd_(std::move(pidfd)) {}

Watchdog::~Watchdog() {
  Kill(pidfd_.get());
  host::WaitFor(identity_.pid);
}

std::vector<host::EventSource::Watch> Watchdog::Watches() const {
  if (seen_) return {};
  return {{.fd = pidfd_.get(), .events = POLLIN}};
}

void Watchdog::OnReady() {
  if (seen_ || !IsReady(pidfd_.get())) return;
  seen_ = true;
  lost_ = !IsReady(machine_);  // where the machine has ended, so should it
}

int RunWatchdog() {
  prctl(PR_SET_NAME, "curfew-watchdog");
  pollfd waited[] = {{.fd = MachineFd, .events = POLLIN, .revents = 0},
                     {.fd = TimerFd, .events = POLLIN, .revents = 0}};
  while (poll(waited, 2, -1) < 0) {
    if (errno != EINTR) break;  // then nobody would keep the time: now is better than never
  }
  if ((waited[0].revents & POLLIN) != 0) return 0;
  return Kill(MachineFd) ? 0 : 1;
}

}  // namespace curfew::keeper
