// Finishes what a dead keeper began. For every sandbox of this state directory that is still open
// although its keeper is gone: its machine and whatever shares its control groups are killed, the
// groups and temporary files removed, its tokens revoked, and its books closed with a receipt that
// says so. Repeating it is right, and so is dying in its midst. It touches nothing that its own
// store does not name.
#pragma once

#include "runtime/lifecycle/books.h"

#include <functional>
#include <string>
#include <vector>

namespace curfew::lifecycle {

struct SweepTools {
  Office office;
  // Kills what is in the control groups of this sandbox and removes them.
  std::function<Outcome(const std::string& sandbox_id)> remove_cgroups;
  // Lets time pass.
  std::function<void(std::int64_t ms)> pause;
};

struct Swept {
  std::string sandbox_id;
  evidence::Cleanness verdict = evidence::Cleanness::Unknown;
};
struct SweepReport {
  std::vector<Swept> closed;
  // Sandboxes that could not be finished, each with what stood in the way. They stay open and the
  // next sweep tries again.
  std::vector<Failure> failures;
};

inline constexpr std::string_view KeeperLost =
    "the keeper of this sandbox ended before its work was done; a later sweep closed the books";

// Also those in quarantine, to look again, if `quarantined_too`.
Result<SweepReport> Sweep(const SweepTools& tools, bool quarantined_too);

// Whether somebody is still responsible for an open sandbox.
Result<bool> KeeperLives(host::Processes& processes, const host::Clock& clock,
                         const store::Sandbox& sandbox);

}  // namespace curfew::lifecycle
