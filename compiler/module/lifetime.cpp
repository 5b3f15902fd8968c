#include "compiler/module/lifetime.h"

#include <algorithm>

namespace curfew::module {

LifetimeTerms Tightened(const LifetimeTerms& terms, const PlanTemplate& granted) {
  LifetimeTerms tightened = terms;
  std::int64_t latest_ms = 0;
  if (!__builtin_add_overflow(terms.created_ms, granted.ttl_ms.most, &latest_ms)) {
    tightened.deadline_ms = std::min(terms.deadline_ms, latest_ms);
  }
  tightened.grace_ms = std::min(terms.grace_ms, granted.grace_ms);
  if (granted.idle_ms && (!terms.idle_ms || *granted.idle_ms < *terms.idle_ms)) {
    tightened.idle_ms = granted.idle_ms;
  }
  // To be closed is a nearer end than to be frozen.
  const bool closes = granted.idle_ms && granted.idle_end == IdleEnd::Close;
  if (!terms.idle_ms || closes) tightened.idle_end = granted.idle_end;
  return tightened;
}

LifetimeReading ReadLifetime(const LifetimeTerms& terms, const LifetimeFacts& facts,
                             std::int64_t now_ms) {
  LifetimeReading reading;
  // A clock that was set back makes nothing younger than new.
  reading.age_ms = std::max<std::int64_t>(0, now_ms - terms.created_ms);
  reading.ttl_left_ms = terms.deadline_ms - now_ms;
  // A busy sandbox is never idle, and a frozen one has no idleness left to end.
  const bool counts_idle = !facts.busy && !facts.frozen;
  reading.idle_ms = counts_idle ? std::max<std::int64_t>(0, now_ms - facts.last_activity_ms) : 0;

  if (now_ms >= terms.deadline_ms + terms.grace_ms) {
    reading.state = LifetimeState::Over;
    return reading;
  }
  if (now_ms >= terms.deadline_ms) {
    reading.state = LifetimeState::Grace;
    reading.next_ms = terms.deadline_ms + terms.grace_ms;
    return reading;
  }
  if (counts_idle && terms.idle_ms && reading.idle_ms >= *terms.idle_ms) {
    reading.state = LifetimeState::IdleEnd;
    reading.next_ms = terms.deadline_ms;
    return reading;
  }
  reading.state = LifetimeState::Authority;
  reading.next_ms = terms.deadline_ms;
  if (counts_idle && terms.idle_ms) {
    reading.next_ms = std::min(terms.deadline_ms, facts.last_activity_ms + *terms.idle_ms);
  }
  return reading;
}

}  // namespace curfew::module
