#include "runtime/machine/qemu/qemu_machine.h"

#include "compiler/base/text.h"
#include "runtime/machine/process.h"
#include "runtime/machine/qemu/command_line.h"
#include "runtime/machine/qemu/launch.h"
#include "runtime/machine/qemu/qmp.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::machine {

std::string_view NameOf(ExitReason reason) {
  switch (reason) {
    case ExitReason::PoweredOff:
      return "powered off";
    case ExitReason::Crashed:
      return "crashed";
    case ExitReason::Stopped:
      return "stopped";
    case ExitReason::Killed:
      return "killed";
    case ExitReason::Failed:
      return "failed";
  }
  CURFEW_UNREACHABLE("the switch names every reason");
}

namespace qemu {
namespace {

constexpr std::size_t TailBytes = 16 * 1024;

// The last bytes of a stream that nobody else reads.
class Tail {
 public:
  explicit Tail(OwnedFd source = {}) : source_(std::move(source)) {}
  [[nodiscard]] int fd() const { return source_.get(); }
  [[nodiscard]] bool is_open() const { return source_.is_open(); }
  [[nodiscard]] const std::string& text() const { return text_; }
  void Read() {
    char piece[4096];
    while (source_.is_open()) {
      const ssize_t got = read(source_.get(), piece, sizeof(piece));
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (got <= 0) return source_.Reset();
      text_.append(piece, static_cast<std::size_t>(got));
      if (text_.size() > TailBytes) text_.erase(0, text_.size() - TailBytes);
    }
  }

 private:
  OwnedFd source_;
  std::string text_;
};

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) lines.push_back(Printable(line));
    start = end + 1;
  }
  return lines;
}

// The last `lines_max` lines, made printable.
std::string LastLines(const std::string& text, std::size_t lines_max) {
  const std::vector<std::string> lines = LinesOf(text);
  const std::size_t first = lines.size() - std::min(lines.size(), lines_max);
  return fmt::format(
      "{}", fmt::join(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end(), "\n"));
}

// What a dead guest's console says in a few lines: why its kernel or agent gave up, if it says so,
// since the registers that follow tell nobody anything.
std::string GistOf(const std::string& console) {
  std::string gist;
  for (const std::string& line : LinesOf(console)) {
    for (const char* mark : {"Kernel panic", "Out of memory", "curfew-guest:"}) {
      if (line.find(mark) != std::string::npos) gist += (gist.empty() ? "" : "\n") + line;
    }
  }
  return gist.empty() ? LastLines(console, 10) : gist;
}

struct Ends {
  OwnedFd ours;  // non-blocking
  OwnedFd theirs;
};

Result<Ends> MakeChannel() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return SystemFailure(errno, "make a socket pair");
  }
  Ends channel{OwnedFd(ends[0]), OwnedFd(ends[1])};
  if (fcntl(channel.ours.get(), F_SETFL, O_NONBLOCK) != 0) {
    return SystemFailure(errno, "make a socket non-blocking");
  }
  return channel;
}

class QemuMachine final : public Machine {
 public:
  QemuMachine(Spec spec, std::function<std::int64_t()> monotonic_ms)
      : spec_(std::move(spec)), monotonic_ms_(std::move(monotonic_ms)) {}
  ~QemuMachine() override { Kill(); }

  Outcome Launch(const std::string& qemu_path) {
    CURFEW_TRY(Ends qmp, MakeChannel());
    CURFEW_TRY(Ends agent, MakeChannel());
    CURFEW_TRY(Ends console, MakeChannel());
    CURFEW_TRY(Ends errors, MakeChannel());
    // In the order of enum Descriptor.
    std::vector<int> descriptors = {qmp.theirs.get(),   agent.theirs.get(), console.theirs.get(),
                                    spec_.kernel.get(), spec_.initrd.get(), spec_.root.get()};
    if (spec_.nic) descriptors.push_back(spec_.nic->tap.get());
    CURFEW_TRY(identity_.pid, qemu::Launch({CommandLine(spec_, qemu_path), std::move(descriptors),
                                            errors.theirs.get(), spec_.cgroup_procs, spec_.uid,
                                            spec_.gid, spec_.isolation == Isolation::Kvm}));
    spec_.nic.reset();  // the tap is QEMU's now, and dies with it
    // Not reaped before we do it, so the pid is still this process's.
    pidfd_ = OwnedFd(static_cast<int>(syscall(SYS_pidfd_open, identity_.pid, 0)));
    if (!pidfd_.is_open()) {
      const int error = errno;
      kill(identity_.pid, SIGKILL);
      waitpid(identity_.pid, nullptr, 0);
      exit_ = Exit{};
      return SystemFailure(error, "open QEMU's process");
    }
    CURFEW_TRY(identity_, IdentityOf(identity_.pid));
    agent_ = std::move(agent.ours);
    console_ = Tail(std::move(console.ours));
    errors_ = Tail(std::move(errors.ours));
    qmp_.emplace(std::move(qmp.ours), [this](const QmpEvent& event) { OnEvent(event); });
    deadline_ms_ = monotonic_ms_() + StartTimeoutMs;
    AskToRun();
    return Ok();
  }

  std::vector<Watch> Watches() const override {
    std::vector<Watch> watches;
    if (exit_) return watches;
    watches.push_back({pidfd_.get(), POLLIN});
    if (!qmp_->ended()) watches.push_back({qmp_->fd(), POLLIN});
    for (const Tail* tail : {&console_, &errors_}) {
      if (tail->is_open()) watches.push_back({tail->fd(), POLLIN});
    }
    return watches;
  }

  void OnReady() override {
    if (exit_) return;
    console_.Read();
    errors_.Read();
    const Outcome heard = qmp_->OnReadable();
    if (!heard) Fail(heard.error());
    pollfd process{pidfd_.get(), POLLIN, 0};
    if (poll(&process, 1, 0) == 1) Reap();
  }

  std::optional<std::int64_t> deadline_ms() const override {
    if (exit_) return std::nullopt;
    return deadline_ms_;
  }

  void OnTime() override {
    if (exit_ || !deadline_ms_ || monotonic_ms_() < *deadline_ms_) return;
    deadline_ms_.reset();
    if (state_ == State::Starting) {
      Fail(Failure(FailureCode::TimedOut, "QEMU did not start within its time"));
    } else {
      SendKill();
    }
  }

  State state() const override { return state_; }
  const std::optional<Exit>& exit() const override { return exit_; }
  const std::optional<Failure>& failure() const override { return failure_; }
  ProcessIdentity identity() const override { return identity_; }
  int pidfd() const override { return pidfd_.get(); }
  std::uint64_t cpu_ns() const override {
    return exit_ ? exit_->cpu_ns : ProcessCpuNs(identity_.pid);
  }
  std::string console_tail() const override { return LastLines(console_.text(), 40); }
  OwnedFd TakeAgentChannel() override { return std::move(agent_); }

  void Stop(std::int64_t patience_ms) override {
    if (exit_ || state_ == State::Stopping) return;
    state_ = State::Stopping;
    deadline_ms_ = monotonic_ms_() + patience_ms;
    if (!qmp_->ended()) qmp_->Execute(R"({"execute":"quit"})", OwnedFd(), [](const Outcome&) {});
  }

  void Kill() override {
    if (exit_ || !pidfd_.is_open()) return;
    SendKill();
    Reap();
  }

 private:
  // The commands that make a machine of what has started, each after the one before succeeded.
  void AskToRun() {
    Ask(R"({"execute":"qmp_capabilities"})");
    for (std::size_t i = 0; i < spec_.disks.size(); ++i) AttachDisk(i);
    qmp_->Execute(R"({"execute":"cont"})", OwnedFd(), [this](const Outcome& done) {
      if (!done) return Fail(done.error());
      if (state_ != State::Starting) return;
      state_ = State::Running;
      deadline_ms_.reset();
    });
  }

  // Swaps the placeholder for the encrypted file. The key is QEMU's for these few commands only.
  void AttachDisk(std::size_t index) {
    Disk& disk = spec_.disks[index];
    const std::size_t set = index + 2;  // 1 is the root's
    std::string secret = fmt::format(
        R"({{"execute":"object-add","arguments":{{"qom-type":"secret","id":"key","data":"{}"}}}})",
        disk.key.Reveal());
    disk.key.Wipe();
    Ask(std::move(secret));
    Ask(fmt::format(R"({{"execute":"add-fd","arguments":{{"fdset-id":{}}}}})", set),
        std::move(disk.file));
    Ask(fmt::format(
        R"({{"execute":"blockdev-add","arguments":{{"driver":"luks","node-name":"volume{}",)"
        R"("key-secret":"key","file":{{"driver":"file","filename":"/dev/fdset/{}"}}}}}})",
        index, set));
    Ask(fmt::format(R"({{"execute":"qom-set","arguments":{{"path":"/machine/peripheral/{}",)"
                    R"("property":"drive","value":"volume{}"}}}})",
                    DiskDevice(index), index));
    Ask(fmt::format(R"({{"execute":"blockdev-del","arguments":{{"node-name":"{}"}}}})",
                    DiskPlaceholder(index)));
    Ask(R"({"execute":"object-del","arguments":{"id":"key"}})");
  }

  void Ask(std::string command, OwnedFd file = {}) {
    qmp_->Execute(std::move(command), std::move(file), [this](const Outcome& done) {
      if (!done) Fail(done.error());
    });
  }

  void OnEvent(const QmpEvent& event) {
    if (event.name == "SHUTDOWN") shutdown_reason_ = event.reason;
    // QEMU stops a guest that it cannot go on with, and waits.
    if (event.name == "STOP" && state_ == State::Running) {
      Fail(Failure(FailureCode::PeerGone, "QEMU stopped the guest after an internal error"));
    }
  }

  void Fail(Failure why) {
    if (failure_ || exit_) return;
    failure_ = std::move(why);
    state_ = State::Stopping;
    deadline_ms_.reset();
    SendKill();
  }

  void SendKill() { syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0); }

  // Waits for the end (which has come, or SIGKILL brings it) and says what it was.
  void Reap() {
    int status = 0;
    rusage usage{};
    pid_t reaped = 0;
    do {
      reaped = wait4(identity_.pid, &status, 0, &usage);
    } while (reaped < 0 && errno == EINTR);
    console_.Read();
    errors_.Read();
    static_cast<void>(qmp_->OnReadable());  // what it said last; a broken line changes nothing now
    Exit ended;
    ended.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    const auto ns = [](const timeval& t) {
      return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
             static_cast<std::uint64_t>(t.tv_usec) * 1'000;
    };
    ended.cpu_ns = ns(usage.ru_utime) + ns(usage.ru_stime);
    ended.reason = ReasonFor(status);
    if (ended.reason != ExitReason::PoweredOff && ended.reason != ExitReason::Stopped) {
      ended.message = LastWords();
      if (!failure_ && state_ != State::Stopping) {
        failure_ = Failure(FailureCode::PeerGone,
                           fmt::format("the machine {} ({} {}){}{}", NameOf(ended.reason),
                                       WIFSIGNALED(status) ? "signal" : "status", ended.status,
                                       ended.message.empty() ? "" : ": ", ended.message));
      }
    }
    exit_ = std::move(ended);
    state_ = State::Exited;
    spec_ = Spec{};
  }

  ExitReason ReasonFor(int status) const {
    if (shutdown_reason_ == "guest-shutdown") return ExitReason::PoweredOff;
    if (shutdown_reason_ == "guest-reset" || shutdown_reason_ == "guest-panic") {
      return ExitReason::Crashed;
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return ExitReason::Killed;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && state_ == State::Stopping) {
      return ExitReason::Stopped;
    }
    return ExitReason::Failed;
  }

  std::string LastWords() const {
    std::string words = LastLines(errors_.text(), 5);
    const std::string console = GistOf(console_.text());
    if (!words.empty() && !console.empty()) words += "\n";
    if (!console.empty()) words += "console:\n" + console;
    return words;
  }

  Spec spec_;
  std::function<std::int64_t()> monotonic_ms_;
  State state_ = State::Starting;
  std::optional<Exit> exit_;
  std::optional<Failure> failure_;
  ProcessIdentity identity_;
  OwnedFd pidfd_;
  OwnedFd agent_;
  Tail console_;
  Tail errors_;
  std::optional<Qmp> qmp_;
  std::string shutdown_reason_;
  std::optional<std::int64_t> deadline_ms_;
};

Outcome CheckSpec(const Spec& spec) {
  const auto wrong = [](const char* what) {
    return Failure(FailureCode::Usage, std::string("a machine cannot be made of this: ") + what);
  };
  const auto plain = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of(
                                "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == std::string::npos;
  };
  if (!plain(spec.name) || spec.name[0] == '-') return wrong("its name is not plain");
  if (!spec.kernel.is_open() || !spec.initrd.is_open() || !spec.root.is_open()) {
    return wrong("the kernel, the initrd or the root is not open");
  }
  if (spec.vcpus == 0 || spec.vcpus > 64) return wrong("it has 1 to 64 processors");
  if (spec.memory_bytes < 96ull << 20 || spec.memory_bytes % (1 << 20) != 0) {
    return wrong("its memory is at least 96 MiB, in whole MiB");
  }
  if (spec.isolation == Isolation::Emulated && spec.tsc_khz == 0)
    return wrong("tsc_khz is missing");
  if (spec.uid == 0 || spec.gid == 0) return wrong("it never runs as root");
  for (const Disk& disk : spec.disks) {
    if (!plain(disk.serial) || disk.serial.size() > 20 || disk.serial == "root" ||
        !disk.file.is_open() || disk.bytes == 0 || !FromHex(disk.key.Reveal())) {
      return wrong("a disk has no plain serial, file, size or hexadecimal key");
    }
  }
  return Ok();
}

}  // namespace

Result<std::unique_ptr<Machine>> Start(Spec spec, const std::string& qemu_path,
                                       std::function<std::int64_t()> monotonic_ms) {
  CURFEW_TRY_VOID(CheckSpec(spec));
  auto machine = std::make_unique<QemuMachine>(std::move(spec), std::move(monotonic_ms));
  CURFEW_TRY_VOID(machine->Launch(qemu_path));
  return std::unique_ptr<Machine>(std::move(machine));
}

}  // namespace qemu
}  // namespace curfew::machine
