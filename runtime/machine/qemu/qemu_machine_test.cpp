// The driver against programs that are not the QEMU they should be. Needs root, as the driver does.
#include "runtime/machine/qemu/qemu_machine.h"

#include "runtime/machine/capabilities.h"
#include "runtime/machine/cgroups.h"
#include "runtime/machine/process.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::machine::qemu {
namespace {

namespace fs = std::filesystem;

std::int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool IsRoot() {
  if (geteuid() == 0) return true;
  WARN("not run: needs root");
  return false;
}

Spec Example() {
  Spec spec;
  spec.name = "sb-1";
  for (OwnedFd* file : {&spec.kernel, &spec.initrd, &spec.root}) {
    *file = OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  spec.isolation = Isolation::Emulated;
  spec.tsc_khz = 2'000'000;
  spec.uid = spec.gid = 64'998;
  return spec;
}

// A shell script in the place of QEMU.
struct Script {
  fs::path path;
  explicit Script(const std::string& body) {
    char name[] = "/tmp/curfew-qemu-XXXXXX";
    path = fs::path(mkdtemp(name)) / "qemu";
    fs::permissions(path.parent_path(), fs::perms(0755));
    std::ofstream(path) << "#!/bin/bash\n" << body << "\n";
    fs::permissions(path, fs::perms(0755));
  }
  ~Script() { fs::remove_all(path.parent_path()); }
};

bool Drive(Machine& machine, const std::function<bool()>& done) {
  const std::int64_t end = NowMs() + 60'000;
  while (!done()) {
    if (NowMs() > end) return false;
    std::vector<pollfd> watched;
    for (const Watch& watch : machine.Watches()) watched.push_back({watch.fd, watch.events, 0});
    poll(watched.data(), watched.size(), 50);
    machine.OnReady();
    machine.OnTime();
  }
  return true;
}

TEST_CASE("no QEMU says which package brings it") {
  if (!IsRoot()) return;
  const auto machine = Start(Example(), "/nonexistent/qemu", NowMs);
  REQUIRE_FALSE(machine);
  CHECK(machine.error().code == FailureCode::Unsupported);
  CHECK(machine.error().message.find("qemu-system-x86") != std::string::npos);
}

TEST_CASE("a machine is not made of nonsense") {
  const auto refused = [](const std::function<void(Spec&)>& change) {
    Spec spec = Example();
    change(spec);
    const auto machine = Start(std::move(spec), "/nonexistent/qemu", NowMs);
    REQUIRE_FALSE(machine);
    CHECK(machine.error().code == FailureCode::Usage);
  };
  refused([](Spec& spec) { spec.name = "a,b"; });
  refused([](Spec& spec) { spec.name = "-x"; });
  refused([](Spec& spec) { spec.name = ""; });
  refused([](Spec& spec) { spec.uid = 0; });
  refused([](Spec& spec) { spec.vcpus = 0; });
  refused([](Spec& spec) { spec.memory_bytes = 1 << 20; });
  refused([](Spec& spec) { spec.tsc_khz = 0; });
  refused([](Spec& spec) { spec.kernel.Reset(); });
  refused([](Spec& spec) {
    spec.disks.push_back({OwnedFd(open("/dev/null", O_RDWR)), Secret("zz"), 1, "work"});
  });
  refused([](Spec& spec) {
    spec.disks.push_back({OwnedFd(open("/dev/null", O_RDWR)), Secret("00"), 1, "a,b"});
  });
}

TEST_CASE("a QEMU that dies at start is a failure with its last words") {
  if (!IsRoot()) return;
  const Script script("echo 'qemu: something is wrong' >&2; exit 4");
  auto machine = Start(Example(), script.path, NowMs);
  REQUIRE(machine);
  REQUIRE(Drive(**machine, [&] { return (*machine)->exit().has_value(); }));
  CHECK((*machine)->exit()->reason == ExitReason::Failed);
  CHECK((*machine)->exit()->status == 4);
  REQUIRE((*machine)->failure());
  CHECK((*machine)->failure()->message.find("something is wrong") != std::string::npos);
  CHECK((*machine)->Watches().empty());
}

TEST_CASE("a QEMU that never speaks is killed when its time is over") {
  if (!IsRoot()) return;
  const Script script("exec sleep 1000");
  std::int64_t now = 0;
  auto machine = Start(Example(), script.path, [&now] { return now; });
  REQUIRE(machine);
  const pid_t pid = (*machine)->identity().pid;
  CHECK(IdentityOf(pid)->start_ticks == (*machine)->identity().start_ticks);
  CHECK((*machine)->deadline_ms() == StartTimeoutMs);
  now = StartTimeoutMs;
  REQUIRE(Drive(**machine, [&] { return (*machine)->exit().has_value(); }));
  CHECK((*machine)->failure()->code == FailureCode::TimedOut);
  CHECK((*machine)->exit()->reason == ExitReason::Killed);
  CHECK_FALSE(IdentityOf(pid));
}

TEST_CASE("a QEMU that talks nonsense is killed") {
  if (!IsRoot()) return;
  const Script script("echo nonsense >&3; exec sleep 1000");
  auto machine = Start(Example(), script.path, NowMs);
  REQUIRE(machine);
  REQUIRE(Drive(**machine, [&] { return (*machine)->exit().has_value(); }));
  CHECK((*machine)->failure()->code == FailureCode::Malformed);
}

TEST_CASE("a QEMU that does not quit is killed after the patience") {
  if (!IsRoot()) return;
  const Script script("trap '' TERM; while :; do sleep 0.1; done");
  auto machine = Start(Example(), script.path, NowMs);
  REQUIRE(machine);
  (*machine)->Stop(100);
  (*machine)->Stop(100'000);  // does not prolong
  REQUIRE(Drive(**machine, [&] { return (*machine)->exit().has_value(); }));
  CHECK((*machine)->exit()->reason == ExitReason::Killed);
  CHECK_FALSE((*machine)->failure());
}

TEST_CASE("the process has no rights, no descriptors but its own, and dies with its owner") {
  if (!IsRoot()) return;
  const Script script(
      "for n in {0..300}; do [ -e /proc/$$/fd/$n ] && echo -n \"$n \" >&2; done; grep -E "
      "'^(Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs|Uid|Groups)' "
      "/proc/self/status | tr '\\t\\n' ' ,' >&2; ulimit -c >&2; exit 1");
  auto machine = Start(Example(), script.path, NowMs);
  REQUIRE(machine);
  REQUIRE(Drive(**machine, [&] { return (*machine)->exit().has_value(); }));
  const std::string& words = (*machine)->exit()->message;
  INFO(words);
  CHECK(words.find("0 1 2 3 4 5 6 7 8 255 ") != std::string::npos);  // 255 is bash's script
  CHECK(words.find("CapPrm: 0000000000000000,CapEff: 0000000000000000,CapBnd: 0000000000000000,"
                   "CapAmb: 0000000000000000,NoNewPrivs: 1,") != std::string::npos);
  CHECK(words.find("Uid: 64998 64998 64998 64998") != std::string::npos);
  CHECK(words.find("Groups:  ,") != std::string::npos);
}

TEST_CASE("the right to KVM is the machine's alone") {
  if (!IsRoot() || !fs::exists("/dev/kvm")) return;
  struct stat before{};
  REQUIRE(stat("/dev/kvm", &before) == 0);
  const Script script(
      "exec 9<>/dev/kvm && echo opened >&2; [ -e /tmp/kvm ] && echo left >&2; exit 1");
  Spec spec = Example();
  spec.isolation = Isolation::Kvm;
  auto machine = Start(std::move(spec), script.path, NowMs);
  REQUIRE(machine);
  REQUIRE(Drive(**machine, [&] { return (*machine)->exit().has_value(); }));
  CHECK((*machine)->exit()->message == "opened");
  struct stat after{};
  REQUIRE(stat("/dev/kvm", &after) == 0);
  CHECK(after.st_mode == before.st_mode);
  CHECK(after.st_uid == before.st_uid);
}

TEST_CASE("a machine's owner that is killed takes the machine along") {
  if (!IsRoot()) return;
  const Script script("exec sleep 1000");
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const pid_t owner = fork();
  if (owner == 0) {
    auto machine = Start(Example(), script.path, NowMs);
    const pid_t pid = machine ? (*machine)->identity().pid : 0;
    if (write(ends[1], &pid, sizeof(pid)) != sizeof(pid)) _exit(1);
    for (;;) pause();
  }
  pid_t pid = 0;
  REQUIRE(read(ends[0], &pid, sizeof(pid)) == sizeof(pid));
  REQUIRE(IdentityOf(pid));
  kill(owner, SIGKILL);
  bool gone = false;
  for (int tries = 0; tries < 1000 && !gone; ++tries) {
    std::ifstream stat(fmt::format("/proc/{}/stat", pid));
    std::string text;
    std::getline(stat, text);
    gone = text.empty() || text.find(") Z ") != std::string::npos;
    usleep(5000);
  }
  CHECK(gone);
}

TEST_CASE("control groups hold, limit, account and go") {
  if (!IsRoot()) return;
  const std::string name = fmt::format("test-{}", getpid());
  auto groups = Cgroups::Create(name, {64 << 20, 32});
  REQUIRE(groups);
  CHECK_FALSE(Cgroups::Create(name, {64 << 20, 32}));  // the name is taken, and stays whole
  CHECK(Cgroups::Find(name).directories() == groups->directories());
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  for (const std::string& procs : groups->ProcsFiles()) {
    std::ofstream(procs) << child << std::flush;
  }
  CHECK(groups->Members().value() == std::vector<int>{child});
  CHECK(groups->LimitCpu(1));
  CHECK(groups->CpuNs());
  CHECK(groups->Remove());  // ends the member first
  CHECK(groups->Remove());
  CHECK(Cgroups::Find(name).directories().empty());
  kill(child, SIGKILL);
}

TEST_CASE("the clock of the processor is found to the same within a thousandth") {
  const auto one = MeasureTscKhz();
  const auto two = MeasureTscKhz();
  REQUIRE(one);
  REQUIRE(two);
  const double ratio = static_cast<double>(*one) / static_cast<double>(*two);
  CHECK(ratio > 0.999);
  CHECK(ratio < 1.001);
}

TEST_CASE("the probe of KVM ends, with an answer that has a reason") {
  const std::int64_t start = NowMs();
  const Outcome usable = ProbeKvm();
  CHECK(NowMs() - start < 10'000);
  if (!usable) CHECK_FALSE(usable.error().message.empty());
}

TEST_CASE("every finding that is not good has a remedy") {
  if (!IsRoot()) return;
  const Capabilities found = Probe();
  CHECK(found.findings.size() == 5);
  for (const Finding& finding : found.findings) {
    INFO(finding.name << ": " << finding.detail);
    CHECK_FALSE(finding.detail.empty());
    CHECK(finding.good == finding.remedy.empty());
  }
}

}  // namespace
}  // namespace curfew::machine::qemu
