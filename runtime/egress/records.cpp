#include "runtime/egress/records.h"

#include "compiler/base/text.h"
#include "runtime/host/clock.h"

#include <fmt/format.h>

namespace curfew::egress {

std::string DenialLine(std::int64_t wall_ms, const EgressFacts& facts, const gate::Answer& answer) {
  std::string line = fmt::format("{} {}: refused", host::Rfc3339(wall_ms),
                                 facts.port == 0 ? "request" : Describe(facts));
  for (const gate::Reason& reason : answer.reasons) {
    line += fmt::format("{} {}", &reason == answer.reasons.data() ? " by" : ";",
                        gate::Describe(reason));
  }
  return Printable(line, 2048);
}

}  // namespace curfew::egress
