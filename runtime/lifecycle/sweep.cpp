#include "runtime/lifecycle/sweep.h"

#include "runtime/lifecycle/lifetime_watch.h"
#include "runtime/lifecycle/records.h"

#include <csignal>
#include <map>

#include <fmt/format.h>

namespace curfew::lifecycle {

using evidence::RecordKind;
using store::SandboxState;

namespace {

constexpr int EndedWithinMs = 5'000;
constexpr int LookEveryMs = 20;

// Kills exactly this process and waits for its end. True when nothing of it runs any more, also if
// its parent takes its time to wait for it: a dead process holds nothing.
Result<bool> Kill(const SweepTools& tools, const host::ProcessIdentity& identity) {
  host::Processes& processes = tools.office.processes;
  CURFEW_TRY(const bool was_there, processes.Signal(identity, SIGKILL));
  static_cast<void>(was_there);
  for (int waited_ms = 0; waited_ms < EndedWithinMs; waited_ms += LookEveryMs) {
    CURFEW_TRY(const bool lives, processes.IsAlive(identity));
    if (!lives) return true;
    tools.pause(LookEveryMs);
  }
  return false;
}

// One sandbox whose keeper is gone.
class Salvage {
 public:
  Salvage(const SweepTools& tools, Books& books, const store::Sandbox& sandbox)
      : tools_(tools), office_(tools.office), books_(books), sandbox_(sandbox) {}

  Result<evidence::Cleanness> Finish(SweptWhy why) {
    if (sandbox_.state == SandboxState::Quarantined) return LookAgain();
    const std::string note(why == SweptWhy::Overdue ? KeeperOverdue : KeeperLost);
    CURFEW_TRY(const std::optional<evidence::Receipt> closed, books_.TakeOver(note));
    if (closed) return closed->verdict();
    books_.BeginClosing(sandbox_.close_reason.empty() ? "keeper lost" : sandbox_.close_reason);
    const Outcome cleared = Clear();
    return Close(note, cleared);
  }

 private:
  // A second receipt is written only if it says something better than the first.
  Result<evidence::Cleanness> LookAgain() {
    const Outcome cleared = Clear();
    CURFEW_TRY(const evidence::ResidueReport left, books_.Search({}));
    if (!cleared || left.verdict() != evidence::Cleanness::Clean) {
      return cleared ? left.verdict() : evidence::Cleanness::Unknown;
    }
    const std::string note = "looked at again after a quarantine";
    CURFEW_TRY(const std::optional<evidence::Receipt> closed, books_.TakeOver(note));
    if (closed) return closed->verdict();
    books_.BeginClosing(sandbox_.close_reason);
    return Close(note, cleared);
  }

  Outcome Clear() {
    CURFEW_TRY(const int revoked,
               office_.store.RevokeTokens(sandbox_.incarnation, office_.clock.WallNowMs()));
    static_cast<void>(revoked);
    office_.checkpoint("revoked");
    const Outcome killed = KillProcesses();
    const Outcome cleared = tools_.remove_cgroups(sandbox_.incarnation.id);
    office_.checkpoint("cleared");
    return killed ? cleared : killed;
  }

  Result<evidence::Cleanness> Close(const std::string& note, const Outcome& cleared) {
    CURFEW_TRY_VOID(EndSteps(cleared));
    CURFEW_TRY(const evidence::Receipt receipt, books_.Close(note, {}));
    return receipt.verdict();
  }

  // Machine and watchdog, by their exact identities, and only in the boot in which those were
  // taken. What does not end the search finds.
  Outcome KillProcesses() {
    if (sandbox_.boot_id != office_.clock.BootId()) return Ok();
    CURFEW_TRY(const evidence::ResidueQuery query,
               ResidueQueryOf(office_.store, office_.state, sandbox_));
    for (const host::ProcessIdentity& identity : query.processes) {
      CURFEW_TRY(const bool ended, Kill(tools_, identity));
      static_cast<void>(ended);
      const Result<host::ProcessStat> stat = office_.processes.StatOf(identity.pid);
      if (stat && stat->identity == identity && stat->is_dead()) {
        deaths_[fmt::format("{}/{}", identity.pid, identity.start_ticks)] =
            host::DescribeDeath(*stat);
      }
    }
    return Ok();
  }

  // Each step that was begun is over. What its resources were the journal knows; that they are gone
  // follows from what they are: without their process and control groups no descriptor, memory or
  // unnamed file of theirs remains, and the search that follows looks at the host itself.
  Outcome EndSteps(const Outcome& gone) {
    CURFEW_TRY(const std::vector<store::JournalEntry> open,
               office_.store.OpenSteps(sandbox_.incarnation));
    for (const store::JournalEntry& entry : open) {
      CURFEW_TRY(const std::vector<execute::Resource> resources, ParseResources(entry.resource));
      std::vector<execute::Ended> ended;
      for (const execute::Resource& resource : resources) {
        ended.push_back({.resource = resource,
                         .fate = gone ? execute::Fate::Destroyed : execute::Fate::Unknown,
                         .detail = gone ? HowItEnded(resource) : gone.error().message});
      }
      CURFEW_TRY_VOID(books_.Append(RecordKind::Step, StepUndone(entry.kind, ended)));
      if (!gone) continue;
      CURFEW_TRY_VOID(
          office_.store.Record(sandbox_.incarnation, {.sequence = 0,
                                                      .step = entry.step,
                                                      .kind = entry.kind,
                                                      .phase = store::StepPhase::Undone,
                                                      .resource = "[]",
                                                      .at_ms = office_.clock.WallNowMs()}));
    }
    return Ok();
  }

  std::string HowItEnded(const execute::Resource& resource) const {
    const auto death = deaths_.find(resource.identity);
    return std::string("by a sweep, after the keeper was lost") +
           (death == deaths_.end() ? "" : "; " + death->second);
  }

  const SweepTools& tools_;
  const Office& office_;
  Books& books_;
  const store::Sandbox& sandbox_;
  std::map<std::string, std::string> deaths_;  // of dead processes that nobody waited for yet
};

// Nothing when somebody else holds the books or has closed them by now.
Result<std::optional<Swept>> FinishOne(const SweepTools& tools, const Incarnation& incarnation,
                                       SweptWhy why) {
  Result<Books> books = Books::Open(tools.office, incarnation);
  if (!books && books.error().code == FailureCode::Busy) return std::optional<Swept>();
  if (!books) return std::move(books).error();
  // Read again under the lock.
  CURFEW_TRY(const store::Sandbox sandbox, tools.office.store.Find(incarnation));
  if (!store::IsOpen(sandbox.state) && sandbox.state != SandboxState::Quarantined) {
    CURFEW_TRY_VOID(tools.office.state.RemoveTemporary(tools.office.files, incarnation.id));
    return std::optional<Swept>();
  }
  // Ended by another sweep than this one, perhaps, which then died or came second.
  if (sandbox.close_reason == OverdueReason) why = SweptWhy::Overdue;
  CURFEW_TRY(const evidence::Cleanness verdict, Salvage(tools, *books, sandbox).Finish(why));
  return std::optional<Swept>({.sandbox_id = incarnation.id, .why = why, .verdict = verdict});
}

// Nothing when its keeper keeps it, as it should.
Result<std::optional<Swept>> SweepOne(const SweepTools& tools, const store::Sandbox& sandbox,
                                      SweepReport& report) {
  const Office& office = tools.office;
  if (sandbox.state == SandboxState::Quarantined) {
    return FinishOne(tools, sandbox.incarnation, SweptWhy::LookedAgain);
  }
  CURFEW_TRY(const bool lives, KeeperLives(office.processes, office.clock, sandbox));
  if (!lives) return FinishOne(tools, sandbox.incarnation, SweptWhy::KeeperLost);
  if (!IsOverdue(office.clock, sandbox)) return std::optional<Swept>();
  // Said before it is done: whoever finds the keeper dead closes the books with this reason.
  CURFEW_TRY_VOID(office.store.SetCloseReason(sandbox.incarnation, std::string(OverdueReason)));
  CURFEW_TRY(const bool ended, Kill(tools, *sandbox.keeper));
  if (!ended) {
    return Failure(FailureCode::Busy,
                   fmt::format("its time is over, and its keeper (process {}) does not end; if it "
                               "waits for a disk, cure that and repeat",
                               sandbox.keeper->pid));
  }
  report.overdue.push_back(sandbox.incarnation.id);
  office.checkpoint("keeper.ended");
  return FinishOne(tools, sandbox.incarnation, SweptWhy::Overdue);
}

}  // namespace

Result<bool> KeeperLives(host::Processes& processes, const host::Clock& clock,
                         const store::Sandbox& sandbox) {
  if (!sandbox.keeper || sandbox.boot_id != clock.BootId()) return false;
  return processes.IsAlive(*sandbox.keeper);
}

std::optional<std::int64_t> TimeLeftMs(const host::Clock& clock, const store::Sandbox& sandbox) {
  if (!sandbox.deadline_boot_ms || !store::IsOpen(sandbox.state) ||
      sandbox.boot_id != clock.BootId()) {
    return std::nullopt;
  }
  return *sandbox.deadline_boot_ms - clock.MonotonicNowMs();
}

bool IsOverdue(const host::Clock& clock, const store::Sandbox& sandbox) {
  if (const std::optional<std::int64_t> left = TimeLeftMs(clock, sandbox)) {
    return *left + sandbox.grace_ms + EndMarginMs + KeeperMarginMs < 0;
  }
  if (!sandbox.keeper || !store::IsOpen(sandbox.state) || sandbox.boot_id != clock.BootId()) {
    return false;
  }
  const std::int64_t began_ms =
      static_cast<std::int64_t>(sandbox.keeper->start_ticks) * host::TickMs;
  return clock.MonotonicNowMs() - began_ms > UndecidedMaxMs;
}

Result<SweepReport> Sweep(const SweepTools& tools, bool quarantined_too) {
  CURFEW_TRY(const std::vector<store::Sandbox> sandboxes,
             tools.office.store.List(!quarantined_too));
  SweepReport report;
  for (const store::Sandbox& sandbox : sandboxes) {
    const bool again = quarantined_too && sandbox.state == SandboxState::Quarantined;
    if (!store::IsOpen(sandbox.state) && !again) continue;
    Result<std::optional<Swept>> swept = SweepOne(tools, sandbox, report);
    if (!swept) {
      report.failures.push_back(std::move(swept).error().In(sandbox.incarnation.id));
    } else if (*swept) {
      report.closed.push_back(**swept);
    }
  }
  return report;
}

}  // namespace curfew::lifecycle
