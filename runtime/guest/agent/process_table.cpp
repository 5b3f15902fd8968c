#include "runtime/guest/agent/process_table.h"

#include "runtime/guest/agent/text_file.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <map>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace curfew::guest {
namespace {

constexpr unsigned long KernelThread = 0x00200000;  // PF_KTHREAD
constexpr unsigned ListenState = 0x0A;
constexpr unsigned UdpOpenState = 0x07;

// What a process is called is behind its own memory lock: under a fork bomb a read of it can wait
// for a whole round of the scheduler. Beyond this time only what needs no lock is read.
constexpr std::chrono::seconds DetailsPatience{2};

using PortsByInode = std::map<unsigned long, ListeningPort>;

// Calls `use` with the number of every entry of /proc that is a process.
template <typename Use>
void EachPid(Use use) {
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    char* end = nullptr;
    const unsigned long pid = std::strtoul(entry->d_name, &end, 10);
    if (pid != 0 && *end == '\0' && pid != static_cast<unsigned long>(getpid())) {
      use(static_cast<std::uint32_t>(pid));
    }
  }
  closedir(folder);
}

// Fills what /proc/PID/stat knows. False: gone, dead, or a thread of the kernel.
bool ReadStat(Process& process) {
  const std::string stat = ReadTextFile("/proc/" + std::to_string(process.pid) + "/stat");
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');  // the name may hold anything, also ')'
  if (open == std::string::npos || close == std::string::npos) return false;
  char state = 0;
  unsigned long flags = 0;
  unsigned long long start = 0;
  if (std::sscanf(stat.c_str() + close + 1,
                  " %c %u %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                  &state, &process.parent, &flags, &start) != 4) {
    return false;
  }
  if ((flags & KernelThread) != 0 || state == 'Z' || state == 'X') return false;
  process.state = static_cast<std::uint8_t>(state);
  process.start_ticks = start;
  process.argv = "[" + stat.substr(open + 1, close - open - 1) + "]";
  return true;
}

// The command that a process descends from: its control group is named after the id.
std::uint32_t ExecOf(const std::string& folder) {
  const std::string groups = ReadTextFile(folder + "/cgroup");
  const std::size_t line = groups.rfind("0::", std::string::npos);
  const std::size_t name = line == std::string::npos ? line : groups.find("/exec-", line);
  if (name == std::string::npos) return 0;
  return static_cast<std::uint32_t>(std::strtoul(groups.c_str() + name + 6, nullptr, 10));
}

void ReadOwner(Process& process) {
  const std::string folder = "/proc/" + std::to_string(process.pid);
  const std::string status = ReadTextFile(folder + "/status");
  const std::size_t uid = status.find("\nUid:\t");
  if (uid != std::string::npos) {
    process.uid = static_cast<std::uint32_t>(std::strtoul(status.c_str() + uid + 6, nullptr, 10));
  }
  process.exec = ExecOf(folder);
}

void ReadArguments(Process& process) {
  std::string argv =
      ReadTextFile("/proc/" + std::to_string(process.pid) + "/cmdline", ArgvBytesMax + 1);
  process.argv_cut = argv.size() > ArgvBytesMax;
  if (process.argv_cut) argv.resize(ArgvBytesMax);
  while (!argv.empty() && argv.back() == '\0') argv.pop_back();
  if (!argv.empty()) process.argv = argv;
}

void ReadPorts(PortsByInode& ports, const char* table, bool udp) {
  const std::string text = ReadTextFile(std::string("/proc/net/") + table, 4 << 20);
  std::size_t line = text.find('\n');
  while (line != std::string::npos) {
    char address[33] = {};
    unsigned port = 0;
    unsigned state = 0;
    unsigned long inode = 0;
    if (std::sscanf(text.c_str() + line + 1,
                    " %*u: %32[0-9A-F]:%x %*x:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %lu", address,
                    &port, &state, &inode) == 4 &&
        state == (udp ? UdpOpenState : ListenState)) {
      const bool loopback = std::strcmp(address, "0100007F") == 0 ||
                            std::strcmp(address, "00000000000000000000000001000000") == 0;
      ports[inode] = {udp, !loopback, static_cast<std::uint16_t>(port)};
    }
    line = text.find('\n', line + 1);
  }
}

void AttachPorts(Process& process, const PortsByInode& ports) {
  const std::string folder = "/proc/" + std::to_string(process.pid) + "/fd";
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) {
    char target[64] = {};
    if (readlink((folder + "/" + entry->d_name).c_str(), target, sizeof(target) - 1) <= 0) continue;
    unsigned long inode = 0;
    if (std::sscanf(target, "socket:[%lu]", &inode) != 1) continue;
    const auto port = ports.find(inode);
    if (port != ports.end() && process.ports.size() < PortsMax) {
      process.ports.push_back(port->second);
    }
  }
  closedir(entries);
}

}  // namespace

std::vector<Process> ReadProcesses(std::size_t count_max, bool with_ports, std::uint32_t& seen) {
  PortsByInode ports;
  if (with_ports) {
    ReadPorts(ports, "tcp", false);
    ReadPorts(ports, "tcp6", false);
    ReadPorts(ports, "udp", true);
    ReadPorts(ports, "udp6", true);
  }
  const auto details_end = std::chrono::steady_clock::now() + DetailsPatience;
  std::vector<Process> processes;
  seen = 0;
  EachPid([&](std::uint32_t pid) {
    Process process;
    process.pid = pid;
    if (!ReadStat(process)) return;
    ++seen;
    if (processes.size() >= count_max) return;
    ReadOwner(process);
    if (std::chrono::steady_clock::now() < details_end) {
      ReadArguments(process);
    } else {
      process.argv_cut = true;
    }
    if (!ports.empty()) AttachPorts(process, ports);
    processes.push_back(std::move(process));
  });
  return processes;
}

std::uint32_t CountProcesses() {
  std::uint32_t count = 0;
  EachPid([&](std::uint32_t pid) {
    Process process;
    process.pid = pid;
    if (ReadStat(process)) ++count;
  });
  return count;
}

}  // namespace curfew::guest
