// What time does to a sandbox, as one pure function: the in-language tests and the runtime's
// lifecycle both ask here, so that they cannot differ. All times are milliseconds on one monotonic
// clock that counts while the machine sleeps.
#pragma once

#include "compiler/module/plan_template.h"

#include <cstdint>
#include <optional>

namespace curfew::module {

// Fixed when the sandbox is created, but for what a reload brings nearer.
struct LifetimeTerms {
  std::int64_t created_ms = 0;
  std::int64_t deadline_ms = 0;         // authority is held while now < deadline
  std::int64_t grace_ms = 0;            // exports may finish until deadline + grace
  std::optional<std::int64_t> idle_ms;  // without: idleness ends nothing
  IdleEnd idle_end = IdleEnd::Close;
  std::optional<std::int64_t> frozen_ms = {};  // without: it may stay frozen until the deadline
};

// The terms of a sandbox that runs, under another policy set that grants its class this: an end can
// only come nearer (language.md section 6.12).
LifetimeTerms Tightened(const LifetimeTerms& terms, const PlanTemplate& granted);

// What has happened to it so far.
struct LifetimeFacts {
  std::int64_t last_activity_ms = 0;  // the latest end of an exec, or input from outside
  bool busy = false;                  // an exec or terminal from outside still runs
  std::optional<std::int64_t> frozen_since_ms = {};  // while it is frozen
};

enum class LifetimeState : std::uint8_t {
  Authority,  // running (or frozen) with authority
  IdleEnd,    // idleness has ended it: what `idle_end` says is due
  Grace,      // authority is over: no egress, no token; exports may finish
  Over        // everything must be gone; also what was frozen for longer than it may be
};

struct LifetimeReading {
  LifetimeState state = LifetimeState::Over;
  std::int64_t age_ms = 0;
  std::int64_t idle_ms = 0;
  std::int64_t ttl_left_ms = 0;  // negative once the deadline has passed
  // When the reading can next change by itself, or nothing where only an event can change it.
  std::optional<std::int64_t> next_ms;
};

LifetimeReading ReadLifetime(const LifetimeTerms& terms, const LifetimeFacts& facts,
                             std::int64_t now_ms);

}  // namespace curfew::module
