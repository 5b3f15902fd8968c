#include "runtime/machine/process.h"

#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

namespace curfew::machine {

Result<ProcessIdentity> IdentityOf(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t name_end = stat.rfind(')');  // the name may hold anything
  unsigned long long start = 0;
  if (name_end == std::string::npos ||
      std::sscanf(
          stat.c_str() + name_end + 1,
          " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
          &start) != 1) {
    return Failure(FailureCode::NotFound, fmt::format("there is no process {}", pid));
  }
  return ProcessIdentity{pid, start};
}

std::uint64_t ProcessCpuNs(pid_t pid) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(used.tv_nsec);
}

}  // namespace curfew::machine
