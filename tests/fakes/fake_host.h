// A clock and a source of entropy that a test sets.
#pragma once

#include "runtime/host/clock.h"
#include "runtime/host/entropy.h"

#include <string>

namespace curfew::fakes {

class FakeClock final : public host::Clock {
 public:
  std::int64_t wall_ms = 1'770'000'000'000;  // 2026-02-02
  std::int64_t monotonic_ms = 1'000'000;
  std::string boot_id = "11111111-2222-3333-4444-555555555555";

  void Advance(std::int64_t ms) {
    wall_ms += ms;
    monotonic_ms += ms;
  }
  [[nodiscard]] std::int64_t WallNowMs() const override { return wall_ms; }
  [[nodiscard]] std::int64_t MonotonicNowMs() const override { return monotonic_ms; }
  [[nodiscard]] std::string BootId() const override { return boot_id; }
};

// Bytes that differ from draw to draw and are the same in each run.
class FakeEntropy final : public host::Entropy {
 public:
  explicit FakeEntropy(std::uint32_t seed = 1) : state_(seed) {}
  Result<Bytes> Draw(std::size_t bytes) override {
    if (fails) return Failure(FailureCode::System, "draw random bytes: the test says no");
    Bytes drawn(bytes);
    for (std::uint8_t& byte : drawn) {
      state_ = state_ * 1664525 + 1013904223;
      byte = static_cast<std::uint8_t>(state_ >> 24);
    }
    return drawn;
  }
  bool fails = false;

 private:
  std::uint32_t state_;
};

}  // namespace curfew::fakes
