// The agent as an ordinary process on a socket, in a PID namespace of its own. Needs root and a
// cgroup2 mount; says so where there is none.
#include "runtime/guest/session.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sched.h>
#include <sstream>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace curfew::guest {
namespace {

namespace fs = std::filesystem;

std::string CgroupMount() {
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string source;
    std::string path;
    std::string type;
    fields >> source >> path >> type;
    if (type == "cgroup2") return path;
  }
  return {};
}

bool CanRun() {
  if (geteuid() == 0 && !CgroupMount().empty()) return true;
  WARN("not run: needs root and a cgroup2 mount");
  return false;
}

std::int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

[[noreturn]] void BecomeAgent(int socket_fd, const std::string& cgroup) {
  if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) _exit(90);
  const pid_t inner = fork();
  if (inner != 0) {
    close(socket_fd);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    int status = 0;
    waitpid(inner, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 91);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("proc", "/proc", "proc", 0, nullptr) != 0) {
    _exit(92);
  }
  fcntl(socket_fd, F_SETFD, 0);
  const std::string number = std::to_string(socket_fd);
  execl(CURFEW_GUEST_PROGRAM, "curfew-guest", "--serve-fd", number.c_str(), "--cgroup",
        cgroup.c_str(), nullptr);
  _exit(93);
}

struct Agent {
  std::string cgroup = CgroupMount() + "/curfew-agent-test-" + std::to_string(getpid());
  pid_t outer = 0;
  std::unique_ptr<Session> session;
  fs::path folder;

  Agent() {
    REQUIRE(mkdir(cgroup.c_str(), 0755) == 0);
    char name[] = "/tmp/curfew-agent-XXXXXX";
    folder = mkdtemp(name);
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    outer = fork();
    if (outer == 0) {
      close(ends[0]);
      BecomeAgent(ends[1], cgroup);
    }
    close(ends[1]);
    session = std::make_unique<Session>(OwnedFd(ends[0]), NowMs);
    bool ready = false;
    session->AwaitUp(60'000, [&](Result<Up> up) {
      if (!up) return;
      Configure configure;
      configure.environment = {"PATH=/usr/bin:/bin", "COLOUR=blue"};
      session->SendConfigure(configure, [&](Outcome done) { ready = done.has_value(); });
    });
    REQUIRE(Drive([&] { return ready; }));
  }
  ~Agent() {
    session.reset();
    waitpid(outer, nullptr, 0);
    for (const auto& group : fs::directory_iterator(cgroup)) {
      if (group.is_directory()) rmdir(group.path().c_str());
    }
    for (int tries = 0; rmdir(cgroup.c_str()) != 0 && tries < 200; ++tries) usleep(5000);
    fs::remove_all(folder);
  }
  bool Drive(const std::function<bool()>& done) {
    const std::int64_t end = NowMs() + 60'000;
    while (!done()) {
      pollfd watched{session->fd(), session->events(), 0};
      if (session->failure() || NowMs() > end) return false;
      poll(&watched, 1, 1000);
      session->OnReady();
    }
    return true;
  }
  struct Ran {
    Result<Exited> exited = Failure(FailureCode::Undecided, "it did not end");
    std::string program;
    std::string out;
  };
  Ran Run(Prepare prepare) {
    Ran ran;
    bool over = false;
    std::uint32_t id = 0;
    if (prepare.directory.empty()) prepare.directory = folder;
    if (prepare.user.empty()) prepare.user = "root";
    id = session->AskProgram(prepare, [&](Result<Prepared> prepared) {
      if (!prepared) {
        ran.exited = prepared.error();
        over = true;
        return;
      }
      ran.program = prepared->program;
      session->Run(id, {{},
                        [&](Stream stream, ByteView data) {
                          ran.out += AsText(data);
                          session->Consumed(id, stream, data.size());
                        },
                        {},
                        [&](Result<Exited> exited) {
                          ran.exited = std::move(exited);
                          over = true;
                        }});
    });
    Drive([&] { return over; });
    return ran;
  }
  Ran Shell(const std::string& script) {
    Prepare prepare;
    prepare.arguments = {"sh", "-c", script};
    return Run(prepare);
  }
  Processes EndAll(std::int64_t grace_ms) {
    std::optional<Processes> ended;
    session->EndAll(grace_ms, [&](Result<Processes> all) { ended = *std::move(all); });
    REQUIRE(Drive([&] { return ended.has_value(); }));
    return *ended;
  }
};

TEST_CASE("the agent runs commands as they were asked for") {
  if (!CanRun()) return;
  Agent agent;
  Agent::Ran ran = agent.Shell("echo $COLOUR $HOME $0; pwd; exit 7");
  REQUIRE(ran.exited);
  CHECK(ran.exited->value == 7);
  CHECK(ran.out == "blue /root sh\n" + agent.folder.string() + "\n");

  Prepare as_nobody;
  as_nobody.arguments = {"id", "-u", "-n"};
  as_nobody.user = "nobody";
  as_nobody.directory = "/";
  as_nobody.environment = {"COLOUR=red"};
  CHECK(agent.Run(as_nobody).out == "nobody\n");
  as_nobody.arguments = {"sh", "-c", "echo $COLOUR; grep -c . /etc/shadow 2>/dev/null"};
  CHECK(agent.Run(as_nobody).out == "red\n");

  // The agent looks with the user's rights.
  fs::permissions(agent.folder, fs::perms::owner_all);
  std::ofstream(agent.folder / "tool") << "#!/bin/sh\necho tool $0\n";
  fs::permissions(agent.folder / "tool", fs::perms::all);
  as_nobody.arguments = {agent.folder / "tool"};
  CHECK(agent.Run(as_nobody).exited.error().code == FailureCode::PermissionDenied);
  as_nobody.user = "root";
  CHECK(agent.Run(as_nobody).out.rfind("tool /dev/fd/", 0) == 0);
}

TEST_CASE("links lead to the file that is judged, and the file that is judged is what runs") {
  if (!CanRun()) return;
  Agent agent;
  fs::create_symlink("/bin/echo", agent.folder / "innocent");
  Prepare prepare;
  prepare.arguments = {"./innocent", "hello"};
  Agent::Ran ran = agent.Run(prepare);
  CHECK(ran.program == fs::canonical("/bin/echo"));
  CHECK(ran.out == "hello\n");

  // Swapped between the question and the start: the judged file runs.
  fs::copy_file("/bin/true", agent.folder / "tool");
  prepare.arguments = {"./tool"};
  prepare.directory = agent.folder;
  prepare.user = "root";
  std::optional<Exited> exited;
  std::uint32_t id = 0;
  id = agent.session->AskProgram(prepare, [&](Result<Prepared> prepared) {
    REQUIRE(prepared);
    fs::copy_file("/bin/false", agent.folder / "other");
    fs::rename(agent.folder / "other", agent.folder / "tool");
    agent.session->Run(id, {{}, {}, {}, [&](Result<Exited> e) { exited = *e; }});
  });
  REQUIRE(agent.Drive([&] { return exited.has_value(); }));
  CHECK(exited->value == 0);

  prepare.arguments = {"/proc/self/exe"};
  CHECK(agent.Run(prepare).exited.error().code == FailureCode::PermissionDenied);
}

TEST_CASE("a daemon that outlives its command and ignores SIGTERM is listed and killed") {
  if (!CanRun()) return;
  Agent agent;
  const Agent::Ran ran = agent.Shell(
      "(setsid sh -c \"trap '' TERM; echo ready > r; while :; do sleep 0.1; done\" &); "
      "sleep 1000 & while ! test -e r; do sleep 0.05; done; echo left");
  CHECK(ran.out == "left\n");
  std::optional<Processes> running;
  agent.session->AskProcesses([&](Result<Processes> all) { running = *std::move(all); });
  REQUIRE(agent.Drive([&] { return running.has_value(); }));
  std::size_t descended = 0;
  for (const Process& process : running->processes) descended += process.exec == 2;
  CHECK(descended >= 2);
  const Processes ended = agent.EndAll(500);
  CHECK(ended.end.remaining == 0);
  bool termed = false;
  bool killed = false;
  for (const Process& process : ended.processes) {
    const bool sleeper = process.argv == std::string("sleep\0001000", 10);
    if (sleeper && process.end == ProcessEnd::Ended) termed = true;
    if (process.argv.find("trap") != std::string::npos && process.end == ProcessEnd::Killed) {
      killed = true;
    }
  }
  CHECK(termed);
  CHECK(killed);
  CHECK(agent.EndAll(0).end.seen == 0);
}

TEST_CASE("a command's time limit takes its descendants along") {
  if (!CanRun()) return;
  Agent agent;
  Prepare prepare;
  prepare.arguments = {"sh", "-c", "trap '' TERM; setsid sleep 1000 & sleep 1000; sleep 1000"};
  prepare.timeout_ms = 300;
  const Agent::Ran ran = agent.Run(prepare);
  REQUIRE(ran.exited);
  CHECK(ran.exited->how == ExitKind::TimedOut);
  // Killed is not yet dead; it takes a moment.
  std::uint32_t left = 1;
  const std::int64_t end = NowMs() + 30'000;
  while (left > 0 && NowMs() < end) {
    bool answered = false;
    agent.session->AskProcesses([&](Result<Processes> all) {
      left = all ? all->end.seen : left;
      answered = true;
    });
    REQUIRE(agent.Drive([&] { return answered; }));
  }
  CHECK(left == 0);
}

TEST_CASE("a question that makes no sense is refused, and the agent goes on") {
  if (!CanRun()) return;
  Agent agent;
  Prepare empty;
  CHECK(agent.Run(empty).exited.error().code == FailureCode::Usage);
  Prepare nul;
  nul.arguments = {std::string("sh\0x", 4)};
  CHECK(agent.Run(nul).exited.error().code == FailureCode::Usage);
  Prepare nowhere;
  nowhere.arguments = {"true"};
  nowhere.directory = "/nonexistent";
  const auto not_there = agent.Run(nowhere);
  REQUIRE_FALSE(not_there.exited);
  CHECK(not_there.exited.error().message.find("directory") != std::string::npos);
  std::optional<FailureCode> code;
  agent.session->SendSignal(999, SIGTERM, [&](Outcome done) { code = done.error().code; });
  REQUIRE(agent.Drive([&] { return code.has_value(); }));
  CHECK(code == FailureCode::NotFound);
  std::optional<FailureCode> twice;
  agent.session->SendConfigure({}, [&](Outcome done) { twice = done.error().code; });
  REQUIRE(agent.Drive([&] { return twice.has_value(); }));
  CHECK(twice == FailureCode::Usage);
  CHECK(agent.Shell("echo on").out == "on\n");
}

}  // namespace
}  // namespace curfew::guest
