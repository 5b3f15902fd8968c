// Time, CPU and memory from one moment on, of this process.
#pragma once

#include <chrono>
#include <cstddef>
#include <ctime>
#include <string>
#include <sys/resource.h>

#include <fmt/format.h>

namespace curfew::bench {

class Spent {
 public:
  Spent() : begin_(std::chrono::steady_clock::now()), cpu_ns_(CpuNs()), peak_(PeakBytes()) {}

  // `bytes`: of the text that was read; `whole`: whether it was what it should be.
  [[nodiscard]] std::string AsJson(std::size_t bytes, bool whole) const {
    const double wall_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_)
            .count();
    const double cpu_ms = static_cast<double>(CpuNs() - cpu_ns_) / 1e6;
    return fmt::format(
        R"({{"wall_ms": {:.1f}, "cpu_ms": {:.1f}, "peak_bytes": {}, "text_bytes": {}, "whole": {}}})",
        wall_ms, cpu_ms, PeakBytes() - peak_, bytes, whole);
  }

 private:
  static long CpuNs() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000L + now.tv_nsec;
  }
  static long PeakBytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
  }
  std::chrono::steady_clock::time_point begin_;
  long cpu_ns_;
  long peak_;
};

}  // namespace curfew::bench
