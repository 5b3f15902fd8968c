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
  if (granted.frozen_ms && (!terms.frozen_ms || *granted.frozen_ms < *terms.frozen_ms)) {
    tightened.frozen_ms = granted.frozen_ms;
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
  // A busy sandbox is never idle; the idleness of a frozen one stands still, and ends nothing more.
  if (!facts.busy) {
    const std::int64_t until_ms = std::min(now_ms, facts.frozen_since_ms.value_or(now_ms));
    reading.idle_ms = std::max<std::int64_t>(0, until_ms - facts.last_activity_ms);
  }
  const bool ends_idle = !facts.busy && !facts.frozen_since_ms && terms.idle_ms;
  std::optional<std::int64_t> thaws_until_ms;
  if (facts.frozen_since_ms && terms.frozen_ms) {
    thaws_until_ms = *facts.frozen_since_ms + *terms.frozen_ms;
  }

  if (now_ms >= terms.deadline_ms + terms.grace_ms ||
      (thaws_until_ms && now_ms > *thaws_until_ms)) {
    reading.state = LifetimeState::Over;
    return reading;
  }
  if (now_ms >= terms.deadline_ms) {
    reading.state = LifetimeState::Grace;
    reading.next_ms = terms.deadline_ms + terms.grace_ms;
    return reading;
  }
  if (ends_idle && reading.idle_ms >= *terms.idle_ms) {
    reading.state = LifetimeState::IdleEnd;
    reading.next_ms = terms.deadline_ms;
    return reading;
  }
  reading.state = LifetimeState::Authority;
  reading.next_ms = terms.deadline_ms;
  if (ends_idle) {
    reading.next_ms = std::min(terms.deadline_ms, facts.last_activity_ms + *terms.idle_ms);
  }
  if (thaws_until_ms) reading.next_ms = std::min(terms.deadline_ms, *thaws_until_ms + 1);
  return reading;
}

}  // namespace curfew::module
