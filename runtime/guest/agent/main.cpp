// curfew-guest: the only program of the initrd, PID 1 inside a machine. With `--serve-fd N` it is
// the same agent on a socket, in a PID namespace of a test.
#include "runtime/guest/agent/agent.h"
#include "runtime/guest/agent/denials.h"
#include "runtime/guest/agent/machine_boot.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace {

using namespace curfew::guest;

std::uint64_t BootUs() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

Up MakeUp(std::uint64_t started_us) {
  utsname system{};
  uname(&system);
  return Up{ProtocolVersion, system.release, started_us, BootUs() - started_us};
}

int ServeMachine() {
  const std::uint64_t started_us = BootUs();
  auto port = BootMachine();
  if (!port) {
    // An exit of PID 1 is a panic, which the host sees as a crash, with this on the console.
    std::fprintf(stderr, "curfew-guest: cannot boot: %s\n", port.error().message.c_str());
    return 1;
  }
  Agent agent(
      std::move(*port), GuestCgroupRoot,
      {.configure = ApplyConfiguration,
       .note_denial = [](const std::string& line) { return AppendDenial(DenialsFile, line); },
       .power_off = PowerOffMachine},
      true);
  agent.Run(MakeUp(started_us));
  std::fprintf(stderr, "curfew-guest: the host's frames make no sense\n");
  return 1;
}

int ServeSocket(int fd, const char* cgroup_root) {
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  Agent agent(curfew::OwnedFd(fd), cgroup_root, {}, false);
  return agent.Run(MakeUp(BootUs())) ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (getpid() != 1) {
    std::fprintf(stderr, "curfew-guest: it ends every process it sees, so it runs as PID 1 only\n");
    return 1;
  }
  if (count == 5 && std::strcmp(arguments[1], "--serve-fd") == 0 &&
      std::strcmp(arguments[3], "--cgroup") == 0) {
    return ServeSocket(std::atoi(arguments[2]), arguments[4]);
  }
  return ServeMachine();
}
