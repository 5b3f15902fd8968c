#include "runtime/guest/agent/machine_boot.h"

#include "runtime/guest/agent/denials.h"
#include "runtime/guest/agent/network.h"
#include "runtime/guest/agent/text_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <linux/random.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace curfew::guest {
namespace {

constexpr int DeviceWaitMs = 5000;

Outcome Mount(const char* source, const char* target, const char* type, unsigned long flags,
              const char* options) {
  if (mkdir(target, 0755) != 0 && errno != EEXIST && errno != EROFS) {
    return ErrnoFailure(errno, std::string("mkdir ") + target);
  }
  if (mount(source, target, type, flags, options) != 0) {
    return ErrnoFailure(errno, std::string("mount ") + target);
  }
  return Ok();
}

Outcome LoadModules() {
  std::vector<std::string> names;
  DIR* folder = opendir("/modules");
  if (folder == nullptr) return ErrnoFailure(errno, "open /modules");
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());  // named in the order in which they need each other
  for (const std::string& name : names) {
    const OwnedFd file(open(("/modules/" + name).c_str(), O_RDONLY | O_CLOEXEC));
    if (syscall(SYS_finit_module, file.get(), "", 0) != 0) {
      return ErrnoFailure(errno, "load module " + name);
    }
  }
  return Ok();
}

// The entry of `folder` whose attribute file holds `value`; waits for the kernel to find the
// device.
Result<std::string> FindDevice(const std::string& folder, const std::string& attribute,
                               const std::string& value) {
  for (int waited_ms = 0; waited_ms < DeviceWaitMs; ++waited_ms) {
    if (DIR* entries = opendir(folder.c_str())) {
      std::string found;
      while (const dirent* entry = readdir(entries)) {
        if (entry->d_name[0] == '.') continue;
        if (ReadTextFile(folder + "/" + entry->d_name + "/" + attribute) == value) {
          found = entry->d_name;
        }
      }
      closedir(entries);
      if (!found.empty() && access(("/dev/" + found).c_str(), F_OK) == 0) return "/dev/" + found;
    }
    usleep(1000);
  }
  return Failure(FailureCode::NotFound, "no device whose " + attribute + " is " + value);
}

Outcome MountRoot() {
  CURFEW_TRY(const std::string device, FindDevice("/sys/block", "serial", "root"));
  CURFEW_TRY_VOID(Mount(device.c_str(), "/lower", "erofs", MS_RDONLY | MS_NODEV, nullptr));
  CURFEW_TRY_VOID(Mount("tmpfs", "/upper", "tmpfs", MS_NODEV, "size=50%,mode=0755"));
  if (mkdir("/upper/data", 0755) != 0 || mkdir("/upper/work", 0755) != 0) {
    return ErrnoFailure(errno, "mkdir in /upper");
  }
  CURFEW_TRY_VOID(Mount("overlay", "/new", "overlay", MS_NODEV,
                        "lowerdir=/lower,upperdir=/upper/data,workdir=/upper/work"));
  for (const char* kept : {"/dev", "/proc", "/sys"}) {
    if (mount(kept, (std::string("/new") + kept).c_str(), nullptr, MS_MOVE, nullptr) != 0) {
      return ErrnoFailure(errno, std::string("move ") + kept);
    }
  }
  if (chdir("/new") != 0 || mount(".", "/", nullptr, MS_MOVE, nullptr) != 0 || chroot(".") != 0 ||
      chdir("/") != 0) {
    return ErrnoFailure(errno, "enter the root file system");
  }
  const unsigned long plain = MS_NOSUID | MS_NODEV;
  CURFEW_TRY_VOID(Mount("tmpfs", "/run", "tmpfs", plain, "mode=0755"));
  CURFEW_TRY_VOID(Mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
                        "ptmxmode=0666,mode=0620,gid=5"));
  CURFEW_TRY_VOID(Mount("tmpfs", "/dev/shm", "tmpfs", plain, "mode=1777"));
  return Mount("cgroup2", "/sys/fs/cgroup", "cgroup2", plain | MS_NOEXEC, nullptr);
}

// All commands together leave an eighth of the memory to the kernel and the agent, and are at most
// one process for each MiB: what eats or multiplies without end fights itself, and the agent can
// still end it.
Outcome LimitTasks() {
  struct sysinfo system{};
  sysinfo(&system);
  const std::uint64_t memory = std::uint64_t{system.totalram} * system.mem_unit;
  const std::string tasks = GuestCgroupRoot;
  if (!WriteTextFile("/sys/fs/cgroup/cgroup.subtree_control", "+memory +pids") ||
      mkdir(tasks.c_str(), 0755) != 0 ||
      !WriteTextFile(tasks + "/memory.max", std::to_string(memory - memory / 8)) ||
      !WriteTextFile(tasks + "/pids.max", std::to_string(memory >> 20))) {
    return ErrnoFailure(errno, "limit tasks by control groups");
  }
  return Ok();
}

// Ahead of everything that a task can start, or a fork bomb would keep the agent from ending it.
Outcome RaiseOverTasks() {
  const sched_param first{1};
  if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &first) != 0) {
    return ErrnoFailure(errno, "raise the agent's priority");
  }
  return Ok();
}

// What programs expect of /dev and the kernel does not make.
Outcome LinkStandardStreams() {
  const std::pair<const char*, const char*> links[] = {{"/proc/self/fd", "/dev/fd"},
                                                       {"/proc/self/fd/0", "/dev/stdin"},
                                                       {"/proc/self/fd/1", "/dev/stdout"},
                                                       {"/proc/self/fd/2", "/dev/stderr"}};
  for (const auto& [target, name] : links) {
    if (symlink(target, name) != 0) return ErrnoFailure(errno, std::string("link ") + name);
  }
  return Ok();
}

Outcome RaiseLoopback() {
  const OwnedFd socket_fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl(socket_fd.get(), SIOCSIFFLAGS, &request) != 0) return ErrnoFailure(errno, "raise lo");
  return Ok();
}

Outcome SeedEntropy(const Bytes& entropy) {
  if (entropy.empty()) return Ok();
  const OwnedFd random(open("/dev/random", O_WRONLY | O_CLOEXEC));
  std::vector<char> request(sizeof(rand_pool_info) + entropy.size());
  auto* info = reinterpret_cast<rand_pool_info*>(request.data());
  info->entropy_count = static_cast<int>(entropy.size() * 8);
  info->buf_size = static_cast<int>(entropy.size());
  std::memcpy(info->buf, entropy.data(), entropy.size());
  const bool seeded =
      ioctl(random.get(), RNDADDENTROPY, info) == 0 && ioctl(random.get(), RNDRESEEDCRNG) == 0;
  const int error = errno;
  explicit_bzero(request.data(), request.size());
  return seeded ? Ok() : Outcome(ErrnoFailure(error, "seed the random numbers"));
}

Outcome MakeFolders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) {
      return ErrnoFailure(errno, "mkdir " + part);
    }
    if (slash == std::string::npos) return Ok();
  }
}

}  // namespace

Failure ErrnoFailure(int error, const std::string& what) {
  const FailureCode code = error == ENOENT || error == ENOTDIR ? FailureCode::NotFound
                           : error == EACCES || error == EPERM || error == ELOOP || error == EXDEV
                               ? FailureCode::PermissionDenied
                               : FailureCode::System;
  return Failure(code, what + ": " + std::strerror(error));
}

Result<OwnedFd> BootMachine() {
  CURFEW_TRY_VOID(RaiseOverTasks());
  CURFEW_TRY_VOID(Mount("proc", "/proc", "proc", MS_NOSUID | MS_NOEXEC | MS_NODEV, nullptr));
  CURFEW_TRY_VOID(Mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NOEXEC | MS_NODEV, nullptr));
  CURFEW_TRY_VOID(Mount("devtmpfs", "/dev", "devtmpfs", MS_NOSUID, nullptr));
  CURFEW_TRY_VOID(LoadModules());
  CURFEW_TRY_VOID(MountRoot());
  CURFEW_TRY_VOID(LimitTasks());
  CURFEW_TRY_VOID(LinkStandardStreams());
  CURFEW_TRY_VOID(RaiseLoopback());
  CURFEW_TRY(const std::string port, FindDevice("/sys/class/virtio-ports", "name", "agent.0"));
  OwnedFd channel(open(port.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!channel.is_open()) return ErrnoFailure(errno, "open " + port);
  return channel;
}

Outcome ApplyConfiguration(const Configure& configuration) {
  const timespec now{static_cast<time_t>(configuration.wall_ns / 1'000'000'000),
                     static_cast<long>(configuration.wall_ns % 1'000'000'000)};
  if (clock_settime(CLOCK_REALTIME, &now) != 0) return ErrnoFailure(errno, "set the clock");
  CURFEW_TRY_VOID(SeedEntropy(configuration.entropy));
  if (sethostname(configuration.host_name.data(), configuration.host_name.size()) != 0) {
    return ErrnoFailure(errno, "set the host name");
  }
  for (const DiskMount& disk : configuration.disks) {
    CURFEW_TRY(const std::string device, FindDevice("/sys/block", "serial", disk.serial));
    CURFEW_TRY_VOID(MakeFolders(disk.path));
    CURFEW_TRY_VOID(Mount(device.c_str(), disk.path.c_str(), "ext4",
                          MS_NOATIME | MS_NOSUID | MS_NODEV, nullptr));
  }
  for (const NetworkSetting& network : configuration.networks) {
    CURFEW_TRY_VOID(BeginDenials(DenialsFile));
    CURFEW_TRY_VOID(JoinNetwork(network));
  }
  return Ok();
}

void PowerOffMachine() {
  sync();
  reboot(RB_POWER_OFF);
  for (;;) pause();
}

}  // namespace curfew::guest
