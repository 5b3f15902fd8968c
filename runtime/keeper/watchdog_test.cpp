#include "runtime/keeper/watchdog.h"

#include "runtime/host/linux/linux_host.h"

#include <csignal>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::keeper {
namespace {

constexpr const char* Sandbox = "cf-aaaabbbbcccc2345";

// A process in the machine's place: it ends only if somebody kills it.
class Machine {
 public:
  Machine() : pid_(fork()) {
    if (pid_ == 0) {
      for (;;) pause();
    }
    pidfd_ = OwnedFd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    REQUIRE(pidfd_.is_open());
  }
  ~Machine() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool EndsWithin(int ms) const {
    pollfd one{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    return poll(&one, 1, ms) == 1;
  }

 private:
  pid_t pid_;
  OwnedFd pidfd_;
};

std::unique_ptr<Watchdog> StartFor(const Machine& machine, std::int64_t kill_at_ms) {
  auto started = Watchdog::Start(CURFEW_KEEPER, Sandbox, machine.pidfd(), kill_at_ms);
  REQUIRE(started);
  return *std::move(started);
}

bool Waits(Watchdog& watchdog, int ms) {
  const auto watches = watchdog.Watches();
  if (watches.empty()) return false;
  pollfd one{.fd = watches[0].fd, .events = POLLIN, .revents = 0};
  const bool ended = poll(&one, 1, ms) == 1;
  watchdog.OnReady();
  return !ended;
}

TEST_CASE("A watchdog kills its machine at its time, with nobody's help") {
  const host::LinuxHost host;
  const Machine machine;
  const std::int64_t begin_ms = host.clock->MonotonicNowMs();
  const auto watchdog = StartFor(machine, begin_ms + 1'500);
  CHECK_FALSE(machine.EndsWithin(500));
  CHECK(machine.EndsWithin(60'000));
  CHECK(host.clock->MonotonicNowMs() >= begin_ms + 1'500);
  CHECK_FALSE(Waits(*watchdog, 60'000));
  CHECK_FALSE(watchdog->is_lost());
}

TEST_CASE("A time that is past already is now") {
  for (const std::int64_t past_ms : {std::int64_t{-5}, std::int64_t{0}, std::int64_t{1}}) {
    const Machine machine;
    const auto watchdog = StartFor(machine, past_ms);
    CHECK(machine.EndsWithin(60'000));
  }
}

TEST_CASE("A time that comes nearer holds for the watchdog that runs") {
  const host::LinuxHost host;
  const Machine machine;
  const auto watchdog = StartFor(machine, host.clock->MonotonicNowMs() + 600'000);
  CHECK_FALSE(machine.EndsWithin(300));
  REQUIRE(watchdog->KillAt(host.clock->MonotonicNowMs() + 100));
  CHECK(machine.EndsWithin(60'000));
}

TEST_CASE("A watchdog ends with its machine, and is known by its name and its start") {
  const host::LinuxHost host;
  const Machine machine;
  const auto watchdog = StartFor(machine, host.clock->MonotonicNowMs() + 600'000);
  const host::ProcessStat stat = *host.processes->StatOf(watchdog->identity().pid);
  CHECK(stat.identity == watchdog->identity());
  CHECK(Waits(*watchdog, 100));
  const std::string command =
      *host::ReadText(*host.files, fmt::format("/proc/{}/cmdline", watchdog->identity().pid), 4096);
  CHECK(command.find(Sandbox) != std::string::npos);
  // Three streams, the machine, the timer, and nothing of the keeper's.
  CHECK(host.files->List(fmt::format("/proc/{}/fd", watchdog->identity().pid))->size() == 5);
  CHECK(getsid(watchdog->identity().pid) == watchdog->identity().pid);
  kill(machine.pid(), SIGKILL);
  CHECK_FALSE(Waits(*watchdog, 60'000));
  CHECK_FALSE(watchdog->is_lost());
}

TEST_CASE("A watchdog that is gone before its machine is missed") {
  const host::LinuxHost host;
  const Machine machine;
  const auto watchdog = StartFor(machine, host.clock->MonotonicNowMs() + 600'000);
  REQUIRE(*host.processes->Signal(watchdog->identity(), SIGKILL));
  CHECK_FALSE(Waits(*watchdog, 60'000));
  CHECK(watchdog->is_lost());
}

TEST_CASE("A watchdog that cannot be started is a failure, and a given up one leaves nothing") {
  const host::LinuxHost host;
  const Machine machine;
  CHECK_FALSE(Watchdog::Start("/nowhere", Sandbox, machine.pidfd(), 1));
  auto watchdog = StartFor(machine, host.clock->MonotonicNowMs() + 600'000);
  const host::ProcessIdentity identity = watchdog->identity();
  watchdog.reset();
  CHECK(host.processes->StatOf(identity.pid).error().code == FailureCode::NotFound);
  CHECK_FALSE(machine.EndsWithin(0));
}

}  // namespace
}  // namespace curfew::keeper
