// Where the gateway says what went out, what did not, and why. Called on the gateway's own thread.
#pragma once

#include "runtime/egress/facts.h"

#include <cstdint>
#include <string>

namespace curfew::egress {

// One request, or one stream, from its first byte to its last.
struct Flow {
  EgressFacts facts;             // as last judged
  gate::Answer answer;           // what decided: an allow, or the denial that refused or cut it
  std::int64_t started_ms = 0;   // wall time
  std::int64_t duration_ms = 0;  // monotonic
  std::uint64_t bytes_out = 0;   // of bodies and streams, to the upstream
  std::uint64_t bytes_in = 0;
  unsigned status = 0;  // what the guest was answered in HTTP; 0 without
  std::string end;  // how it ended, where not as it should: "the upstream gave no answer in time"

  // A rule kept it from going out, or from going on. One that was never judged was not refused.
  [[nodiscard]] bool is_refused() const { return !answer.allowed && !answer.reasons.empty(); }
};

// What was refused, when and why: one line without its newline, safe to print, for the task to read
// inside (/run/curfew/denials).
std::string DenialLine(std::int64_t wall_ms, const EgressFacts& facts, const gate::Answer& answer);

class Records {
 public:
  virtual ~Records() = default;
  // Once for each flow, when it is over and before the guest is told.
  virtual void Add(const Flow& flow) = 0;
  // A refusal that no flow stands for.
  virtual void Denied(std::string line) = 0;
  // Every Core::TickMs or so: the time to write what was put off.
  virtual void OnTick() = 0;
};

}  // namespace curfew::egress
