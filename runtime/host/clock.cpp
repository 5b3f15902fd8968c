#include "runtime/host/clock.h"

#include <ctime>

#include <fmt/format.h>

namespace curfew::host {

std::string Rfc3339(std::int64_t wall_ms) {
  // Rounded towards the past also before 1970.
  const std::time_t seconds = wall_ms / 1000 - (wall_ms % 1000 < 0 ? 1 : 0);
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return fmt::format("{} ms", wall_ms);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace curfew::host
