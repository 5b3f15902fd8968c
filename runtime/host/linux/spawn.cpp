#include "runtime/host/linux/spawn.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace curfew::host {
namespace {

constexpr int FirstFd = 3;

// In the child: only what is safe after a fork.
[[noreturn]] void Become(const char* program, char* const* arguments, std::vector<int>& fds,
                         int errors, int report) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Out of the way of the numbers that are to be filled.
  const int above = FirstFd + static_cast<int>(fds.size()) + 1;
  report = fcntl(report, F_DUPFD_CLOEXEC, above);
  errors = fcntl(errors, F_DUPFD, above);
  for (int& fd : fds) fd = fcntl(fd, F_DUPFD, above);
  const auto give_up = [](int told) {
    const int error = errno;
    const ssize_t ignored = write(told, &error, sizeof error);
    static_cast<void>(ignored);
    _exit(127);
  };
  const int null = open("/dev/null", O_RDWR);
  if (null < 0) give_up(report);
  dup2(null, 0);
  dup2(null, 1);
  dup2(errors, 2);
  for (std::size_t i = 0; i < fds.size(); ++i) dup2(fds[i], FirstFd + static_cast<int>(i));
  const int last = FirstFd + static_cast<int>(fds.size()) - 1;
  dup2(report, last + 1);
  fcntl(last + 1, F_SETFD, FD_CLOEXEC);
  syscall(SYS_close_range, static_cast<unsigned>(last + 2), ~0U, 0U);
  if (setsid() >= 0 && chdir("/") == 0) execv(program, arguments);
  give_up(last + 1);
  _exit(127);
}

}  // namespace

Result<Detached> SpawnDetached(const std::string& program,
                               const std::vector<std::string>& arguments,
                               const std::vector<int>& fds, int errors) {
  std::vector<std::string> texts = {program};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  std::vector<int> given = fds;
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return SystemFailure(errno, "make a pipe");
  OwnedFd reader(report[0]);
  OwnedFd writer(report[1]);
  const pid_t pid = fork();
  if (pid < 0) return SystemFailure(errno, "start " + program);
  if (pid == 0) Become(program.c_str(), argv.data(), given, errors, writer.get());
  writer.Reset();
  int error = 0;
  ssize_t size = -1;
  do {
    size = read(reader.get(), &error, sizeof error);
  } while (size < 0 && errno == EINTR);
  if (size == sizeof error) {
    WaitFor(pid);
    return SystemFailure(error, "start " + program);
  }
  Detached detached{.pid = pid,
                    .pidfd = OwnedFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)))};
  if (!detached.pidfd.is_open()) return SystemFailure(errno, "watch " + program);
  return detached;
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return 1;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace curfew::host
