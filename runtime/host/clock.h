// The two times of the host. Wall time is for people and for what outlives a boot; monotonic time
// (CLOCK_BOOTTIME, which goes on while the host sleeps) is what deadlines are kept by.
#pragma once

#include <cstdint>
#include <string>

namespace curfew::host {

class Clock {
 public:
  virtual ~Clock() = default;
  // Milliseconds since 1970-01-01T00:00:00Z.
  [[nodiscard]] virtual std::int64_t WallNowMs() const = 0;
  // Milliseconds since this boot of the host.
  [[nodiscard]] virtual std::int64_t MonotonicNowMs() const = 0;
  // Names this boot: a monotonic time or a start time of a process means something in it alone.
  [[nodiscard]] virtual std::string BootId() const = 0;
};

// "2026-03-01T12:00:00Z"; milliseconds are dropped.
std::string Rfc3339(std::int64_t wall_ms);

}  // namespace curfew::host
