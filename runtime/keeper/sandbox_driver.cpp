#include "runtime/keeper/sandbox_driver.h"

#include "runtime/lifecycle/lifetime_watch.h"
#include "runtime/machine/qemu/qemu_machine.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::keeper {

using execute::Ended;
using execute::Fate;
using execute::Resource;

namespace {

constexpr std::int64_t BootTimeoutMs = 60'000;  // a slow and busy host under emulation
constexpr std::int64_t AnswerTimeoutMs = 20'000;
constexpr std::int64_t EndProcessesSlackMs = 10'000;
// Past the grace the end must come soon: with what follows, before the watchdog takes it for lost.
constexpr std::int64_t OverSlackMs = 3'000;
constexpr std::int64_t PowerOffMs = 1'000;
constexpr std::int64_t QuitMs = 500;
static_assert(OverSlackMs + PowerOffMs + 4 * QuitMs < lifecycle::EndMarginMs);
constexpr std::size_t EntropyBytes = 64;
constexpr std::size_t DenialsOnTheirWayMax = 64;

std::vector<Ended> Destroyed(std::string resource_class, std::string identity,
                             std::string detail = {}) {
  return {{.resource = {std::move(resource_class), std::move(identity)},
           .fate = Fate::Destroyed,
           .detail = std::move(detail)}};
}

// "INODE/COOKIE".
std::string NamespaceName(const network::WireIdentity& wire) {
  return fmt::format("{}/{}", wire.namespace_inode, wire.namespace_cookie);
}

std::vector<Resource> ResourcesOf(const network::WireIdentity& wire) {
  const std::string inside = NamespaceName(wire);
  return {
      {"network-namespace", inside},
      {"tap", fmt::format("{}/{} in {}", wire.tap_name, wire.tap_index, inside)},
      {"nft-table", fmt::format("inet {}/{} in {}", wire.table_name, wire.table_handle, inside)}};
}

std::string IdentityOf(const Watchdog& watchdog) {
  return fmt::format("{}/{}", watchdog.identity().pid, watchdog.identity().start_ticks);
}

}  // namespace

// The machine and the agent on the keeper's loop.
class SandboxDriver::MachineEvents final : public host::EventSource {
 public:
  explicit MachineEvents(machine::Machine& machine) : machine_(machine) {}
  [[nodiscard]] std::vector<Watch> Watches() const override {
    std::vector<Watch> watches;
    for (const machine::Watch& watch : machine_.Watches()) {
      watches.push_back({.fd = watch.fd, .events = watch.events});
    }
    return watches;
  }
  void OnReady() override { machine_.OnReady(); }
  [[nodiscard]] std::optional<std::int64_t> due_ms() const override {
    return machine_.deadline_ms();
  }
  void OnTime() override { machine_.OnTime(); }

 private:
  machine::Machine& machine_;
};

class SandboxDriver::SessionEvents final : public host::EventSource {
 public:
  explicit SessionEvents(guest::Session& session) : session_(session) {}
  [[nodiscard]] std::vector<Watch> Watches() const override {
    if (session_.failure()) return {};
    return {{.fd = session_.fd(), .events = session_.events()}};
  }
  void OnReady() override { session_.OnReady(); }
  [[nodiscard]] std::optional<std::int64_t> due_ms() const override {
    return session_.deadline_ms();
  }
  void OnTime() override { session_.OnTime(); }

 private:
  guest::Session& session_;
};

SandboxDriver::SandboxDriver(SandboxSetting setting) : setting_(std::move(setting)) {}

SandboxDriver::~SandboxDriver() {
  if (watchdog_) setting_.loop.Remove(*watchdog_);
  if (session_events_) setting_.loop.Remove(*session_events_);
  if (machine_events_) setting_.loop.Remove(*machine_events_);
}

Result<std::vector<Resource>> SandboxDriver::Act(const plan::Step& step) {
  return std::visit([this](const auto& s) { return Do(s); }, step);
}

std::vector<Ended> SandboxDriver::Undo(const plan::Step& step) {
  return std::visit([this](const auto& s) { return Take(s); }, step);
}

std::optional<Failure> SandboxDriver::loss() const {
  if (machine_ && machine_->state() == machine::State::Exited) {
    if (machine_->failure()) return machine_->failure();
    const machine::Exit& exit = *machine_->exit();
    return Failure(FailureCode::PeerGone,
                   fmt::format("the machine has ended ({}){}{}", NameOf(exit.reason),
                               exit.message.empty() ? "" : ": ", exit.message));
  }
  if (machine_ && machine_->failure()) return machine_->failure();
  if (watchdog_ && watchdog_->is_lost()) {
    return Failure(FailureCode::PeerGone,
                   "the machine's watchdog has ended; nobody would end the machine on time");
  }
  if (session_ && session_->failure()) return session_->failure();
  return std::nullopt;
}

std::optional<std::int64_t> SandboxDriver::token_expires_ms() const {
  if (!token_) return std::nullopt;
  return token_->claims.expires_s * 1000;
}

Outcome SandboxDriver::Await(const std::function<bool()>& done, bool even_when_interrupted,
                             std::optional<std::int64_t> until_ms) {
  const auto stop = [&] {
    return done() || loss() || (!even_when_interrupted && setting_.is_interrupted());
  };
  const bool stopped = setting_.loop.RunUntil(stop, until_ms);
  if (done()) return Ok();
  if (std::optional<Failure> lost = loss()) return *std::move(lost);
  if (!stopped) return Failure(FailureCode::TimedOut, "the sandbox did not answer in time");
  return Failure(FailureCode::Interrupted, "the end was asked for while the sandbox was created");
}

// --- image ---------------------------------------------------------------------------------------

Result<std::vector<Resource>> SandboxDriver::Do(const plan::OpenImage& step) {
  CURFEW_TRY(image::Image opened, image::Open(setting_.image_directory));
  if (opened.digest != step.digest) {
    return Failure(
        FailureCode::Tampered,
        fmt::format("the image in {} is {}, but policy allowed {}; name the folder that holds the "
                    "allowed one (--image), or build its declaration into the policy set",
                    setting_.image_directory, ToString(opened.digest), ToString(step.digest)));
  }
  image_ = std::move(opened);
  return std::vector<Resource>();
}

std::vector<Ended> SandboxDriver::Take(const plan::OpenImage&) {
  image_.reset();
  return {};
}

// --- control groups ------------------------------------------------------------------------------

Result<std::vector<Resource>> SandboxDriver::Do(const plan::MakeCgroups& step) {
  const machine::CgroupLimits limits{.memory_bytes = machine::MemoryLimitFor(step.guest_bytes)};
  CURFEW_TRY(cgroups_, machine::Cgroups::Create(step.name, limits));
  std::vector<Resource> resources;
  for (const std::string& directory : cgroups_->directories()) {
    resources.push_back({.resource_class = "cgroup", .identity = directory});
  }
  return resources;
}

std::vector<Ended> SandboxDriver::Take(const plan::MakeCgroups& step) {
  const machine::Cgroups found =
      cgroups_ ? *std::exchange(cgroups_, std::nullopt) : machine::Cgroups::Find(step.name);
  const Outcome removed = found.Remove();
  std::vector<Ended> ended;
  for (const std::string& directory : found.directories()) {
    ended.push_back({.resource = {"cgroup", directory},
                     .fate = removed ? Fate::Destroyed : Fate::Unknown,
                     .detail = removed ? std::string() : removed.error().message});
  }
  return ended;
}

// --- disks ---------------------------------------------------------------------------------------

Result<std::vector<Resource>> SandboxDriver::Do(const plan::MakeScratch& step) {
  CURFEW_TRY(disk::Scratch made,
             disk::CreateScratch(
                 {.directory = setting_.state.Run(setting_.sandbox.id), .bytes = step.bytes}));
  const std::string identity = fmt::format("{}:{}", made.device, made.inode);
  mounts_.push_back(
      {.serial = step.serial, .path = step.path, .identity = identity, .disk = std::move(made)});
  return std::vector<Resource>{{.resource_class = "disk", .identity = identity},
                               {.resource_class = "key", .identity = step.serial}};
}

std::vector<Ended> SandboxDriver::Take(const plan::MakeScratch& step) {
  const auto found = std::find_if(mounts_.begin(), mounts_.end(),
                                  [&](const Mount& mount) { return mount.serial == step.serial; });
  if (found == mounts_.end()) return {};
  std::vector<Ended> ended = Destroyed("key", step.serial, "wiped from memory");
  ended.push_back({.resource = {"disk", found->identity},
                   .fate = Fate::Destroyed,
                   .detail = "never had a name; its blocks are free"});
  mounts_.erase(found);
  return ended;
}

// --- network -------------------------------------------------------------------------------------

Result<std::vector<Resource>> SandboxDriver::Do(const plan::MakeWire& step) {
  CURFEW_TRY(wire_, network::MakeWire(step.name));
  return ResourcesOf(wire_->identity);
}

// None of it has a name: with the last descriptor the kernel takes all of it away. The search for
// residue looks for whoever else holds one.
std::vector<Ended> SandboxDriver::Take(const plan::MakeWire&) {
  if (!wire_) return {};
  std::vector<Ended> ended;
  for (Resource& resource : ResourcesOf(wire_->identity)) {
    ended.push_back({.resource = std::move(resource),
                     .fate = Fate::Destroyed,
                     .detail = "went with its last descriptor"});
  }
  std::reverse(ended.begin(), ended.end());
  wire_.reset();
  return ended;
}

Result<std::vector<Resource>> SandboxDriver::Do(const plan::StartGateway&) {
  if (!wire_ || !setting_.open_gateway) {
    return Failure(FailureCode::Unsupported, "nobody judges what leaves this host's sandboxes");
  }
  CURFEW_TRY(gateway_, setting_.open_gateway(*wire_));
  gateway_identity_ = NamespaceName(wire_->identity);
  return std::vector<Resource>{{.resource_class = "gateway", .identity = gateway_identity_}};
}

std::vector<Ended> SandboxDriver::Take(const plan::StartGateway&) {
  gateway_.reset();
  if (gateway_identity_.empty()) return {};
  return Destroyed("gateway", std::exchange(gateway_identity_, {}), "every flow was cut");
}

void SandboxDriver::NoteDenial(std::string line) {
  if (!session_ || denials_on_their_way_ >= DenialsOnTheirWayMax) {
    ++denials_untold_;
    return;
  }
  const std::size_t untold = std::exchange(denials_untold_, 0);
  if (untold > 0) line = fmt::format("({} more before this one were not told) {}", untold, line);
  ++denials_on_their_way_;
  // A guest that cannot be told loses only the line: the record has it.
  session_->NoteDenial(std::move(line), [this](const Outcome&) { --denials_on_their_way_; });
}

// --- machine -------------------------------------------------------------------------------------

Result<std::vector<Resource>> SandboxDriver::Do(const plan::StartMachine& step) {
  machine::Spec spec;
  spec.name = setting_.sandbox.id;
  spec.kernel = std::move(image_->kernel);
  spec.initrd = std::move(image_->initrd);
  spec.root = std::move(image_->root);
  for (Mount& mount : mounts_) {
    spec.disks.push_back({.file = std::move(mount.disk->file),
                          .key = std::move(mount.disk->key),
                          .bytes = mount.disk->bytes,
                          .serial = mount.serial});
    mount.disk.reset();
  }
  if (wire_) spec.nic = machine::Nic{std::move(wire_->tap), std::string(network::GuestMac)};
  spec.vcpus = step.vcpus;
  vcpus_ = step.vcpus;
  spec.memory_bytes = step.memory_bytes;
  spec.isolation = step.isolation == plan::Isolation::Kvm ? machine::Isolation::Kvm
                                                          : machine::Isolation::Emulated;
  spec.tsc_khz = setting_.capabilities.tsc_khz;
  spec.cgroup_procs = cgroups_->ProcsFiles();
  spec.uid = setting_.machine_uid;
  spec.gid = setting_.machine_uid;
  const host::Clock& clock = setting_.clock;
  CURFEW_TRY(machine_, machine::qemu::Start(std::move(spec), setting_.capabilities.qemu_path,
                                            [&clock] { return clock.MonotonicNowMs(); }));
  machine_events_ = std::make_unique<MachineEvents>(*machine_);
  setting_.loop.Add(*machine_events_);
  const machine::ProcessIdentity identity = machine_->identity();
  machine_identity_ = fmt::format("{}/{}", identity.pid, identity.start_ticks);
  CURFEW_TRY_VOID(setting_.store.SetMachine(
      setting_.sandbox,
      host::ProcessIdentity{.pid = identity.pid, .start_ticks = identity.start_ticks},
      setting_.machine_uid));
  CURFEW_TRY_VOID(StartWatchdog());
  return std::vector<Resource>{{.resource_class = "machine", .identity = machine_identity_},
                               {.resource_class = "watchdog", .identity = IdentityOf(*watchdog_)}};
}

Outcome SandboxDriver::EndBy(std::int64_t over_ms, std::int64_t grace_ms) {
  setting_.over_ms = over_ms;
  setting_.grace_ms = grace_ms;
  return watchdog_ ? watchdog_->KillAt(over_ms + lifecycle::EndMarginMs) : Ok();
}

Outcome SandboxDriver::StartWatchdog() {
  CURFEW_TRY(watchdog_,
             Watchdog::Start(setting_.keeper_program, setting_.sandbox.id, machine_->pidfd(),
                             setting_.over_ms + lifecycle::EndMarginMs));
  setting_.loop.Add(*watchdog_);
  return Ok();
}

std::vector<Ended> SandboxDriver::Take(const plan::StartMachine&) {
  if (!machine_) return {};
  const auto exited = [this] { return machine_->state() == machine::State::Exited; };
  const std::int64_t now = setting_.clock.MonotonicNowMs();
  if (!exited()) {
    machine_->Stop(QuitMs);
    setting_.loop.RunUntil(exited, now + 4 * QuitMs);
  }
  if (!exited()) machine_->Kill();
  const bool gone = exited();
  std::vector<Ended> ended;
  ended.push_back(
      {.resource = {"machine", machine_identity_},
       .fate = gone ? Fate::Destroyed : Fate::Unknown,
       .detail = gone ? std::string(NameOf(machine_->exit()->reason)) : "its process did not end"});
  if (watchdog_) {
    ended.push_back(Destroyed("watchdog", IdentityOf(*watchdog_)).front());
    setting_.loop.Remove(*watchdog_);
    watchdog_.reset();
  }
  setting_.loop.Remove(*machine_events_);
  machine_events_.reset();
  machine_.reset();
  return ended;
}

// --- agent ---------------------------------------------------------------------------------------

Result<std::vector<Resource>> SandboxDriver::Do(const plan::JoinAgent& step) {
  const host::Clock& clock = setting_.clock;
  session_ = std::make_unique<guest::Session>(machine_->TakeAgentChannel(),
                                              [&clock] { return clock.MonotonicNowMs(); });
  session_events_ = std::make_unique<SessionEvents>(*session_);
  setting_.loop.Add(*session_events_);
  std::optional<Result<guest::Up>> up;
  session_->AwaitUp(BootTimeoutMs, [&up](Result<guest::Up> answer) { up = std::move(answer); });
  Outcome came = Await([&up] { return up.has_value(); }, false);
  if (came && !*up) came = std::move(*up).error();
  if (!came) {
    session_->End(came.error());
    return WhyTheGuestIsSilent(std::move(came).error());
  }
  CURFEW_TRY_VOID(Configure(step));
  CURFEW_TRY_VOID(cgroups_->LimitCpu(vcpus_));
  return std::vector<Resource>();
}

// The machine's own account says more than the silence of its agent; where it is ending it needs a
// moment to give one.
Failure SandboxDriver::WhyTheGuestIsSilent(const Failure& silence) {
  constexpr std::string_view What = "the guest did not come up";
  if (silence.code == FailureCode::Interrupted) return silence.In(What);
  const auto exited = [this] { return machine_->state() == machine::State::Exited; };
  setting_.loop.RunUntil(exited, setting_.clock.MonotonicNowMs() + PowerOffMs);
  if (exited()) return loss()->In(What);
  Failure failure = silence.In(What);
  const std::string console = machine_->console_tail();
  if (!console.empty()) failure.message += "; its console ends: " + console;
  return failure;
}

Outcome SandboxDriver::Configure(const plan::JoinAgent& step) {
  guest::Configure what;
  what.host_name = step.host_name;
  what.wall_ns = static_cast<std::uint64_t>(setting_.clock.WallNowMs()) * 1'000'000;
  CURFEW_TRY(what.entropy, setting_.entropy.Draw(EntropyBytes));
  for (const Mount& mount : mounts_) {
    what.disks.push_back({.serial = mount.serial, .path = mount.path});
  }
  if (wire_) {
    what.networks.push_back({.mac = std::string(network::GuestMac),
                             .address = network::NumberOf(network::GuestAddress),
                             .gateway = network::NumberOf(network::GatewayAddress),
                             .resolver = network::NumberOf(network::GatewayAddress)});
  }
  for (const auto& [name, value] : image_->manifest.content.environment) {
    what.environment.push_back(name + "=" + value);
  }
  std::optional<Outcome> ready;
  session_->SendConfigure(what, [&ready](Outcome answer) { ready = std::move(answer); });
  Outcome came = Await([&ready] { return ready.has_value(); }, false,
                       setting_.clock.MonotonicNowMs() + BootTimeoutMs);
  if (!came) {
    session_->End(came.error());
    return came;
  }
  return *std::move(ready);
}

std::vector<Ended> SandboxDriver::Take(const plan::JoinAgent&) {
  if (!session_) return {};
  const std::int64_t now = setting_.clock.MonotonicNowMs();
  const std::int64_t left = std::max<std::int64_t>(setting_.over_ms - now, 0);
  const std::int64_t grace = setting_.is_hurried() ? 0 : std::min(setting_.grace_ms, left);
  if (!loss()) {
    std::optional<Result<guest::Processes>> processes;
    session_->EndAll(grace,
                     [&](Result<guest::Processes> answer) { processes = std::move(answer); });
    static_cast<void>(
        Await([&] { return processes.has_value() || (grace > 0 && setting_.is_hurried()); }, true,
              now + std::min(grace + EndProcessesSlackMs, left + OverSlackMs)));
    if (processes && *processes) setting_.on_processes(**processes);
    if (!processes) {
      session_->End(Failure(FailureCode::TimedOut, "the sandbox ended before its processes did"));
    }
  }
  if (!loss()) {
    session_->SendPowerOff();
    setting_.loop.RunUntil([this] { return loss().has_value(); },
                           setting_.clock.MonotonicNowMs() + PowerOffMs);
  }
  session_->End(Failure(FailureCode::PeerGone, "the sandbox has ended"));
  setting_.loop.Remove(*session_events_);
  session_events_.reset();
  session_.reset();
  return {};
}

// --- identity ------------------------------------------------------------------------------------

Result<std::vector<Resource>> SandboxDriver::Do(const plan::MintToken& step) {
  const identity::Grant grant{.sandbox = setting_.sandbox,
                              .task_id = setting_.task_id,
                              .owner = setting_.owner,
                              .audience = step.audience,
                              .expires_s = step.expires_ms / 1000};
  CURFEW_TRY(token_, identity::Mint(grant, setting_.token_key, setting_.store, setting_.clock,
                                    setting_.entropy));
  return std::vector<Resource>{{.resource_class = "token", .identity = token_->claims.jti}};
}

void SandboxDriver::RevokeToken() {
  if (!token_) return;
  static_cast<void>(setting_.store.RevokeTokens(setting_.sandbox, setting_.clock.WallNowMs()));
  token_->claims.expires_s = 0;
}

std::vector<Ended> SandboxDriver::Take(const plan::MintToken&) {
  if (!token_) return {};
  const Result<int> revoked =
      setting_.store.RevokeTokens(setting_.sandbox, setting_.clock.WallNowMs());
  std::vector<Ended> ended;
  ended.push_back({.resource = {"token", token_->claims.jti},
                   .fate = revoked ? Fate::Destroyed : Fate::Unknown,
                   .detail = revoked ? "revoked" : revoked.error().message});
  WipeText(token_->jws);
  token_.reset();
  return ended;
}

Result<std::vector<Resource>> SandboxDriver::Do(const plan::WriteIdentity& step) {
  if (!token_) return Failure(FailureCode::Denied, "an identity document needs a token");
  std::string document = identity::IdentityDocument(*token_, setting_.class_name);
  guest::WriteFile file{.path = step.path, .mode = 0400, .root = false, .content = {}};
  file.content.assign(document.begin(), document.end());
  WipeText(document);
  std::optional<Outcome> written;
  session_->Write(file, [&written](Outcome answer) { written = std::move(answer); });
  Outcome came = Await([&written] { return written.has_value(); }, false,
                       setting_.clock.MonotonicNowMs() + AnswerTimeoutMs);
  if (!came) {
    session_->End(came.error());
    return std::move(came).error();
  }
  if (!*written) return std::move(*written).error();
  return std::vector<Resource>();
}

// The document goes with the guest's memory.
std::vector<Ended> SandboxDriver::Take(const plan::WriteIdentity&) { return {}; }

}  // namespace curfew::keeper
