#include "runtime/machine/qemu/launch.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::machine::qemu {
namespace {

constexpr int FirstDescriptor = 3;
constexpr int ParkingPlace = 200;  // above every number that descriptors end up at

struct ChildTrouble {
  int error;
  char step[60];
};

bool JoinCgroup(const char* procs_file) {
  const int file = open(procs_file, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool joined = write(file, "0", 1) == 1;
  close(file);
  return joined;
}

// Only the user of this machine may open this node, in this mount namespace only: the host's own
// /dev/kvm stays as it is.
bool GrantKvm(uid_t uid, gid_t gid) {
  struct stat host{};
  return stat("/dev/kvm", &host) == 0 && mount("tmpfs", "/tmp", "tmpfs", 0, "mode=0700") == 0 &&
         mknod("/tmp/kvm", S_IFCHR | 0600, host.st_rdev) == 0 && chown("/tmp/kvm", uid, gid) == 0 &&
         mount("/tmp/kvm", "/dev/kvm", nullptr, MS_BIND, nullptr) == 0 &&
         umount2("/tmp", MNT_DETACH) == 0;
}

bool MoveDescriptors(const LaunchRequest& request, int& trouble) {
  // Parked high first, since a source may have the number that another one must get.
  int parked[16];
  const std::size_t count = request.descriptors.size();
  for (std::size_t i = 0; i < count; ++i) {
    parked[i] = fcntl(request.descriptors[i], F_DUPFD, ParkingPlace);
    if (parked[i] < 0) return false;
  }
  const int parked_trouble = fcntl(trouble, F_DUPFD_CLOEXEC, ParkingPlace);
  const int parked_error = fcntl(request.standard_error, F_DUPFD, ParkingPlace);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (parked_trouble < 0 || parked_error < 0 || nothing < 0 || dup2(nothing, 0) < 0 ||
      dup2(nothing, 1) < 0 || dup2(parked_error, 2) < 0) {
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (dup2(parked[i], FirstDescriptor + static_cast<int>(i)) < 0) return false;
  }
  trouble = FirstDescriptor + static_cast<int>(count);
  return dup3(parked_trouble, trouble, O_CLOEXEC) >= 0 &&
         close_range(static_cast<unsigned>(trouble) + 1, ~0u, 0) == 0;
}

bool DropCapabilities() {
  for (int capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EINVAL) return false;
  }
  return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0;
}

// Returns only in trouble, with the step that did not work and errno set.
const char* BecomeQemu(const LaunchRequest& request, pid_t parent, int& trouble, char** arguments) {
  for (const std::string& group : request.cgroup_procs) {
    if (!JoinCgroup(group.c_str())) return "join its control groups";
  }
  if (unshare(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS) != 0) {
    return "leave the host's namespaces";
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return "leave the mounts";
  if (request.kvm && !GrantKvm(request.uid, request.gid)) return "get /dev/kvm";
  if (!MoveDescriptors(request, trouble)) return "arrange its descriptors";
  const rlimit none{0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return "forbid core files";
  if (!DropCapabilities()) return "drop its capabilities";
  if (setgroups(0, nullptr) != 0 || setresgid(request.gid, request.gid, request.gid) != 0 ||
      setresuid(request.uid, request.uid, request.uid) != 0) {
    return "become its user";
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "give up new privileges";
  // After the change of user, which clears it.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return "tie its life to its keeper";
  if (getppid() != parent) _exit(1);
  sigset_t nothing;
  sigemptyset(&nothing);
  sigprocmask(SIG_SETMASK, &nothing, nullptr);
  for (int number = 1; number < 32; ++number) signal(number, SIG_DFL);
  char locale[] = "LC_ALL=C";
  char* environment[] = {locale, nullptr};
  execve(arguments[0], arguments, environment);
  return "start";
}

}  // namespace

Result<pid_t> Launch(const LaunchRequest& request) {
  CURFEW_CHECK(request.descriptors.size() <= 16 && request.uid != 0,
               "a machine has few descriptors and is never root");
  std::vector<char*> arguments;
  for (const std::string& argument : request.command_line) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return SystemFailure(errno, "make a pipe");
  const OwnedFd read_end(ends[0]);
  OwnedFd write_end(ends[1]);

  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return SystemFailure(errno, "fork");
  if (child == 0) {
    int trouble = write_end.get();
    ChildTrouble report{};
    const char* step = BecomeQemu(request, parent, trouble, arguments.data());
    report.error = errno;
    std::strncpy(report.step, step, sizeof(report.step) - 1);
    const ssize_t written = write(trouble, &report, sizeof(report));
    _exit(written == sizeof(report) ? 127 : 126);
  }
  write_end.Reset();
  ChildTrouble report{};
  ssize_t got = 0;
  do {
    got = read(read_end.get(), &report, sizeof(report));
  } while (got < 0 && errno == EINTR);
  if (got == 0) return child;
  waitpid(child, nullptr, 0);
  const std::string& program = request.command_line[0];
  if (report.error == ENOENT && std::strcmp(report.step, "start") == 0) {
    return Failure(FailureCode::Unsupported,
                   program + " is missing; install the package qemu-system-x86");
  }
  return SystemFailure(report.error, fmt::format("QEMU ({}) could not {}", program, report.step));
}

}  // namespace curfew::machine::qemu
