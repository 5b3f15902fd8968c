#include "runtime/guest/agent/command.h"

#include "runtime/guest/agent/machine_boot.h"
#include "runtime/guest/agent/text_file.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <grp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace curfew::guest {
namespace {

struct Pipe {
  OwnedFd read;
  OwnedFd write;
};

Result<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoFailure(errno, "make a pipe");
  return Pipe{OwnedFd(ends[0]), OwnedFd(ends[1])};
}

void SetNonBlocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

// What the child says through the error pipe when it cannot become the command.
struct ChildTrouble {
  int error;
  char step[28];
};

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Between fork and exec. Returns only in trouble, with the step that failed.
const char* BecomeCommand(Command& command, const int (&standard)[3], char** arguments,
                          char** environment) {
  if (!WriteTextFile(command.cgroup + "/cgroup.procs", "0")) return "join its control group";
  if (setsid() < 0) return "make a session";
  for (int i = 0; i < 3; ++i) {
    if (dup2(standard[i], i) < 0) return "set its standard streams";
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  umask(022);
  const User& user = command.user;
  if (setgroups(0, nullptr) != 0 || setresgid(user.gid, user.gid, user.gid) != 0 ||
      setresuid(user.uid, user.uid, user.uid) != 0) {
    return "become its user";
  }
  if (user.uid != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "give up new rights";
  if (chdir(command.request.directory.c_str()) != 0) return "enter its directory";
  const int file = command.program.file.get();
  // The interpreter of a script opens the script by this descriptor's number.
  if (command.program.script) fcntl(file, F_SETFD, 0);
  execveat(file, "", arguments, environment, AT_EMPTY_PATH);
  return "execute its program";
}

}  // namespace

void Command::KillAll() const {
  if (started) WriteTextFile(cgroup + "/cgroup.kill", "1");
}

void Command::SignalAll(int number) const {
  const std::string members = ReadTextFile(cgroup + "/cgroup.procs");
  for (std::size_t start = 0; start < members.size();) {
    char* end = nullptr;
    const long member = std::strtol(members.c_str() + start, &end, 10);
    if (member > 1) kill(static_cast<pid_t>(member), number);
    start = static_cast<std::size_t>(end - members.c_str()) + 1;
  }
}

void Command::NoteEnd(int status, const rusage& used) {
  wait_status = status;
  usage = used;
  input.Reset();
  for (OutputPipe* pipe : {&out, &error}) {
    int bytes = 0;
    if (!pipe->fd.is_open() || ioctl(pipe->fd.get(), FIONREAD, &bytes) != 0) bytes = 0;
    pipe->left = static_cast<std::uint64_t>(bytes);
  }
}

std::optional<Exited> Command::Finished() const {
  if (!wait_status || !out.finished() || !error.finished()) return std::nullopt;
  Exited exited;
  exited.how = timed_out                 ? ExitKind::TimedOut
               : WIFEXITED(*wait_status) ? ExitKind::Status
                                         : ExitKind::Signalled;
  exited.value = static_cast<std::uint32_t>(WIFEXITED(*wait_status) ? WEXITSTATUS(*wait_status)
                                                                    : WTERMSIG(*wait_status));
  const auto microseconds = [](const timeval& t) {
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(t.tv_usec);
  };
  exited.user_us = microseconds(usage.ru_utime);
  exited.system_us = microseconds(usage.ru_stime);
  return exited;
}

Result<Command> PrepareCommand(std::uint32_t id, Prepare request,
                               const std::vector<std::string>& environment_defaults) {
  if (request.arguments.empty()) return Failure(FailureCode::Usage, "a command has no arguments");
  for (const auto* texts : {&request.arguments, &request.environment}) {
    for (const std::string& text : *texts) {
      if (text.find('\0') != std::string::npos) {
        return Failure(FailureCode::Usage, "an argument or a variable holds a NUL");
      }
    }
  }
  Command command;
  command.id = id;
  CURFEW_TRY(command.user, FindUser(request.user));
  command.environment = MergeEnvironment(environment_defaults, command.user, request.environment);
  CURFEW_TRY(command.program, FindProgram(request.arguments[0], request.directory,
                                          command.environment, command.user));
  command.request = std::move(request);
  return command;
}

Outcome StartCommand(Command& command, const std::string& cgroup_root, std::int64_t now_ms) {
  command.cgroup = cgroup_root + "/exec-" + std::to_string(command.id);
  CURFEW_TRY(Pipe out, MakePipe());
  CURFEW_TRY(Pipe error, MakePipe());
  CURFEW_TRY(Pipe trouble, MakePipe());
  Pipe input;
  if (command.request.input) {
    CURFEW_TRY(input, MakePipe());
  } else {
    input.read = OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  const std::vector<char*> arguments = Pointers(command.request.arguments);
  const std::vector<char*> environment = Pointers(command.environment);
  const int standard[3] = {input.read.get(), out.write.get(), error.write.get()};

  if (mkdir(command.cgroup.c_str(), 0755) != 0) return ErrnoFailure(errno, "make a control group");
  const pid_t pid = fork();
  if (pid < 0) {
    const int error_number = errno;
    rmdir(command.cgroup.c_str());
    return ErrnoFailure(error_number, "fork");
  }
  if (pid == 0) {
    ChildTrouble report{};
    const char* step = BecomeCommand(command, standard, const_cast<char**>(arguments.data()),
                                     const_cast<char**>(environment.data()));
    report.error = errno;
    std::snprintf(report.step, sizeof(report.step), "%s", step);
    const ssize_t written = write(trouble.write.get(), &report, sizeof(report));
    _exit(written == sizeof(report) ? 127 : 126);
  }
  trouble.write.Reset();
  ChildTrouble report{};
  ssize_t got = 0;
  do {
    got = read(trouble.read.get(), &report, sizeof(report));
  } while (got < 0 && errno == EINTR);
  if (got != 0) {
    waitpid(pid, nullptr, 0);
    rmdir(command.cgroup.c_str());
    return ErrnoFailure(report.error, std::string("the command could not ") + report.step);
  }
  command.started = true;
  command.pid = pid;
  command.program.file.Reset();
  command.input = std::move(input.write);
  command.out.fd = std::move(out.read);
  command.error.fd = std::move(error.read);
  for (const int fd : {command.input.get(), command.out.fd.get(), command.error.fd.get()}) {
    if (fd >= 0) SetNonBlocking(fd);
  }
  if (command.request.timeout_ms != 0) {
    command.deadline_ms = now_ms + static_cast<std::int64_t>(command.request.timeout_ms);
  }
  return Ok();
}

}  // namespace curfew::guest
