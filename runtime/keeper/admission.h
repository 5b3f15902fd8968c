// From the first packet to an answer: everything that must be there before a sandbox may exist, and
// the decision whether it may. Nothing of the sandbox is acquired here but its books.
#pragma once

#include "runtime/gate/gate.h"
#include "runtime/host/linux/export_directory.h"
#include "runtime/host/linux/sealed_memory.h"
#include "runtime/host/state_directory.h"
#include "runtime/keeper/keeper.h"
#include "runtime/keeper/questions.h"
#include "runtime/lifecycle/books.h"
#include "runtime/machine/capabilities.h"

#include <memory>
#include <optional>
#include <set>

namespace curfew::keeper {

// Puts each decision into the sandbox's records. A create is on the disk before it takes effect.
class RecordedDecisions final : public gate::DecisionSink {
 public:
  RecordedDecisions(lifecycle::Books& books, const gate::PolicyInForce& policy)
      : books_(books), policy_(policy) {}
  Outcome Record(const gate::Answer& answer, const module::Request* request) override;

 private:
  lifecycle::Books& books_;
  const gate::PolicyInForce& policy_;
};

// A module in memory that nobody can change, proven, and the engine over it.
struct LoadedPolicy {
  std::unique_ptr<host::SealedMemory> bytes;
  std::unique_ptr<module::DecisionEngine> engine;
  std::string why_not_native;  // empty where native code decides
};
Result<LoadedPolicy> LoadPolicy(World& world, const HandedPolicy& handed, std::uint64_t generation);

// What a keeper holds from its first packet on. Later members rest on earlier ones.
struct Admission {
  CreateMessage message;
  host::StateDirectory state;
  LoadedPolicy loaded;
  std::unique_ptr<gate::PolicyInForce> policy;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<evidence::SigningKey> receipt_key;
  std::unique_ptr<evidence::SigningKey> token_key;
  Caller caller;
  machine::Capabilities machine;
  std::set<std::string, std::less<>> capabilities;  // words of module/capability.h
  std::unique_ptr<Questions> questions;
  std::unique_ptr<lifecycle::Books> books;  // not there while nothing is on record
  std::unique_ptr<RecordedDecisions> decisions;
  std::unique_ptr<gate::Gate> gate;
  std::optional<host::ExportDirectory> exports;
  OwnedFd dial_from;  // a network namespace, where another than the keeper's is to be dialled from
  std::optional<std::string> invalid;  // why what was asked makes no request
};

// A Failure: nothing was begun. After success the sandbox is in the store, `requested`, with this
// process as its keeper.
Result<std::unique_ptr<Admission>> Admit(World& world, int control, CreateMessage message,
                                         std::vector<OwnedFd> descriptors);

// Asks the gate; `permit` is there when the sandbox may exist.
gate::Decision<schema::Action::Create> AskToCreate(Admission& admission);

// A uid for the machine that no open sandbox of this host's store has.
Result<std::uint32_t> ChooseMachineUid(store::Store& store, const Incarnation& sandbox);

// `judges_egress`: a wire can be made here, and somebody answers on it.
std::set<std::string, std::less<>> CapabilityWords(const machine::Capabilities& machine,
                                                   bool judges_egress);

}  // namespace curfew::keeper
