#include "runtime/host/linux/linux_host.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::host {

namespace {

class LinuxProcesses final : public Processes {
 public:
  [[nodiscard]] pid_t Self() const override { return getpid(); }

  Result<ProcessStat> StatOf(pid_t pid) override {
    const std::string path = fmt::format("/proc/{}/stat", pid);
    const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.is_open()) return SystemFailure(errno, "find process " + std::to_string(pid));
    char text[1024];
    const ssize_t bytes = read(fd.get(), text, sizeof text);
    if (bytes < 0) return SystemFailure(errno, "read " + path);
    std::optional<ProcessStat> stat =
        ParseProcessStat(std::string_view(text, static_cast<std::size_t>(bytes)));
    if (!stat) return Failure(FailureCode::Malformed, path + " is not as the kernel documents it");
    return *std::move(stat);
  }

  Result<OwnedFd> Open(const ProcessIdentity& identity) override {
    OwnedFd fd(static_cast<int>(syscall(SYS_pidfd_open, identity.pid, 0)));
    if (!fd.is_open()) return SystemFailure(errno, "open process " + std::to_string(identity.pid));
    // Looked at after opening: if the pid is still this process now, it was when it was opened.
    CURFEW_TRY(const ProcessStat stat, StatOf(identity.pid));
    if (stat.identity != identity) {
      return Failure(FailureCode::NotFound,
                     fmt::format("process {} has ended; its pid belongs to another", identity.pid));
    }
    return fd;
  }

  Result<bool> Signal(const ProcessIdentity& identity, int signal) override {
    Result<OwnedFd> fd = Open(identity);
    if (!fd && fd.error().code == FailureCode::NotFound) return false;
    if (!fd) return std::move(fd).error();
    if (syscall(SYS_pidfd_send_signal, fd->get(), signal, nullptr, 0) == 0) return true;
    if (errno == ESRCH) return false;
    return SystemFailure(errno, "signal process " + std::to_string(identity.pid));
  }

  Result<bool> IsAlive(const ProcessIdentity& identity) override {
    Result<ProcessStat> stat = StatOf(identity.pid);
    if (!stat && stat.error().code == FailureCode::NotFound) return false;
    if (!stat) return std::move(stat).error();
    return stat->identity == identity && !stat->is_dead();
  }
};

}  // namespace

std::unique_ptr<Processes> MakeLinuxProcesses() { return std::make_unique<LinuxProcesses>(); }

}  // namespace curfew::host
