#include "runtime/lifecycle/books.h"

#include "runtime/evidence/seal.h"
#include "runtime/evidence/standing.h"
#include "runtime/lifecycle/records.h"

#include <algorithm>
#include <charconv>

namespace curfew::lifecycle {

using evidence::Durability;
using evidence::RecordKind;
using store::SandboxState;
using store::StepPhase;

namespace {

std::optional<std::pair<std::uint64_t, std::uint64_t>> TwoNumbers(std::string_view text,
                                                                  char between) {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  const char* end = text.data() + text.size();
  const auto [middle, error] = std::from_chars(text.data(), end, first);
  if (error != std::errc() || middle == end || *middle != between) return std::nullopt;
  const auto [last, second_error] = std::from_chars(middle + 1, end, second);
  if (second_error != std::errc() || last != end) return std::nullopt;
  return std::pair(first, second);
}

void AddResource(evidence::ResidueQuery& query, const execute::Resource& resource) {
  if (resource.resource_class == "cgroup") query.cgroups.push_back(resource.identity);
  if (resource.resource_class == "disk") {
    if (const auto identity = TwoNumbers(resource.identity, ':')) {
      query.disks.push_back({.device = identity->first, .inode = identity->second});
    }
  }
  if (resource.resource_class == "network-namespace") {
    if (const auto identity = TwoNumbers(resource.identity, '/')) {
      query.networks.push_back({.inode = identity->first, .cookie = identity->second});
    }
  }
  if (resource.resource_class == "machine" || resource.resource_class == "watchdog") {
    if (const auto identity = TwoNumbers(resource.identity, '/')) {
      query.processes.push_back(
          {.pid = static_cast<pid_t>(identity->first), .start_ticks = identity->second});
    }
  }
}

}  // namespace

Result<evidence::ResidueQuery> ResidueQueryOf(store::Store& store,
                                              const host::StateDirectory& state,
                                              const store::Sandbox& sandbox) {
  evidence::ResidueQuery query;
  query.sandbox_id = sandbox.incarnation.id;
  query.boot_id = sandbox.boot_id;
  // Whatever belongs to a sandbox began after its keeper did.
  if (sandbox.keeper) {
    query.created_boot_ms = static_cast<std::int64_t>(sandbox.keeper->start_ticks) * host::TickMs;
  }
  query.machine_uid = sandbox.machine_uid;
  if (sandbox.machine) query.processes.push_back(*sandbox.machine);
  query.state_directory = state.Sandbox(sandbox.incarnation.id);
  query.directories = {state.Run(sandbox.incarnation.id)};
  query.unrevoked_tokens = [&store, incarnation = sandbox.incarnation] {
    return store.UnrevokedTokens(incarnation);
  };
  CURFEW_TRY(const std::vector<store::JournalEntry> journal, store.Journal(sandbox.incarnation));
  for (const store::JournalEntry& entry : journal) {
    if (entry.phase != StepPhase::Done) continue;
    CURFEW_TRY(const std::vector<execute::Resource> resources, ParseResources(entry.resource));
    for (const execute::Resource& resource : resources) AddResource(query, resource);
  }
  return query;
}

Result<Books> Books::Open(Office office, const Incarnation& incarnation) {
  const std::string folder = office.state.Sandbox(incarnation.id);
  if (Outcome made = office.files.MakeDirectory(folder, 0700); !made) {
    return std::move(made).error().In("the sandbox's directory");
  }
  // Before anything in it is called durable.
  CURFEW_TRY_VOID(office.files.SyncDirectory(office.state.Sandboxes()));
  // The chain's lock comes first: nobody makes or removes anything of a sandbox without it.
  CURFEW_TRY(evidence::ChainWriter chain,
             evidence::ChainWriter::Open(office.files, office.clock,
                                         office.state.Records(incarnation.id), incarnation));
  CURFEW_TRY_VOID(office.state.PrepareSandbox(office.files, incarnation.id));
  return Books(std::move(office), std::move(chain));
}

Outcome Books::Append(RecordKind kind, const evidence::Json& facts, Durability durability) {
  return chain_.Append(kind, facts, durability);
}

Outcome Books::Intend(const plan::Plan& plan) {
  return office_.store.Durably([&]() -> Outcome {
    CURFEW_TRY_VOID(office_.store.SetDeadline(incarnation(), {.wall_ms = plan.deadline_wall_ms,
                                                              .boot_ms = plan.lifetime.deadline_ms,
                                                              .grace_ms = plan.lifetime.grace_ms,
                                                              .boot_id = office_.clock.BootId()}));
    return office_.store.SetState(incarnation(), SandboxState::Creating);
  });
}

Outcome Books::Begin(std::uint32_t index, const plan::Step& step) {
  return Enter(index, step, StepPhase::Intent, "[]");
}

// One line of the journal.
Outcome Books::Enter(std::uint32_t index, const plan::Step& step, StepPhase phase,
                     std::string resource) {
  return office_.store.Record(incarnation(), {.sequence = 0,
                                              .step = index,
                                              .kind = std::string(plan::NameOf(step)),
                                              .phase = phase,
                                              .resource = std::move(resource),
                                              .at_ms = office_.clock.WallNowMs()});
}

Outcome Books::Done(std::uint32_t index, const plan::Step& step,
                    const std::vector<execute::Resource>& resources) {
  CURFEW_TRY_VOID(Enter(index, step, StepPhase::Done, ResourcesJson(resources).dump()));
  return Append(RecordKind::Step, StepDone(plan::NameOf(step), resources));
}

Outcome Books::Undone(std::uint32_t index, const plan::Step& step,
                      const std::vector<execute::Ended>& ended) {
  Outcome recorded = Append(RecordKind::Step, StepUndone(plan::NameOf(step), ended));
  // What is not shown to be gone stays open in the journal, so that a later look can end it.
  const bool is_unknown = std::any_of(ended.begin(), ended.end(), [](const execute::Ended& one) {
    return one.fate == execute::Fate::Unknown;
  });
  if (recorded && is_unknown) return recorded;
  if (recorded) return Enter(index, step, StepPhase::Undone, "[]");
  // The step stays open in the journal until its end is on record: here, or by a sweep.
  unrecorded_.push_back({.index = index, .step = step, .ended = ended});
  return recorded;
}

Outcome Books::RecordTheRest() {
  while (!unrecorded_.empty()) {
    const UndoneStep& late = unrecorded_.front();
    CURFEW_TRY_VOID(Append(RecordKind::Step, StepUndone(plan::NameOf(late.step), late.ended)));
    CURFEW_TRY_VOID(Enter(late.index, late.step, StepPhase::Undone, "[]"));
    unrecorded_.erase(unrecorded_.begin());
  }
  return Ok();
}

void Books::BeginClosing(std::string_view reason) {
  static_cast<void>(office_.files.Remove(office_.state.Reserve(incarnation().id)));
  chain_.BeginClosing();
  static_cast<void>(Append(RecordKind::Closing, Closing(reason)));
  static_cast<void>(office_.store.Together([&]() -> Outcome {
    CURFEW_TRY_VOID(office_.store.SetCloseReason(incarnation(), std::string(reason)));
    return office_.store.SetState(incarnation(), SandboxState::Closing);
  }));
  office_.checkpoint("closing");
}

Result<evidence::Receipt> Books::Close(std::string keeper_note,
                                       const std::vector<host::ProcessIdentity>& excused) {
  const std::string& id = incarnation().id;
  CURFEW_TRY_VOID(RecordTheRest());
  CURFEW_TRY(const evidence::ResidueReport residue, Search(excused));
  CURFEW_TRY_VOID(Append(RecordKind::Residue, Residue(residue)));
  office_.checkpoint("searched");
  CURFEW_TRY(const evidence::Chain chain,
             evidence::ReadChain(office_.files, office_.state.Records(id), incarnation()));
  CURFEW_TRY(const store::Sandbox sandbox, office_.store.Find(incarnation()));
  CURFEW_TRY(evidence::Receipt receipt,
             ReceiptOf(chain.records, sandbox, residue, std::move(keeper_note),
                       office_.clock.WallNowMs()));
  CURFEW_TRY_VOID(
      evidence::SealReceipt(office_.files, office_.state, office_.key, chain_, receipt));
  office_.checkpoint("sealed");
  CURFEW_TRY_VOID(Settle(receipt));
  office_.checkpoint("closed");
  return receipt;
}

// The sandbox is what its receipt says.
Outcome Books::Settle(const evidence::Receipt& receipt) {
  const SandboxState state = receipt.verdict() == evidence::Cleanness::Clean
                                 ? SandboxState::Closed
                                 : SandboxState::Quarantined;
  return office_.store.Durably(
      [&] { return office_.store.SetClosed(incarnation(), state, receipt.closed_ms); });
}

Result<evidence::ResidueReport> Books::Search(const std::vector<host::ProcessIdentity>& excused) {
  CURFEW_TRY_VOID(office_.state.RemoveTemporary(office_.files, incarnation().id));
  CURFEW_TRY(const store::Sandbox sandbox, office_.store.Find(incarnation()));
  CURFEW_TRY(evidence::ResidueQuery query, ResidueQueryOf(office_.store, office_.state, sandbox));
  query.excused = excused;
  return office_.search(query);
}

Result<std::optional<evidence::Receipt>> Books::TakeOver(const std::string& why) {
  CURFEW_TRY(
      const std::optional<evidence::StandingReceipt> standing,
      evidence::FindStandingReceipt(office_.files, office_.state, office_.key, incarnation()));
  CURFEW_TRY(const store::Sandbox sandbox, office_.store.Find(incarnation()));
  if (standing && store::IsOpen(sandbox.state) &&
      standing->receipt.record_count == chain_.count() &&
      standing->receipt.record_head == chain_.head()) {
    CURFEW_TRY_VOID(office_.state.RemoveTemporary(office_.files, incarnation().id));
    if (sandbox.state != SandboxState::Closing) {
      CURFEW_TRY_VOID(office_.store.SetState(incarnation(), SandboxState::Closing));
    }
    CURFEW_TRY_VOID(Settle(standing->receipt));
    return std::optional(standing->receipt);
  }
  static_cast<void>(office_.files.Remove(office_.state.Reserve(incarnation().id)));
  chain_.BeginClosing();
  evidence::Reopening reopening{.why = why, .covered = std::nullopt};
  if (standing) {
    CURFEW_TRY_VOID(evidence::KeepSuperseded(office_.files, office_.state, *standing));
    reopening.covered = {.receipt = standing->digest, .records = standing->receipt.record_count};
  }
  CURFEW_TRY_VOID(Append(RecordKind::Reopened, evidence::ReopenedFacts(reopening)));
  return std::optional<evidence::Receipt>();
}

}  // namespace curfew::lifecycle
