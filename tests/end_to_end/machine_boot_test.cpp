// The image, the disk, the driver and the agent together, on a real machine. One boot serves most
// of what is looked at.
#include "tests/end_to_end/guest_rig.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::tests {
namespace {

using guest::ExitKind;
using guest::ProcessEnd;

bool Booted() {
  static const std::string missing = GuestRig::Missing();
  if (!missing.empty()) WARN("not run: " << missing);
  return missing.empty();
}

// `sh -c`, as the agent's user.
std::vector<std::string> Shell(const std::string& script) { return {"sh", "-c", script}; }

void CheckStatus(const Ran& ran, std::uint32_t status) {
  INFO(ran.error);
  REQUIRE(ran.exited);
  CHECK(ran.exited->how == ExitKind::Status);
  CHECK(ran.exited->value == status);
}

void CheckCommands(GuestRig& rig) {
  const Ran hello = rig.Run(Shell("echo out; echo error >&2; exit 3"));
  CheckStatus(hello, 3);
  CHECK(hello.out == "out\n");
  CHECK(hello.error == "error\n");
  CHECK(hello.prepared.program == "/usr/bin/dash");

  const Ran script = rig.Run({"python3", "-"}, "import os; print(os.getuid(), os.getcwd(), 6 * 7)");
  CheckStatus(script, 0);
  CHECK(script.out == "1000 /work 42\n");

  CHECK(rig.Run(Shell("kill -9 $$")).exited->how == ExitKind::Signalled);
  CHECK(rig.Run({"no-such-program"}).exited.error().code == FailureCode::NotFound);
  CHECK(rig.Run({"/etc/passwd"}).exited.error().code == FailureCode::PermissionDenied);
  CHECK(rig.Run({"sh"}, "", 0, "nobody-such").exited.error().code == FailureCode::NotFound);
  CHECK(rig.Run({"/proc/self/exe"}).exited.error().code == FailureCode::PermissionDenied);

  // A script is judged, and started, as itself.
  const Ran pip = rig.Run({"pip", "--version"});
  CheckStatus(pip, 0);
  CHECK(pip.prepared.program == "/usr/bin/pip");
  CHECK(pip.out.rfind("pip ", 0) == 0);
}

void CheckTimeLimit(GuestRig& rig) {
  const Ran late = rig.Run(Shell("setsid sleep 1000 & trap '' TERM; sleep 1000"), "", 500);
  REQUIRE(late.exited);
  CHECK(late.exited->how == ExitKind::TimedOut);
  CHECK(rig.Run(Shell("pgrep -c sleep")).out == "0\n");
}

// Much more than all buffers together, both ways, in order.
void CheckStreams(GuestRig& rig) {
  const Ran loud = rig.Run(Shell("head -c 8000000 /dev/zero | tr '\\0' x; echo end >&2"));
  CheckStatus(loud, 0);
  CHECK(loud.out.size() == 8'000'000);
  CHECK(loud.error == "end\n");
  std::string input;
  for (int i = 0; input.size() < 2'000'000; ++i) input += fmt::format("{}\n", i);
  const Ran echoed = rig.Run({"cat"}, input);
  CheckStatus(echoed, 0);
  CHECK(echoed.out == input);
}

// A task that nobody listens to stops, and holds up nobody else.
void CheckBackPressure(GuestRig& rig) {
  std::size_t held = 0;
  bool over = false;
  std::uint32_t id = 0;
  guest::Prepare prepare;
  prepare.arguments = Shell("exec head -c 1000000000 /dev/zero");
  prepare.directory = "/";
  prepare.user = "agent";
  id = rig.session().AskProgram(prepare, [&](Result<guest::Prepared>) {
    guest::ExecEvents events;
    events.on_output = [&](guest::Stream, ByteView data) { held += data.size(); };
    events.on_exit = [&](Result<guest::Exited>) { over = true; };
    rig.session().Run(id, std::move(events));
  });
  REQUIRE(rig.Drive([&] { return held == guest::CreditBytes; }));
  CheckStatus(rig.Run({"true"}), 0);
  CHECK(held == guest::CreditBytes);
  CHECK_FALSE(over);
  bool signalled = false;
  rig.session().SendSignal(id, SIGKILL, [&](Outcome done) { signalled = done.has_value(); });
  REQUIRE(rig.Drive([&] { return signalled; }));
  // What it had written before is still owed.
  rig.session().Consumed(id, guest::Stream::Out, held);
  REQUIRE(rig.Drive([&] { return over; }));
}

void CheckExport(GuestRig& rig) {
  CheckStatus(rig.Run(Shell("mkdir -p out/deep && cd out && printf hello > a && head -c 3000000 "
                            "/dev/zero > deep/big && ln -s /etc/passwd link && mkfifo pipe && "
                            "ln -s /etc folder && touch ../beside")),
              0);
  std::optional<guest::Files> files;
  rig.session().ListFiles({"/work/out/**", "/work/out/a", "/nowhere/**"},
                          [&](Result<guest::Files> listed) { files = std::move(listed).value(); });
  REQUIRE(rig.Drive([&] { return files.has_value(); }));
  std::vector<std::string> names;
  for (const guest::File& file : files->files) {
    names.push_back(fmt::format("{} {} {}", file.path, static_cast<int>(file.type), file.bytes));
  }
  CHECK(names == std::vector<std::string>{"/work/out/a 0 5", "/work/out/deep/big 0 3000000",
                                          "/work/out/folder 1 0", "/work/out/link 1 0",
                                          "/work/out/pipe 2 0"});
  CHECK(rig.Fetch(files->files[0]) == "hello");
  CHECK(rig.Fetch(files->files[1]) == std::string(3'000'000, '\0'));
  CHECK(rig.Fetch(files->files[3]).find("failed") == 0);
  CHECK(rig.Fetch(files->files[4]).find("failed") == 0);
  CheckStatus(rig.Run(Shell("printf world > out/a")), 0);
  CHECK(rig.Fetch(files->files[0]).find("changed") != std::string::npos);
  guest::File traversal = files->files[0];
  traversal.path = "/work/out/folder/passwd";
  CHECK(rig.Fetch(traversal).find("failed") == 0);
}

void CheckIdentityFile(GuestRig& rig) {
  guest::WriteFile file{"/run/curfew/identity.json", 0400, false, Bytes{'{', '}'}};
  bool written = false;
  rig.session().Write(file, [&](Outcome done) { written = done.has_value(); });
  REQUIRE(rig.Drive([&] { return written; }));
  CHECK(rig.Run(Shell("cat /run/curfew/identity.json; stat -c ' %a %U' /run/curfew/identity.json"))
            .out == "{} 400 agent\n");
}

void CheckSurroundings(GuestRig& rig) {
  CHECK(rig.Run(Shell("hostname; date +%Y; stat -fc %T /work; id -un; ls /sys/class/net")).out ==
        fmt::format("rig-{}\n2027\next2/ext3\nagent\nlo\n", getpid()));
  CHECK(rig.Run(Shell("touch /work/x /tmp/x && echo yes")).out == "yes\n");
  CHECK(rig.Run({"id", "-u"}, "", 0, "root").out == "0\n");
  // No way to more rights, and none to the agent.
  CHECK(rig.Run(Shell("grep NoNewPrivs /proc/self/status")).out == "NoNewPrivs:\t1\n");
  CHECK(rig.Run(Shell("kill -9 1 2>/dev/null || echo no")).out == "no\n");
}

guest::Processes EndAll(GuestRig& rig, std::int64_t grace_ms) {
  std::optional<guest::Processes> ended;
  rig.session().EndAll(grace_ms,
                       [&](Result<guest::Processes> all) { ended = std::move(all).value(); });
  REQUIRE(rig.Drive([&] { return ended.has_value(); }));
  return *ended;
}

// The server, the daemon that ignores SIGTERM, and the one that does not.
void CheckEnding(GuestRig& rig) {
  const Ran left = rig.Run(
      Shell("python3 -m http.server 8080 >/dev/null 2>&1 & "
            "(setsid sh -c \"trap '' TERM; sleep 77777 & wait; while :; do sleep 1; done\" &) ; "
            "while ! grep -q :1F90 /proc/net/tcp; do sleep 0.1; done"));
  CheckStatus(left, 0);
  std::optional<guest::Processes> running;
  rig.session().AskProcesses(
      [&](Result<guest::Processes> all) { running = std::move(all).value(); });
  REQUIRE(rig.Drive([&] { return running.has_value(); }));
  const auto server = std::find_if(running->processes.begin(), running->processes.end(),
                                   [](const guest::Process& process) {
                                     return process.argv.find("http.server") != std::string::npos;
                                   });
  REQUIRE(server != running->processes.end());
  CHECK(server->uid == 1000);
  CHECK(server->exec != 0);
  REQUIRE(server->ports.size() == 1);
  CHECK(server->ports[0].port == 8080);
  CHECK(server->ports[0].any_address);

  const guest::Processes ended = EndAll(rig, 1000);
  CHECK(ended.end.remaining == 0);
  CHECK(ended.end.seen >= 3);
  std::set<ProcessEnd> of_server;
  std::set<ProcessEnd> of_daemon;
  for (const guest::Process& process : ended.processes) {
    if (process.argv.find("http.server") != std::string::npos) of_server.insert(process.end);
    if (process.argv.find("trap ''") != std::string::npos) of_daemon.insert(process.end);
  }
  CHECK(of_server == std::set<ProcessEnd>{ProcessEnd::Ended});
  CHECK(of_daemon == std::set<ProcessEnd>{ProcessEnd::Killed});
  CHECK(EndAll(rig, 0).end.seen == 0);
}

void CheckForkBomb(GuestRig& rig) {
  const Ran bomb =
      rig.Run({"python3", "-c",
               "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
               "if os.fork() == 0:\n  time.sleep(1)\n  while True:\n    try: os.fork()\n    except "
               "OSError: pass"});
  // The parent has gone by itself, or for want of memory.
  REQUIRE(bomb.exited);
  rig.Drive([] { return false; }, 5000);
  const guest::Processes ended = EndAll(rig, 0);
  CHECK(ended.end.remaining == 0);
  CHECK(ended.end.seen > 1);
}

TEST_CASE("a machine boots, works, exports, ends everything and powers off") {
  if (!Booted()) return;
  const std::int64_t start = GuestRig::NowMs();
  GuestRig rig;
  std::cout << "ready after " << GuestRig::NowMs() - start << " ms\n";
  CheckSurroundings(rig);
  CheckIdentityFile(rig);
  CheckCommands(rig);
  CheckTimeLimit(rig);
  CheckStreams(rig);
  CheckBackPressure(rig);
  CheckExport(rig);
  CheckEnding(rig);
  CheckForkBomb(rig);
  const std::int64_t off = GuestRig::NowMs();
  rig.session().SendPowerOff();
  REQUIRE(rig.Drive([&] { return rig.vm().exit().has_value(); }));
  CHECK(rig.vm().exit()->reason == machine::ExitReason::PoweredOff);
  CHECK(rig.vm().exit()->cpu_ns > 0);
  std::cout << "off after " << GuestRig::NowMs() - off << " ms\n";
}

TEST_CASE("a guest whose kernel panics is a crash with its console") {
  if (!Booted()) return;
  GuestRig rig;
  bool lost = false;
  guest::Prepare prepare;
  prepare.arguments = Shell("echo c > /proc/sysrq-trigger");
  prepare.directory = "/";
  prepare.user = "root";
  std::uint32_t id = 0;
  id = rig.session().AskProgram(prepare, [&](Result<guest::Prepared>) {
    rig.session().Run(id, {{}, {}, {}, [&](Result<guest::Exited> exited) {
                             lost = !exited && exited.error().code == FailureCode::PeerGone;
                           }});
  });
  REQUIRE(rig.Drive([&] { return rig.vm().exit().has_value(); }));
  CHECK(rig.vm().exit()->reason == machine::ExitReason::Crashed);
  INFO(rig.vm().exit()->message);
  CHECK(rig.vm().exit()->message.find("panic") != std::string::npos);
  rig.Drive([&] { return lost; });
  CHECK(lost);
}

TEST_CASE("quit, and SIGKILL, leave nothing but the control groups") {
  if (!Booted()) return;
  std::string name;
  {
    GuestRig rig;
    const pid_t pid = rig.vm().identity().pid;
    std::ifstream status(fmt::format("/proc/{}/status", pid));
    const std::string text((std::istreambuf_iterator<char>(status)),
                           std::istreambuf_iterator<char>());
    CHECK(text.find("CapEff:\t0000000000000000") != std::string::npos);
    CHECK(text.find("CapBnd:\t0000000000000000") != std::string::npos);
    CHECK(text.find("NoNewPrivs:\t1") != std::string::npos);
    CHECK(text.find("Seccomp:\t2") != std::string::npos);
    CHECK(text.find("Uid:\t64999\t64999\t64999\t64999") != std::string::npos);
    CHECK(rig.cgroups().Members().value() == std::vector<int>{pid});
    CHECK(rig.cgroups().CpuNs().value() > 0);
    for (const char* space : {"net", "ipc", "uts", "mnt"}) {
      CHECK(std::filesystem::read_symlink(fmt::format("/proc/{}/ns/{}", pid, space)) !=
            std::filesystem::read_symlink(fmt::format("/proc/self/ns/{}", space)));
    }
    REQUIRE(rig.cgroups().LimitCpu(1));
    rig.vm().Stop();
    REQUIRE(rig.Drive([&] { return rig.vm().exit().has_value(); }));
    CHECK(rig.vm().exit()->reason == machine::ExitReason::Stopped);
    rig.Lose();
    CHECK_FALSE(std::filesystem::exists(fmt::format("/proc/{}", pid)));
    CHECK(rig.cgroups().Members().value().empty());
    REQUIRE(rig.cgroups().Remove());
    name = fmt::format("rig-{}", getpid());
  }
  CHECK(machine::Cgroups::Find(name).directories().empty());
  GuestRig rig;
  REQUIRE(kill(rig.vm().identity().pid, SIGKILL) == 0);
  REQUIRE(rig.Drive([&] { return rig.vm().exit().has_value(); }));
  CHECK(rig.vm().exit()->reason == machine::ExitReason::Killed);
}

}  // namespace
}  // namespace curfew::tests
