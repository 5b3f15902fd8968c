// A sandbox's time on a real clock: the terms of its plan, what has happened since, and what that
// means now. What time does is compiler/module/lifetime.h; this only feeds it.
#pragma once

#include "compiler/module/lifetime.h"
#include "runtime/evidence/receipt.h"
#include "runtime/host/clock.h"

#include <cstdint>
#include <optional>

namespace curfew::lifecycle {

// What ends a sandbox takes a moment, and each of those who end it waits for the one before: the
// keeper acts when the grace is over; EndMarginMs after that the watchdog kills the machine; and
// KeeperMarginMs after that the keeper is overdue, and a sweep ends it and closes the books.
inline constexpr std::int64_t EndMarginMs = evidence::OverrunMaxMs;
inline constexpr std::int64_t KeeperMarginMs = 20'000;
// A keeper that has no deadline yet holds nothing, and is about to decide.
inline constexpr std::int64_t UndecidedMaxMs = 300'000;

class LifetimeWatch {
 public:
  LifetimeWatch(const host::Clock& clock, const module::LifetimeTerms& terms)
      : clock_(clock), terms_(terms) {
    facts_.last_activity_ms = clock.MonotonicNowMs();
  }

  // A command from outside begins or ends, or something comes in. While one runs nothing is idle.
  void Begin() { ++running_; }
  void End() {
    if (running_ > 0) --running_;
    Touch();
  }
  void Touch() { facts_.last_activity_ms = clock_.MonotonicNowMs(); }

  [[nodiscard]] module::LifetimeReading Read() const {
    module::LifetimeFacts facts = facts_;
    facts.busy = running_ > 0;
    return module::ReadLifetime(terms_, facts, clock_.MonotonicNowMs());
  }
  // Another policy set is in force.
  void Tighten(const module::PlanTemplate& granted) { terms_ = module::Tightened(terms_, granted); }

  [[nodiscard]] const module::LifetimeTerms& terms() const { return terms_; }

 private:
  const host::Clock& clock_;
  module::LifetimeTerms terms_;
  module::LifetimeFacts facts_;
  int running_ = 0;
};

}  // namespace curfew::lifecycle
