#include "runtime/machine/capabilities.h"

#include <cmath>
#include <cstdint>
#include <ctime>
#include <x86intrin.h>

namespace curfew::machine {
namespace {

constexpr std::uint64_t MeasureNs = 20'000'000;
constexpr int Tries = 20;

struct Moment {
  std::uint64_t ticks = 0;
  std::uint64_t ns = 0;
};

std::uint64_t RawNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Both clocks at one moment: the best of some tries, since any of them may be interrupted.
Moment ReadBoth() {
  Moment best;
  std::uint64_t best_gap = ~std::uint64_t{0};
  for (int i = 0; i < Tries; ++i) {
    const std::uint64_t before = __rdtsc();
    const std::uint64_t ns = RawNs();
    const std::uint64_t gap = __rdtsc() - before;
    if (gap < best_gap) {
      best_gap = gap;
      best = {before + gap / 2, ns};
    }
  }
  return best;
}

}  // namespace

Result<std::uint32_t> MeasureTscKhz() {
  const Moment start = ReadBoth();
  while (RawNs() - start.ns < MeasureNs) {
  }
  const Moment end = ReadBoth();
  if (end.ns <= start.ns || end.ticks <= start.ticks) {
    return Failure(FailureCode::Unsupported, "the processor's time stamp counter does not run");
  }
  const double khz =
      static_cast<double>(end.ticks - start.ticks) * 1e6 / static_cast<double>(end.ns - start.ns);
  if (khz < 100'000 || khz > 20'000'000) {
    return Failure(FailureCode::Unsupported,
                   "the processor's time stamp counter runs at an impossible speed");
  }
  return static_cast<std::uint32_t>(std::lround(khz));
}

}  // namespace curfew::machine
