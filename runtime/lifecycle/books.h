// The books of one sandbox while somebody is responsible for it: its row and journal in the store,
// its chain of records, and the act that closes them. The keeper holds them; after its death a
// sweep does. Whoever holds them holds the chain's lock, so there is only ever one.
#pragma once

#include "runtime/evidence/chain.h"
#include "runtime/evidence/receipt.h"
#include "runtime/evidence/residue.h"
#include "runtime/evidence/signing_key.h"
#include "runtime/execute/executor.h"
#include "runtime/host/clock.h"
#include "runtime/host/files.h"
#include "runtime/host/processes.h"
#include "runtime/host/state_directory.h"
#include "runtime/store/store.h"

#include <functional>
#include <string>
#include <vector>

namespace curfew::lifecycle {

// What the books are kept with. All of it outlives them.
struct Office {
  host::Files& files;
  host::Processes& processes;
  const host::Clock& clock;
  const host::StateDirectory& state;
  store::Store& store;
  const evidence::SigningKey& key;
  // The search of this host for what is left.
  std::function<evidence::ResidueReport(const evidence::ResidueQuery&)> search;
  execute::Checkpoint checkpoint;
};

class Books final : public execute::Journal {
 public:
  // Takes over the books of a sandbox that is in the store; begins them if nobody did. Busy when
  // somebody holds them.
  static Result<Books> Open(Office office, const Incarnation& incarnation);

  Outcome Append(evidence::RecordKind kind, const evidence::Json& facts,
                 evidence::Durability durability = evidence::Durability::SurvivesProcess);

  // execute::Journal. Intend also makes the sandbox `creating`, with its deadline.
  Outcome Intend(const plan::Plan& plan) override;
  Outcome Begin(std::uint32_t index, const plan::Step& step) override;
  Outcome Done(std::uint32_t index, const plan::Step& step,
               const std::vector<execute::Resource>& resources) override;
  Outcome Undone(std::uint32_t index, const plan::Step& step,
                 const std::vector<execute::Ended>& ended) override;

  // The end begins: on record, in the store, and with the space that was kept for it. Goes on past
  // what fails: the end must not depend on a disk that is full.
  void BeginClosing(std::string_view reason);

  // For whoever holds the books after the keeper. Where a receipt already covers all that is on
  // record (its writer died a moment later), that one closes an open sandbox: there are never two.
  // Otherwise the records go on with a `reopened` record, which names the receipt that stands, if
  // one does; it stays as evidence beside the next one, which supersedes it.
  Result<std::optional<evidence::Receipt>> TakeOver(const std::string& why);

  // What is left of it on this host now.
  Result<evidence::ResidueReport> Search(const std::vector<host::ProcessIdentity>& excused);

  // Everything is given back: searches, writes the receipt, and closes the sandbox (or puts it in
  // quarantine when something is not shown to be gone). `keeper_note` is empty where its keeper
  // ended it. `excused` processes rightly name the sandbox.
  Result<evidence::Receipt> Close(std::string keeper_note,
                                  const std::vector<host::ProcessIdentity>& excused);

  [[nodiscard]] const Incarnation& incarnation() const { return chain_.incarnation(); }

 private:
  Books(Office office, evidence::ChainWriter chain)
      : office_(std::move(office)), chain_(std::move(chain)) {}
  Outcome RecordTheRest();
  Outcome Settle(const evidence::Receipt& receipt);
  Outcome Enter(std::uint32_t index, const plan::Step& step, store::StepPhase phase,
                std::string resource);

  struct UndoneStep {
    std::uint32_t index;
    plan::Step step;
    std::vector<execute::Ended> ended;
  };

  Office office_;
  evidence::ChainWriter chain_;
  std::vector<UndoneStep> unrecorded_;  // a full disk may have room again by the end
};

// What a search for the residue of this sandbox must know, from its row and its journal. Resources
// of the class "disk" have the identity "DEVICE:INODE", "machine" and "watchdog" "PID/START",
// "cgroup" a path, "network-namespace" "INODE/COOKIE".
Result<evidence::ResidueQuery> ResidueQueryOf(store::Store& store,
                                              const host::StateDirectory& state,
                                              const store::Sandbox& sandbox);

}  // namespace curfew::lifecycle
