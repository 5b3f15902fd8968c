#include "compiler/module/lifetime.h"

#include <algorithm>

namespace curfew::module {

LifetimeReading ReadLifetime(const LifetimeTerms& terms, const LifetimeFacts& facts,
                             std::int64_t now_ms) {
  LifetimeReading reading;
  reading.age_ms = now_ms - terms.created_ms;
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
