// How a sandbox's flows are put on record. The same refusal again and again is not written again
// and again: the first of a kind is a record of its own, at once; those like it within a few
// seconds are one more, which says how many there were. So a guest that insists fills neither its
// chain nor the keeper's time, and no refusal is left out of any count.
#pragma once

#include "runtime/egress/records.h"
#include "runtime/host/clock.h"

#include <cstdint>
#include <deque>
#include <functional>

namespace curfew::keeper {

// Not locked: whoever holds it holds the lock of the books (gateway.h).
class FlowBook {
 public:
  // How long refusals of one kind are counted together, and how many kinds at once; what comes
  // beyond is written one by one. What is counted and not yet written dies with this process.
  static constexpr std::int64_t TogetherMs = 5'000;
  static constexpr std::size_t KindsMax = 64;

  // A flow, or so many refusals that are alike: from the first's start to the last's end.
  using Write = std::function<void(const egress::Flow& flow, std::uint64_t times)>;

  // The clock outlives this.
  FlowBook(const host::Clock& clock, Write write) : clock_(clock), write_(std::move(write)) {}

  void Add(const egress::Flow& flow);
  // Writes what was counted for long enough, or all of it.
  void WriteDue();
  void WriteAll();

 private:
  // A refusal on record, and how many came after it that are like it in all that a record tells of
  // them but their time.
  struct Kind {
    egress::Flow flow;  // with the times of the first that is counted
    std::int64_t began_ms = 0;
    std::int64_t last_wall_ms = 0;
    std::uint64_t times = 0;
  };

  Kind* Alike(const egress::Flow& flow);
  void WriteOldest();

  const host::Clock& clock_;
  Write write_;
  std::deque<Kind> kinds_;  // the oldest first
};

}  // namespace curfew::keeper
