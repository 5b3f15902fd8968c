// Finishes what a keeper began and does not end: it is dead, or lives on (stopped, stuck) although
// everything should long be gone. Such a one is killed. Then, for every sandbox of this state
// directory that is still open although its keeper is gone: its machine and whatever shares its
// control groups are killed, the groups and temporary files removed, its tokens revoked, and its
// books closed with a receipt that says so. Repeating it is right, and so is dying in its midst. It
// touches nothing that its own store does not name.
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

enum class SweptWhy { KeeperLost, Overdue, LookedAgain };
struct Swept {
  std::string sandbox_id;
  SweptWhy why = SweptWhy::KeeperLost;
  evidence::Cleanness verdict = evidence::Cleanness::Unknown;
};
struct SweepReport {
  std::vector<std::string> overdue;  // those whose keeper was ended
  std::vector<Swept> closed;
  // Sandboxes that could not be finished, each with what stood in the way. They stay open and the
  // next sweep tries again.
  std::vector<Failure> failures;
};

inline constexpr std::string_view KeeperLost =
    "the keeper of this sandbox ended before its work was done; a later sweep closed the books";

inline constexpr std::string_view OverdueReason = "overdue";  // why it is closed, in the store
inline constexpr std::string_view KeeperOverdue =
    "the keeper of this sandbox had not ended it in time; a sweep ended the keeper and closed the "
    "books";

// Also those in quarantine, to look again, if `quarantined_too`.
Result<SweepReport> Sweep(const SweepTools& tools, bool quarantined_too);

// Whether somebody is still responsible for an open sandbox.
Result<bool> KeeperLives(host::Processes& processes, const host::Clock& clock,
                         const store::Sandbox& sandbox);

// What is left until the deadline of an open sandbox; negative after it. Nothing where it has none
// or this is another boot than the one in which it means something.
std::optional<std::int64_t> TimeLeftMs(const host::Clock& clock, const store::Sandbox& sandbox);
// An open sandbox whose deadline, grace and margins are past (or which came to none for long):
// whoever keeps it does not.
bool IsOverdue(const host::Clock& clock, const store::Sandbox& sandbox);

}  // namespace curfew::lifecycle
