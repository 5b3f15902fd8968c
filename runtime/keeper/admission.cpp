#include "runtime/keeper/admission.h"

#include "compiler/module/capability.h"
#include "compiler/values/principal.h"
#include "runtime/host/linux/peer.h"
#include "runtime/lifecycle/records.h"
#include "runtime/network/network.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::keeper {
namespace {

constexpr std::size_t ModuleBytesMax = std::size_t{1} << 30;
constexpr std::uint32_t MachineUidFirst = 1'610'612'736;  // far above people, services and ranges
constexpr std::uint32_t MachineUidCount = 1u << 20;       // that containers are given

Result<Caller> CallerOf(int control, const std::optional<StatedCaller>& stated) {
  CURFEW_TRY(const host::Peer peer, host::PeerOf(control));
  Caller caller{.id = peer.id,
                .kind = "human",
                .groups = peer.groups,
                .is_operator = peer.is_root,
                .pid = peer.pid,
                .uid = peer.uid};
  if (!stated) return caller;
  if (!peer.is_root) {
    return Failure(
        FailureCode::PermissionDenied,
        "only root may ask in the name of another caller; leave `caller` out of the task");
  }
  std::vector<std::string> groups = stated->groups;
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  for (const std::string& principal : groups) {
    if (!values::ParsePrincipal(principal)) {
      return Failure(FailureCode::Malformed, "a group of the stated caller is no principal");
    }
  }
  if (!values::ParsePrincipal(stated->id)) {
    return Failure(FailureCode::Malformed, "the stated caller is no principal");
  }
  if (stated->caller_kind != "human" && stated->caller_kind != "service" &&
      stated->caller_kind != "agent") {
    return Failure(FailureCode::Malformed, "the stated caller is none of human, service, agent");
  }
  return Caller{.id = stated->id,
                .kind = stated->caller_kind,
                .groups = std::move(groups),
                .is_operator = false,
                .pid = peer.pid,
                .uid = peer.uid};
}

// The row of the sandbox, as far as it is known before the decision.
store::Sandbox RowOf(const Admission& admission, World& world) {
  const module::Manifest& manifest = admission.policy->module().manifest();
  store::Sandbox row;
  row.incarnation = admission.message.sandbox;
  row.owner = admission.questions->owner();
  row.task_id = admission.questions->task_id();
  row.creator = admission.caller.id;
  row.created_ms = world.clock.WallNowMs();
  row.boot_id = world.clock.BootId();
  row.policy_digest = ToString(manifest.policy);
  row.policy_generation = manifest.generation;
  row.image_digest = admission.questions->image();
  if (Result<host::ProcessStat> self = world.processes.StatOf(world.processes.Self())) {
    row.keeper = self->identity;
  }
  return row;
}

Outcome OpenState(World& world, Admission& admission) {
  host::StateDirectory& state = admission.state;
  state.root = admission.message.state;
  CURFEW_TRY_VOID(state.Prepare(world.files));
  CURFEW_TRY(store::Store opened, store::Store::Open(state.Database()));
  admission.store = std::make_unique<store::Store>(std::move(opened));
  CURFEW_TRY(evidence::SigningKey receipts,
             evidence::SigningKey::LoadOrCreate(world.files, world.entropy, state.ReceiptKey(),
                                                state.ReceiptPublicKey()));
  admission.receipt_key = std::make_unique<evidence::SigningKey>(std::move(receipts));
  CURFEW_TRY(evidence::SigningKey tokens,
             evidence::SigningKey::LoadOrCreate(world.files, world.entropy, state.TokenKey(),
                                                state.TokenPublicKey()));
  admission.token_key = std::make_unique<evidence::SigningKey>(std::move(tokens));
  return Ok();
}

}  // namespace

Result<LoadedPolicy> LoadPolicy(World& world, const HandedPolicy& handed,
                                std::uint64_t generation) {
  LoadedPolicy loaded;
  CURFEW_TRY(host::SealedMemory mapped, host::SealedMemory::Map(handed.module, ModuleBytesMax));
  loaded.bytes = std::make_unique<host::SealedMemory>(std::move(mapped));
  CURFEW_TRY(LoadedEngine engine,
             world.load_engine(loaded.bytes->bytes(), generation, handed.native_code));
  loaded.engine = std::move(engine.engine);
  loaded.why_not_native = std::move(engine.why_not_native);
  if (!handed.native_code.is_open()) loaded.why_not_native = handed.no_native_code;
  return loaded;
}

Outcome RecordedDecisions::Record(const gate::Answer& answer, const module::Request* request) {
  Json facts = request != nullptr ? FactsOf(*request, policy_.module()) : Json(nullptr);
  const bool is_create = answer.action == schema::Action::Create;
  return books_.Append(
      evidence::RecordKind::Decision, lifecycle::Decided(answer, std::move(facts)),
      is_create ? evidence::Durability::SurvivesPower : evidence::Durability::SurvivesProcess);
}

Result<std::unique_ptr<Admission>> Admit(World& world, int control, CreateMessage message,
                                         std::vector<OwnedFd> descriptors) {
  const bool has_code = message.no_native_code.empty();
  if (descriptors.size() != 2u + (has_code ? 1u : 0u) + (message.dials_elsewhere ? 1u : 0u)) {
    return Failure(FailureCode::Malformed,
                   "the first packet brings a module, a folder, and the native code and the "
                   "namespace that it tells of");
  }
  auto held = std::make_unique<Admission>();
  Admission& admission = *held;
  admission.message = std::move(message);
  CURFEW_TRY(admission.loaded,
             LoadPolicy(world,
                        {.module = std::move(descriptors[0]),
                         .native_code = has_code ? std::move(descriptors[2]) : OwnedFd(),
                         .no_native_code = admission.message.no_native_code},
                        admission.message.generation));
  admission.policy = std::make_unique<gate::PolicyInForce>(*admission.loaded.engine);
  CURFEW_TRY_VOID(OpenState(world, admission));
  CURFEW_TRY(admission.caller, CallerOf(control, admission.message.caller));
  admission.machine = machine::Probe();
  admission.capabilities =
      CapabilityWords(admission.machine, world.open_gateway && network::TryWire().has_value());
  admission.questions = std::make_unique<Questions>(*admission.policy, world.clock,
                                                    admission.caller, admission.capabilities);
  if (Outcome stated = admission.questions->StateCreate(admission.message.request); !stated) {
    admission.invalid = stated.error().message;
  }
  CURFEW_TRY_VOID(admission.store->Create(RowOf(admission, world)));
  world.checkpoint("entered");
  const host::StateDirectory& state = admission.state;
  CURFEW_TRY(lifecycle::Books books,
             lifecycle::Books::Open({.files = world.files,
                                     .processes = world.processes,
                                     .clock = world.clock,
                                     .state = state,
                                     .store = *admission.store,
                                     .key = *admission.receipt_key,
                                     .search =
                                         [&world](const evidence::ResidueQuery& query) {
                                           return evidence::SearchResidue(
                                               world.files, world.networks, world.clock, query);
                                         },
                                     .checkpoint = world.checkpoint},
                                    admission.message.sandbox));
  admission.books = std::make_unique<lifecycle::Books>(std::move(books));
  admission.decisions = std::make_unique<RecordedDecisions>(*admission.books, *admission.policy);
  admission.gate = std::make_unique<gate::Gate>(*admission.policy, *admission.decisions);
  admission.exports.emplace(std::move(descriptors[1]));
  if (admission.message.dials_elsewhere) admission.dial_from = std::move(descriptors.back());
  return held;
}

gate::Decision<schema::Action::Create> AskToCreate(Admission& admission) {
  gate::Decision<schema::Action::Create> decision;
  if (admission.invalid) {
    decision.answer = admission.gate->Refuse(schema::Action::Create, *admission.invalid);
    return decision;
  }
  std::int64_t running = 0;
  const Result<std::vector<store::Sandbox>> open = admission.store->List(true);
  if (!open) {
    decision.answer =
        admission.gate->Refuse(schema::Action::Create, "/create/running: " + open.error().message);
    return decision;
  }
  for (const store::Sandbox& sandbox : *open) {
    if (sandbox.owner == admission.questions->owner()) ++running;
  }
  return admission.gate->Decide<schema::Action::Create>(admission.questions->Create(running));
}

Result<std::uint32_t> ChooseMachineUid(store::Store& store, const Incarnation& sandbox) {
  const std::optional<Bytes> random = FromHex(sandbox.nonce.substr(0, 8));
  std::uint32_t place = 0;
  for (const std::uint8_t byte : random.value_or(Bytes())) place = place << 8 | byte;
  std::optional<std::uint32_t> chosen;
  const Outcome written = store.Together([&]() -> Outcome {
    CURFEW_TRY(const std::vector<store::Sandbox> open, store.List(true));
    for (std::uint32_t i = 0; i < MachineUidCount && !chosen; ++i) {
      const std::uint32_t uid = MachineUidFirst + (place + i) % MachineUidCount;
      const bool taken = std::any_of(open.begin(), open.end(),
                                     [uid](const auto& other) { return other.machine_uid == uid; });
      if (!taken) chosen = uid;
    }
    if (!chosen) return Failure(FailureCode::Busy, "every uid for machines is taken");
    return store.SetMachine(sandbox, std::nullopt, chosen);
  });
  if (!written) return written.error();
  return *chosen;
}

std::set<std::string, std::less<>> CapabilityWords(const machine::Capabilities& machine,
                                                   bool judges_egress) {
  std::set<std::string, std::less<>> words;
  if (machine.CanKvm()) words.emplace(module::capability::Kvm);
  if (machine.CanEmulate()) words.emplace(module::capability::Emulation);
  if (judges_egress) words.emplace(module::capability::Egress);
  return words;
}

}  // namespace curfew::keeper
