#include "runtime/keeper/keeper.h"

#include "runtime/evidence/flows.h"
#include "runtime/host/linux/signal_source.h"
#include "runtime/keeper/admission.h"
#include "runtime/keeper/reload_door.h"
#include "runtime/keeper/service.h"
#include "runtime/lifecycle/records.h"
#include "runtime/plan/plan.h"

#include <csignal>
#include <mutex>

namespace curfew::keeper {

using evidence::RecordKind;
using store::SandboxState;

namespace {

constexpr std::int64_t FirstPacketMs = 60'000;
constexpr std::int64_t LastPacketsMs = 10'000;

// One keeper at work. Its steps are the runtime's line, in order; each is a function.
class Keeping {
 public:
  Keeping(World& world, OwnedFd socket)
      : world_(world), loop_(world.clock, &lock_), control_(std::move(socket)) {}

  int Run() {
    const std::lock_guard held(lock_);  // let go by the loop while it waits
    control_.on_packet = [this](const Packet& packet, std::vector<OwnedFd> fds) {
      OnPacket(packet, std::move(fds));
    };
    control_.on_gone = [this] {
      if (service_ != nullptr) service_->Look();
    };
    loop_.Add(control_);
    Result<std::unique_ptr<host::SignalSource>> signals =
        host::SignalSource::Open({SIGTERM, SIGINT, SIGHUP}, [this](int) { OnTermination(); });
    if (!signals) return Refuse(signals.error());
    loop_.Add(**signals);
    const int status = Line();
    loop_.RunUntil([this] { return control_.is_idle() || control_.is_gone(); },
                   world_.clock.MonotonicNowMs() + LastPacketsMs);
    loop_.Remove(**signals);
    return status;
  }

 private:
  int Line() {
    const bool came = loop_.RunUntil([this] { return first_ || control_.is_gone(); },
                                     world_.clock.MonotonicNowMs() + FirstPacketMs);
    if (!came || !first_) return 1;
    Result<std::unique_ptr<Admission>> admitted =
        Admit(world_, control_.fd(), *std::move(first_), std::move(descriptors_));
    if (!admitted) return Refuse(admitted.error());
    admission_ = *std::move(admitted);

    gate::Decision<schema::Action::Create> decision = AskToCreate(*admission_);
    Tell(decision.answer);
    if (!decision.permit) return Close("denied");

    Result<plan::Plan> plan = Draft(*decision.permit);
    if (!plan) {
      TellFailure(plan.error());
      return Close("denied");
    }
    plan_ = *std::move(plan);
    Outcome created = Create(*std::move(decision.permit));
    if (!created) {
      TellFailure(created.error());
      const std::string reason = ReasonFor(created.error());
      if (reason == NameOf(EndingWhy::Deadline)) {
        control_.Tell(0, EndingMessage{.why = EndingWhy::Deadline,
                                       .detail = "its time was over before it could begin"});
      }
      return Close(reason);
    }
    const EndOfService end = Serve();
    if (end.status) {
      static_cast<void>(admission_->store->SetExitStatus(plan_.sandbox, *end.status));
    }
    return Close(end.reason);
  }

  Result<plan::Plan> Draft(const gate::Permit<schema::Action::Create>& permit) {
    const module::PolicyModule& policy = admission_->policy->module();
    return plan::Draft(permit, policy.plan(permit.answer().class_index),
                       {.sandbox = admission_->message.sandbox,
                        .wall_ms = world_.clock.WallNowMs(),
                        .monotonic_ms = world_.clock.MonotonicNowMs(),
                        .capabilities = admission_->capabilities});
  }

  Outcome Create(gate::Permit<schema::Action::Create> permit) {
    began_ms_ = world_.clock.MonotonicNowMs();
    lifetime_ = std::make_unique<lifecycle::LifetimeWatch>(world_.clock, plan_.lifetime);
    store::Store& store = *admission_->store;
    CURFEW_TRY_VOID(Enter(store));
    CURFEW_TRY(const std::uint32_t uid, ChooseMachineUid(store, plan_.sandbox));
    driver_ = std::make_unique<SandboxDriver>(SettingOf(uid));
    CURFEW_TRY(door_,
               ReloadDoor::Open(plan_.sandbox.id, admission_->caller.uid, world_.clock,
                                [this](const ReloadMessage& message, const HandedPolicy& handed) {
                                  return Reload(message, handed);
                                }));
    executor_ = std::make_unique<execute::Executor>(
        *driver_, *admission_->books, world_.checkpoint,
        execute::Executor::Progress{
            .on_begin = [this](const plan::Step& step) { TellStep(step, false); },
            .on_done = [this](const plan::Step& step) { TellStep(step, true); },
            .may_go_on = [this]() -> Outcome {
              if (!IsInterrupted()) return Ok();
              return Failure(FailureCode::Interrupted,
                             "the end was asked for while the sandbox was created");
            }});
    return executor_->Create(std::move(permit), plan_);
  }

  Outcome Enter(store::Store& store) {
    return store.Together([&]() -> Outcome {
      CURFEW_TRY_VOID(store.SetClass(plan_.sandbox, plan_.class_name));
      return store.SetState(plan_.sandbox, SandboxState::Admitted);
    });
  }

  SandboxSetting SettingOf(std::uint32_t uid) {
    return {.sandbox = plan_.sandbox,
            .task_id = admission_->questions->task_id(),
            .owner = admission_->questions->owner(),
            .class_name = plan_.class_name,
            .image_directory = admission_->message.image_directory,
            .machine_uid = uid,
            .capabilities = admission_->machine,
            .over_ms = plan_.lifetime.deadline_ms + plan_.lifetime.grace_ms,
            .grace_ms = plan_.lifetime.grace_ms,
            .loop = loop_,
            .clock = world_.clock,
            .entropy = world_.entropy,
            .state = admission_->state,
            .store = *admission_->store,
            .token_key = *admission_->token_key,
            .open_gateway = OpenerOfGateways(),
            .is_interrupted = [this] { return IsInterrupted(); },
            .is_hurried = [this] { return hurried_; },
            .on_processes = [this](const guest::Processes& all) { RecordProcesses(all); }};
  }

  // Empty where nobody judges what leaves.
  std::function<Result<std::unique_ptr<RunningGateway>>(network::Wire&)> OpenerOfGateways() {
    if (!world_.open_gateway) return {};
    return [this](network::Wire& wire) {
      return world_.open_gateway(
          {.wire = wire,
           .gate = *admission_->gate,
           .questions = *admission_->questions,
           .books = *admission_->books,
           .clock = world_.clock,
           .lock = lock_,
           .loop = loop_,
           .dial_from = admission_->dial_from.get(),
           .resolvers = admission_->message.resolvers,
           .sandbox_facts = [this] { return FactsNow(); },
           .window_ms = [this] { return WindowMsNow(); },
           .note_denial = [this](std::string line) { driver_->NoteDenial(std::move(line)); },
           .note_untold_denials = [this](std::size_t count) { driver_->NoteUntold(count); },
           .note_lost_flows = [this](std::uint64_t count) { lost_flows_ += count; }});
    };
  }

  // Of the set in force; of a class that it does not have nothing leaves.
  [[nodiscard]] std::int64_t WindowMsNow() const {
    const module::PolicyModule& policy = admission_->policy->module();
    const std::optional<module::ClassIndex> its_class = policy.FindClass(plan_.class_name);
    return its_class ? policy.plan(*its_class).limits.window_ms : module::EgressLimits().window_ms;
  }

  [[nodiscard]] SandboxFacts FactsNow() const {
    const module::LifetimeReading reading = lifetime_->Read();
    const std::optional<std::int64_t> expires_ms = driver_->token_expires_ms();
    const std::int64_t left = expires_ms ? *expires_ms - world_.clock.WallNowMs() : 0;
    return {.id = plan_.sandbox.id,
            .class_name = plan_.class_name,
            .age_ms = reading.age_ms,
            .idle_ms = reading.idle_ms,
            .ttl_left_ms = reading.ttl_left_ms,
            .image = plan_.image,
            .kvm = plan_.isolation == plan::Isolation::Kvm,
            .creator = admission_->caller.id,
            .token_valid = left > 0,
            .token_expires_in_ms = left};
  }

  EndOfService Serve() {
    lifecycle::Books& books = *admission_->books;
    const bool kvm = plan_.isolation == plan::Isolation::Kvm;
    Outcome running = books.Append(
        RecordKind::Step,
        lifecycle::StepReady(kvm ? evidence::Isolation::Kvm : evidence::Isolation::Emulated));
    if (running) running = admission_->store->SetState(plan_.sandbox, SandboxState::Running);
    if (!running) {
      TellFailure(running.error());
      return {.reason = "no record", .status = std::nullopt};
    }
    lifetime_->Touch();
    Desk desk{.gate = *admission_->gate,
              .questions = *admission_->questions,
              .books = books,
              .control = control_,
              .driver = *driver_,
              .lifetime = *lifetime_,
              .clock = world_.clock,
              .plan = plan_,
              .facts = [this] { return FactsNow(); },
              .checkpoint = world_.checkpoint};
    Service service(desk, std::move(*admission_->exports));
    control_.Tell(0, ReadyMessage{.isolation = std::string(plan::NameOf(plan_.isolation)),
                                  .engine = std::string(admission_->loaded.engine->kind()),
                                  .why_not_native = admission_->loaded.why_not_native,
                                  .deadline_ms = plan_.deadline_wall_ms,
                                  .boot_ms = world_.clock.MonotonicNowMs() - began_ms_});
    loop_.Add(*door_);
    world_.checkpoint("running");
    service_ = &service;
    loop_.Add(service);
    loop_.RunUntil([&] {
      service.Look();
      return service.end().has_value();
    });
    loop_.Remove(service);
    service_ = nullptr;
    EndOfService end = *service.end();
    // The session speaks to commands and exports of this service: it ends before them.
    BeginClosing(end.reason);
    executor_->End();
    return end;
  }

  void BeginClosing(const std::string& reason) {
    if (std::exchange(closing_, true)) return;
    if (door_) loop_.Remove(*door_);
    door_.reset();
    if (driver_) {
      driver_->RevokeToken();
      driver_->StopGateway();
    }
    admission_->books->BeginClosing(reason);
    if (lost_flows_ == 0) return;
    static_cast<void>(
        admission_->books->Append(RecordKind::Flow, evidence::LostFlowsFacts(lost_flows_)));
  }

  // Another policy set, from then on. On record before it takes effect; whatever fails leaves the
  // old one in force.
  ReloadedMessage Reload(const ReloadMessage& message, const HandedPolicy& handed) {
    const module::Manifest old = admission_->policy->module().manifest();
    ReloadedMessage answer{.generation = old.generation,
                           .engine = std::string(admission_->loaded.engine->kind()),
                           .why_not_native = admission_->loaded.why_not_native,
                           .failure = {}};
    // The old set goes on judging meanwhile.
    Result<LoadedPolicy> next = [&] {
      const LetGo load(lock_);
      return LoadPolicy(world_, handed, old.generation + 1);
    }();
    if (message.sandbox != plan_.sandbox) {
      answer.failure = "the request is for another incarnation of this sandbox";
    } else if (!next) {
      answer.failure = next.error().message;
    } else if (const Outcome recorded = RecordReload(old, next->engine->module().manifest());
               !recorded) {
      answer.failure = recorded.error().message;
    }
    if (!answer.failure.empty()) return answer;
    admission_->policy->Adopt(*next->engine);
    std::swap(admission_->loaded, *next);
    const module::PolicyModule& policy = admission_->policy->module();
    answer.generation = policy.manifest().generation;
    answer.engine = admission_->loaded.engine->kind();
    answer.why_not_native = admission_->loaded.why_not_native;
    const std::optional<module::ClassIndex> its_class = policy.FindClass(plan_.class_name);
    if (its_class) Tighten(policy.plan(*its_class));
    answer.flows_cut = driver_->RejudgeFlows();
    answer.closes = !its_class;
    if (answer.closes) service_->OnClassGone();
    return answer;
  }

  Outcome RecordReload(const module::Manifest& old, const module::Manifest& next) {
    return admission_->books->Append(
        RecordKind::Reload,
        lifecycle::Reloaded(ToString(old.policy), ToString(next.policy), next.generation));
  }

  void Tighten(const module::PlanTemplate& granted) {
    const std::int64_t before_ms = lifetime_->terms().deadline_ms;
    lifetime_->Tighten(granted);
    const std::int64_t now_ms = lifetime_->terms().deadline_ms;
    const std::int64_t grace_ms = lifetime_->terms().grace_ms;
    plan_.deadline_wall_ms -= before_ms - now_ms;
    // This keeper goes by its own clock. Where the watchdog or the catalogue cannot be told, those
    // who wait for this keeper wait as long as before.
    for (const Outcome& told :
         {driver_->EndBy(now_ms + grace_ms, grace_ms),
          admission_->store->SetDeadline(plan_.sandbox, {.wall_ms = plan_.deadline_wall_ms,
                                                         .boot_ms = now_ms,
                                                         .grace_ms = grace_ms,
                                                         .boot_id = world_.clock.BootId()})}) {
      if (!told) {
        static_cast<void>(
            admission_->books->Append(RecordKind::Note, {{"note", told.error().message}}));
      }
    }
  }

  int Close(const std::string& reason) {
    BeginClosing(reason);
    if (executor_) executor_->End();
    std::vector<host::ProcessIdentity> excused;
    if (Result<host::ProcessStat> client = world_.processes.StatOf(admission_->caller.pid)) {
      excused.push_back(client->identity);
    }
    Result<evidence::Receipt> receipt = admission_->books->Close({}, excused);
    if (!receipt) {
      control_.Tell(0, ClosedMessage{.cleanness = std::string(NameOf(evidence::Cleanness::Unknown)),
                                     .failure = receipt.error().message});
      return 1;
    }
    control_.Tell(
        0, ClosedMessage{.cleanness = std::string(NameOf(receipt->verdict())), .failure = {}});
    return 0;
  }

  void RecordProcesses(const guest::Processes& all) {
    for (const guest::Process& process : all.processes) {
      evidence::EndedProcess ended{.pid = process.pid, .argv = {}, .how = HowOf(process.end)};
      std::string_view rest = process.argv;
      while (!rest.empty()) {
        const std::size_t nul = rest.find('\0');
        ended.argv.emplace_back(rest.substr(0, nul));
        rest.remove_prefix(nul == std::string_view::npos ? rest.size() : nul + 1);
      }
      static_cast<void>(
          admission_->books->Append(RecordKind::Process, lifecycle::ProcessEnded(ended)));
    }
  }

  static std::string HowOf(guest::ProcessEnd end) {
    switch (end) {
      case guest::ProcessEnd::Ended:
        return "terminated";
      case guest::ProcessEnd::Killed:
        return "killed";
      case guest::ProcessEnd::Running:
      case guest::ProcessEnd::Survived:
        return "with the machine";
    }
    return "with the machine";
  }

  [[nodiscard]] bool IsInterrupted() const {
    return interrupted_ ||
           (lifetime_ && lifetime_->Read().state != module::LifetimeState::Authority);
  }

  [[nodiscard]] std::string ReasonFor(const Failure& failure) const {
    if (failure.code == FailureCode::Denied) return "denied";
    // Whatever failed past the grace failed because it is over.
    const bool is_over =
        lifetime_ && lifetime_->Read().state == module::LifetimeState::Over && !interrupted_;
    if (failure.code != FailureCode::Interrupted && !is_over) return "failed";
    return interrupted_ ? "interrupted" : std::string(NameOf(EndingWhy::Deadline));
  }

  void OnPacket(const Packet& packet, std::vector<OwnedFd> fds) {
    if (service_ != nullptr) {
      if (!service_->OnPacket(packet)) control_.Drop();
      NoteHurry(packet);
      return;
    }
    if (packet.kind == Kind::Create && !first_ && !admission_) {
      Result<CreateMessage> message = DecodeMessage<CreateMessage>(packet);
      if (!message) return control_.Drop();
      first_ = *std::move(message);
      descriptors_ = std::move(fds);
      return;
    }
    // While it is created or ends: only the end can be asked for.
    if (packet.kind == Kind::Close) interrupted_ = true;
    NoteHurry(packet);
  }

  void NoteHurry(const Packet& packet) {
    if (packet.kind != Kind::Close) return;
    const Result<CloseMessage> message = DecodeMessage<CloseMessage>(packet);
    hurried_ = hurried_ || (message && message->hurry);
  }

  void OnTermination() {
    interrupted_ = true;
    if (service_ != nullptr) service_->OnTermination();
  }

  void Tell(const gate::Answer& answer) {
    control_.Tell(0, DecidedMessage{.action = std::string(schema::WordOf(answer.action)),
                                    .allowed = answer.allowed,
                                    .subject = admission_->questions->image(),
                                    .class_name = answer.class_name,
                                    .reasons = answer.reasons});
  }

  void TellStep(const plan::Step& step, bool done) {
    control_.Tell(0, StepMessage{.name = std::string(plan::NameOf(step)),
                                 .detail = plan::Describe(step),
                                 .done = done});
  }

  void TellFailure(const Failure& failure) {
    control_.Tell(
        0, FailedMessage{.code = std::string(NameOf(failure.code)), .message = failure.message});
    if (admission_ && admission_->books) {
      static_cast<void>(admission_->books->Append(RecordKind::Note, {{"note", failure.message}}));
    }
  }

  int Refuse(const Failure& failure) {
    TellFailure(failure);
    return 1;
  }

  World& world_;
  std::mutex lock_;  // see GatewayRequest
  host::EventLoop loop_;
  Control control_;
  std::optional<CreateMessage> first_;
  std::vector<OwnedFd> descriptors_;
  std::unique_ptr<Admission> admission_;
  plan::Plan plan_;
  std::int64_t began_ms_ = 0;
  std::unique_ptr<lifecycle::LifetimeWatch> lifetime_;
  std::unique_ptr<SandboxDriver> driver_;
  std::unique_ptr<execute::Executor> executor_;
  std::unique_ptr<ReloadDoor> door_;
  Service* service_ = nullptr;
  bool interrupted_ = false;
  bool hurried_ = false;
  bool closing_ = false;
  std::uint64_t lost_flows_ = 0;
};

}  // namespace

int Keep(World& world, OwnedFd control) { return Keeping(world, std::move(control)).Run(); }

}  // namespace curfew::keeper
