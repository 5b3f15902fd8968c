#include "runtime/host/linux/linux_host.h"

#include <ctime>
#include <fstream>

namespace curfew::host {

namespace {

std::int64_t NowMs(clockid_t clock) {
  timespec now{};
  CURFEW_CHECK(clock_gettime(clock, &now) == 0, "Linux has this clock");
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

class LinuxClock final : public Clock {
 public:
  LinuxClock() { std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot_id_); }
  [[nodiscard]] std::int64_t WallNowMs() const override { return NowMs(CLOCK_REALTIME); }
  [[nodiscard]] std::int64_t MonotonicNowMs() const override { return NowMs(CLOCK_BOOTTIME); }
  [[nodiscard]] std::string BootId() const override { return boot_id_; }

 private:
  std::string boot_id_;
};

}  // namespace

std::unique_ptr<Clock> MakeLinuxClock() { return std::make_unique<LinuxClock>(); }

}  // namespace curfew::host
