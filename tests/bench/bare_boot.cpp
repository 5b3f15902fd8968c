// bare_boot IMAGE_FOLDER MEMORY_MIB kvm|emulated: boots the image by QEMU's plain command line, as
// a person would type it (paths, root's own rights, no sandbox, no control groups, no encrypted
// disk), runs /bin/true inside through the same agent, powers off, and prints one line of JSON. The
// floor that Curfew's own way is compared with.
#include "runtime/guest/session.h"
#include "runtime/machine/capabilities.h"

#include <chrono>
#include <poll.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

using namespace curfew;

namespace {

constexpr std::int64_t PatienceMs = 180'000;
constexpr int AgentFd = 3;

std::int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::vector<std::string> PlainCommand(const std::string& image, const std::string& memory_mib,
                                      bool kvm, std::uint32_t tsc_khz) {
  return {"qemu-system-x86_64",
          "-M",
          "microvm,x-option-roms=off,rtc=on,pit=off,pic=off",
          "-accel",
          kvm ? "kvm" : "tcg,tb-size=64",
          "-cpu",
          kvm ? "host" : "max",
          "-m",
          memory_mib + "M",
          "-nodefaults",
          "-no-user-config",
          "-display",
          "none",
          "-no-reboot",
          "-kernel",
          image + "/vmlinux",
          "-initrd",
          image + "/initrd.cpio",
          "-append",
          fmt::format("quiet reboot=t panic=-1 tsc_early_khz={} cryptomgr.notests=1", tsc_khz),
          "-device",
          "virtio-serial-device",
          "-chardev",
          fmt::format("socket,id=agent,fd={}", AgentFd),
          "-device",
          "virtserialport,chardev=agent,name=agent.0",
          "-device",
          "virtio-rng-device",
          "-drive",
          fmt::format("file={}/root.erofs,format=raw,if=none,id=root,readonly=on", image),
          "-device",
          "virtio-blk-device,drive=root,serial=root"};
}

pid_t Spawn(const std::vector<std::string>& command, int agent) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(agent, AgentFd);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  return child;
}

// Asks the agent for one command and waits for its end. Empty, or what went wrong.
std::string RunTrue(guest::Session& session) {
  std::string trouble;
  bool over = false;
  const auto stop = [&](std::string why) {
    trouble = std::move(why);
    over = true;
  };
  const auto run = [&] {
    guest::Prepare prepare;
    prepare.arguments = {"/bin/true"};
    prepare.directory = "/";
    prepare.user = "agent";
    auto id = std::make_shared<std::uint32_t>(0);
    *id = session.AskProgram(prepare, [&, id, stop](Result<guest::Prepared> prepared) {
      if (!prepared) return stop(prepared.error().message);
      guest::ExecEvents events;
      events.on_exit = [stop](Result<guest::Exited> exited) {
        stop(exited ? "" : exited.error().message);
      };
      session.Run(*id, std::move(events));
    });
  };
  session.AwaitUp(PatienceMs, [&](Result<guest::Up> up) {
    if (!up) return stop(up.error().message);
    guest::Configure configure;
    configure.host_name = "bare";
    configure.wall_ns = 1'800'000'000'000'000'000;
    configure.entropy = Bytes(64, 7);
    configure.environment = {"PATH=/usr/bin:/bin"};
    session.SendConfigure(configure, [&](Outcome configured) {
      if (!configured) return stop(configured.error().message);
      run();
    });
  });
  const std::int64_t end = NowMs() + PatienceMs;
  while (!over && NowMs() < end) {
    pollfd watched{session.fd(), session.events(), 0};
    poll(&watched, 1, 1000);
    session.OnReady();
    session.OnTime();
    if (session.failure()) return session.failure()->message;
  }
  return over ? trouble : "no answer in time";
}

int Measure(const std::string& image, const std::string& memory_mib, bool kvm) {
  const auto tsc_khz = machine::MeasureTscKhz();
  if (!tsc_khz) {
    fmt::print(stderr, "bare_boot: {}\n", tsc_khz.error().message);
    return 1;
  }
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return 1;
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = Spawn(PlainCommand(image, memory_mib, kvm, *tsc_khz), pair[1]);
  close(pair[1]);
  std::string trouble;
  double first_command_ms = 0;
  {
    guest::Session session(OwnedFd{pair[0]}, NowMs);
    trouble = RunTrue(session);
    first_command_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    if (trouble.empty()) {
      session.SendPowerOff();
      session.OnReady();
    } else {
      kill(child, SIGKILL);
    }
    // The channel stays open until the machine has ended.
    rusage usage{};
    int status = 0;
    wait4(child, &status, 0, &usage);
    const auto ms = [](timeval time) {
      return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
    };
    if (trouble.empty()) {
      fmt::print(R"({{"first_command_ms": {:.1f}, "cpu_ms": {:.1f}}})"
                 "\n",
                 first_command_ms, ms(usage.ru_utime) + ms(usage.ru_stime));
      return 0;
    }
  }
  fmt::print(stderr, "bare_boot: {}\n", trouble);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string isolation = argc == 4 ? argv[3] : "";
  if (isolation != "kvm" && isolation != "emulated") {
    fmt::print(stderr, "usage: bare_boot IMAGE_FOLDER MEMORY_MIB kvm|emulated\n");
    return 1;
  }
  return Measure(argv[1], argv[2], isolation == "kvm");
}
