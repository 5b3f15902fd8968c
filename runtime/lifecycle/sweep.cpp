#include "runtime/lifecycle/sweep.h"

#include "runtime/lifecycle/records.h"

#include <csignal>

namespace curfew::lifecycle {

using evidence::RecordKind;
using store::SandboxState;

namespace {

constexpr int ReapedWithinMs = 20'000;
constexpr int LookEveryMs = 20;

// One sandbox whose keeper is gone.
class Salvage {
 public:
  Salvage(const SweepTools& tools, Books& books, const store::Sandbox& sandbox)
      : tools_(tools), office_(tools.office), books_(books), sandbox_(sandbox) {}

  Result<evidence::Receipt> Finish() {
    const std::string note = sandbox_.state == SandboxState::Quarantined
                                 ? std::string("looked at again after a quarantine")
                                 : std::string(KeeperLost);
    static_cast<void>(books_.Append(RecordKind::Note, {{"note", note}}));
    books_.BeginClosing(sandbox_.close_reason.empty() ? "keeper lost" : sandbox_.close_reason);
    CURFEW_TRY(const int revoked,
               office_.store.RevokeTokens(sandbox_.incarnation, office_.clock.WallNowMs()));
    static_cast<void>(revoked);
    office_.checkpoint("revoked");
    const Outcome killed = KillMachine();
    const Outcome cleared = tools_.remove_cgroups(sandbox_.incarnation.id);
    office_.checkpoint("cleared");
    CURFEW_TRY_VOID(EndSteps(killed ? cleared : killed));
    return books_.Close(note, {});
  }

 private:
  // By its exact identity, and only in the boot in which that was taken.
  Outcome KillMachine() {
    if (!sandbox_.machine || sandbox_.boot_id != office_.clock.BootId()) return Ok();
    Result<bool> signalled = office_.processes.Signal(*sandbox_.machine, SIGKILL);
    if (!signalled) return std::move(signalled).error();
    // Its parent died before it, so that the host's init must wait for it: some take their time.
    for (int i = 0; i < ReapedWithinMs / LookEveryMs; ++i) {
      const Result<host::ProcessStat> stat = office_.processes.StatOf(sandbox_.machine->pid);
      if (!stat || stat->identity != *sandbox_.machine) return Ok();
      tools_.pause(LookEveryMs);
    }
    return Ok();  // the search finds it
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
        ended.push_back(
            {.resource = resource,
             .fate = gone ? execute::Fate::Destroyed : execute::Fate::Unknown,
             .detail = gone ? "by a sweep, after the keeper was lost" : gone.error().message});
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

  const SweepTools& tools_;
  const Office& office_;
  Books& books_;
  const store::Sandbox& sandbox_;
};

// Nothing when somebody else holds the books or has closed them by now.
Result<std::optional<Swept>> FinishOne(const SweepTools& tools, const Incarnation& incarnation) {
  Result<Books> books = Books::Open(tools.office, incarnation);
  if (!books && books.error().code == FailureCode::Busy) return std::optional<Swept>();
  if (!books) return std::move(books).error();
  // Read again under the lock.
  CURFEW_TRY(const store::Sandbox sandbox, tools.office.store.Find(incarnation));
  if (!store::IsOpen(sandbox.state) && sandbox.state != SandboxState::Quarantined) {
    CURFEW_TRY_VOID(tools.office.state.RemoveTemporary(tools.office.files, incarnation.id));
    return std::optional<Swept>();
  }
  CURFEW_TRY(const evidence::Receipt receipt, Salvage(tools, *books, sandbox).Finish());
  return std::optional<Swept>({.sandbox_id = incarnation.id, .verdict = receipt.verdict()});
}

}  // namespace

Result<bool> KeeperLives(host::Processes& processes, const host::Clock& clock,
                         const store::Sandbox& sandbox) {
  if (!sandbox.keeper || sandbox.boot_id != clock.BootId()) return false;
  return processes.IsAlive(*sandbox.keeper);
}

Result<SweepReport> Sweep(const SweepTools& tools, bool quarantined_too) {
  CURFEW_TRY(const std::vector<store::Sandbox> sandboxes,
             tools.office.store.List(!quarantined_too));
  SweepReport report;
  for (const store::Sandbox& sandbox : sandboxes) {
    const bool again = quarantined_too && sandbox.state == SandboxState::Quarantined;
    if (!store::IsOpen(sandbox.state) && !again) continue;
    Result<bool> lives = KeeperLives(tools.office.processes, tools.office.clock, sandbox);
    if (lives && *lives) continue;
    if (!lives) {
      report.failures.push_back(std::move(lives).error().In(sandbox.incarnation.id));
      continue;
    }
    Result<std::optional<Swept>> swept = FinishOne(tools, sandbox.incarnation);
    if (!swept) {
      report.failures.push_back(std::move(swept).error().In(sandbox.incarnation.id));
    } else if (*swept) {
      report.closed.push_back(**swept);
    }
  }
  return report;
}

}  // namespace curfew::lifecycle
