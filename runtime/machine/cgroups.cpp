#include "runtime/machine/cgroups.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::machine {
namespace {

constexpr std::uint64_t OverheadBytes = 160ull << 20;  // measured: 158 MB of QEMU around the guest
constexpr char Parent[] = "curfew";
constexpr std::uint64_t PeriodUs = 100'000;
constexpr const char* ControllersV1[] = {"cpu", "cpuacct", "memory", "pids", "freezer"};

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Outcome WriteText(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return SystemFailure(errno, "open " + path);
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  close(file);
  return written ? Ok() : Outcome(SystemFailure(error, fmt::format("write {} to {}", text, path)));
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// A limit counts when the kernel gives it back; it rounds down to pages.
Outcome SetLimit(const std::string& path, std::uint64_t value) {
  CURFEW_TRY_VOID(WriteText(path, fmt::format("{}", value)));
  const std::string read_back = ReadText(path);
  if (read_back == fmt::format("{}", value) || read_back == fmt::format("{}", value & ~4095ull)) {
    return Ok();
  }
  return Failure(FailureCode::System,
                 fmt::format("{} is {} after {} was written: the limit does not hold", path,
                             read_back, value));
}

Outcome MakeFolder(const std::string& path, bool must_be_new) {
  if (mkdir(path.c_str(), 0755) == 0 || (errno == EEXIST && !must_be_new)) return Ok();
  return SystemFailure(errno, "make the control group " + path);
}

// The hierarchies of this host that matter: each an absolute path below which groups are made.
struct Hierarchies {
  bool unified = false;
  std::vector<std::string> roots;
};

Hierarchies FindHierarchies(const std::string& root) {
  const std::string controllers = " " + ReadText(root + "/cgroup.controllers") + " ";
  if (controllers.find(" memory ") != std::string::npos &&
      controllers.find(" cpu ") != std::string::npos) {
    return {true, {root}};
  }
  Hierarchies found;
  for (const char* controller : ControllersV1) {
    const std::string path = root + "/" + controller;
    if (Exists(path + "/cgroup.procs") || Exists(path + "/tasks")) found.roots.push_back(path);
  }
  return found;
}

void SleepMs(long ms) {
  const timespec pause{0, ms * 1'000'000};
  nanosleep(&pause, nullptr);
}

}  // namespace

std::uint64_t MemoryLimitFor(std::uint64_t guest_bytes) { return guest_bytes + OverheadBytes; }

Result<Cgroups> Cgroups::Create(const std::string& name, const CgroupLimits& limits,
                                const std::string& root) {
  const Hierarchies hierarchies = FindHierarchies(root);
  Cgroups groups;
  const auto make = [&](const std::string& hierarchy) -> Outcome {
    const std::string parent = hierarchy + "/" + Parent;
    CURFEW_TRY_VOID(MakeFolder(parent, false));
    if (hierarchies.unified) {
      CURFEW_TRY_VOID(WriteText(hierarchy + "/cgroup.subtree_control", "+cpu +memory +pids"));
      CURFEW_TRY_VOID(WriteText(parent + "/cgroup.subtree_control", "+cpu +memory +pids"));
    }
    const std::string group = parent + "/" + name;
    CURFEW_TRY_VOID(MakeFolder(group, true));
    groups.directories_.push_back(group);
    for (const char* limit : {"/memory.limit_in_bytes", "/memory.max"}) {
      if (Exists(group + limit)) CURFEW_TRY_VOID(SetLimit(group + limit, limits.memory_bytes));
    }
    if (Exists(group + "/pids.max")) {
      CURFEW_TRY_VOID(SetLimit(group + "/pids.max", limits.threads));
    }
    return Ok();
  };
  for (const std::string& hierarchy : hierarchies.roots) {
    const Outcome made = make(hierarchy);
    if (!made) {
      static_cast<void>(groups.Remove(0));
      return made.error();
    }
  }
  if (groups.directories_.empty()) {
    return Failure(FailureCode::Unsupported, "there are no control groups below " + root +
                                                 "; mount cgroup2 there, or boot with them");
  }
  return groups;
}

Cgroups Cgroups::Find(const std::string& name, const std::string& root) {
  Cgroups groups;
  for (const std::string& hierarchy : FindHierarchies(root).roots) {
    const std::string group = hierarchy + "/" + Parent + "/" + name;
    if (Exists(group)) groups.directories_.push_back(group);
  }
  return groups;
}

std::vector<std::string> Cgroups::ProcsFiles() const {
  std::vector<std::string> files;
  for (const std::string& directory : directories_) files.push_back(directory + "/cgroup.procs");
  return files;
}

Outcome Cgroups::LimitCpu(unsigned cpus) const {
  for (const std::string& directory : directories_) {
    if (Exists(directory + "/cpu.cfs_quota_us")) {
      CURFEW_TRY_VOID(SetLimit(directory + "/cpu.cfs_period_us", PeriodUs));
      CURFEW_TRY_VOID(SetLimit(directory + "/cpu.cfs_quota_us", PeriodUs * cpus));
    } else if (Exists(directory + "/cpu.max")) {
      CURFEW_TRY_VOID(
          WriteText(directory + "/cpu.max", fmt::format("{} {}", PeriodUs * cpus, PeriodUs)));
    }
  }
  return Ok();
}

Result<std::uint64_t> Cgroups::CpuNs() const {
  for (const std::string& directory : directories_) {
    const std::string v1 = ReadText(directory + "/cpuacct.usage");
    if (!v1.empty()) return std::strtoull(v1.c_str(), nullptr, 10);
    const std::string v2 = ReadText(directory + "/cpu.stat");
    if (v2.rfind("usage_usec ", 0) == 0) return std::strtoull(v2.c_str() + 11, nullptr, 10) * 1000;
  }
  return Failure(FailureCode::NotFound, "no control group accounts for CPU time");
}

Result<std::vector<int>> Cgroups::Members() const {
  std::vector<int> members;
  for (const std::string& procs : ProcsFiles()) {
    std::ifstream file(procs);
    if (!file && Exists(procs)) return SystemFailure(EACCES, "read " + procs);
    for (int pid = 0; file >> pid;) members.push_back(pid);
  }
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

Outcome Cgroups::Remove(std::int64_t patience_ms) const {
  for (std::int64_t waited_ms = 0;; waited_ms += 5) {
    CURFEW_TRY(const std::vector<int> members, Members());
    for (const int pid : members) kill(pid, SIGKILL);
    std::string busy;
    int error = 0;
    for (const std::string& directory : directories_) {
      if (rmdir(directory.c_str()) != 0 && errno != ENOENT) {
        busy = directory;
        error = errno;
      }
    }
    if (busy.empty()) return Ok();
    if (waited_ms >= patience_ms || (error != EBUSY && error != ENOTEMPTY)) {
      return SystemFailure(error, "remove the control group " + busy);
    }
    SleepMs(5);
  }
}

}  // namespace curfew::machine
