#include "compiler/base/limits.h"
#include "compiler/module/capability.h"
#include "compiler/values/quantity.h"
#include "runtime/plan/plan.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace curfew::plan {
namespace {

using gate::Facts;
namespace capability = module::capability;
namespace slot = schema::slot;

constexpr std::int64_t MemoryBytesMin = 128ll << 20;  // below this the guest's kernel does not boot
constexpr std::int64_t VcpusMax = 64;

Failure Unsupported(std::string_view what) {
  return Failure(FailureCode::Denied, fmt::format("builtin.unsupported: {}", what));
}

// What was wished, or the class's own default, and never more than the class's maximum.
Result<std::int64_t> Effective(const Facts& facts, schema::Slot wish, const module::Bound& bound,
                               std::string_view what) {
  const std::optional<std::int64_t> stated = facts.Integer(wish);
  const std::optional<std::int64_t> value = stated ? stated : bound.standard;
  if (!value || *value <= 0 || *value > bound.most) {
    return Failure(FailureCode::Denied,
                   fmt::format("the plan's {} does not lie within what its class grants", what));
  }
  return *value;
}

Result<Isolation> IsolationFor(const Facts& facts, const module::PlanTemplate& granted,
                               const Circumstances& here) {
  const std::optional<std::int64_t> wish = facts.Integer(slot::CreateIsolation);
  const bool hardware_only = granted.isolation == module::Isolation::Kvm || wish == 0;  // "kvm"
  if (here.capabilities.contains(capability::Kvm)) return Isolation::Kvm;
  if (hardware_only) {
    return Unsupported(
        "this host has no usable KVM; `curfew doctor` says why, and `isolation any` would accept "
        "emulation, which is no security boundary");
  }
  if (here.capabilities.contains(capability::Emulation)) return Isolation::Emulated;
  return Unsupported("this host can run no microVM at all; `curfew doctor` says what is missing");
}

// A memory size that a machine can have: whole MiB, rounded down (never more than was granted).
std::int64_t WholeMebibytes(std::int64_t bytes) { return bytes >> 20 << 20; }

Outcome CheckDisks(const Facts& facts, const module::PlanTemplate& granted) {
  std::int64_t total = 0;
  for (const module::ScratchMount& mount : granted.scratch) {
    if (mount.bytes <= 0 || __builtin_add_overflow(total, mount.bytes, &total)) {
      return Failure(FailureCode::Denied, "the scratch disks of the plan have no size");
    }
  }
  if (!granted.disk_is_bounded) return Ok();
  CURFEW_TRY(const std::int64_t disk,
             Effective(facts, slot::CreateDisk, granted.disk_bytes, "disk"));
  if (total > disk) {
    return Unsupported(
        fmt::format("the scratch disks of class {} are {} together, more than its disk of {}",
                    granted.class_name, values::SizeText(total), values::SizeText(disk)));
  }
  return Ok();
}

// What decision code has denied already, asked again where it would have to be done.
Outcome CheckAbilities(const module::PlanTemplate& granted, const Circumstances& here) {
  const std::pair<bool, std::string_view> needs[] = {
      {granted.inspects_tls, capability::Inspect},
      {granted.opens_websockets, capability::Websocket},
      {!granted.secret_uses.empty(), capability::Secrets},
      {granted.evidence.unrecorded_allows.any(), capability::Omit}};
  for (const auto& [is_needed, word] : needs) {
    if (is_needed && !here.capabilities.contains(word)) {
      return Unsupported(
          fmt::format("class {} needs a host that is able to `{}`", granted.class_name, word));
    }
  }
  return Ok();
}

void AddIdentity(Plan& plan, const module::PlanTemplate& granted, const Circumstances& here) {
  if (!granted.token) return;
  plan.steps.push_back(MintToken{
      .audience = granted.token->audience,
      .expires_ms = std::min(here.wall_ms + granted.token->lives_ms, plan.deadline_wall_ms)});
  plan.steps.push_back(WriteIdentity{.path = std::string(IdentityPath)});
}

}  // namespace

Result<Plan> Draft(const gate::Permit<schema::Action::Create>& permit,
                   const module::PlanTemplate& granted, const Circumstances& here) {
  const Facts& facts = permit.facts();
  Plan plan;
  plan.sandbox = here.sandbox;
  plan.class_name = granted.class_name;
  plan.class_index = permit.answer().class_index;
  const std::optional<Digest> image = facts.DigestAt(slot::CreateImage);
  if (!image || std::none_of(granted.images.begin(), granted.images.end(),
                             [&](const auto& grant) { return grant.digest == *image; })) {
    return Failure(FailureCode::Denied, "the plan's image is none that its class grants");
  }
  plan.image = *image;
  if (granted.network && !here.capabilities.contains(capability::Egress)) {
    return Unsupported("this host has no gateway that could judge what leaves; class " +
                       granted.class_name + " allows egress");
  }
  if (const auto volumes = facts.Texts(slot::CreatePersist); volumes && !volumes->empty()) {
    return Unsupported("`persist`: this host keeps no volumes yet");
  }
  CURFEW_TRY_VOID(CheckAbilities(granted, here));
  CURFEW_TRY(plan.isolation, IsolationFor(facts, granted, here));
  CURFEW_TRY(const std::int64_t vcpus, Effective(facts, slot::CreateCpu, granted.cpu, "cpu"));
  CURFEW_TRY(const std::int64_t memory,
             Effective(facts, slot::CreateMemory, granted.memory_bytes, "memory"));
  CURFEW_TRY(const std::int64_t ttl, Effective(facts, slot::CreateTtl, granted.ttl_ms, "ttl"));
  CURFEW_TRY_VOID(CheckDisks(facts, granted));
  if (granted.token && granted.token->lives_ms > limits::TokenLifeMsMax) {
    return Failure(FailureCode::Denied,
                   fmt::format("the plan's token lives {}; no token lives longer than {}",
                               values::DurationText(granted.token->lives_ms),
                               values::DurationText(limits::TokenLifeMsMax)));
  }
  if (vcpus > VcpusMax) return Unsupported(fmt::format("{} virtual processors", vcpus));
  if (memory < MemoryBytesMin) {
    return Unsupported(fmt::format("a guest with {} of memory; its kernel needs {}",
                                   values::SizeText(memory), values::SizeText(MemoryBytesMin)));
  }
  if (granted.idle_ms && granted.idle_end == module::IdleEnd::Freeze) {
    return Unsupported("`idle … then freeze`: this host cannot freeze a sandbox yet");
  }
  plan.vcpus = static_cast<unsigned>(vcpus);
  plan.memory_bytes = static_cast<std::uint64_t>(WholeMebibytes(memory));
  if (__builtin_add_overflow(here.monotonic_ms, ttl, &plan.lifetime.deadline_ms) ||
      __builtin_add_overflow(here.wall_ms, ttl, &plan.deadline_wall_ms)) {
    return Failure(FailureCode::Denied, "the plan's ttl reaches past the end of time");
  }
  plan.lifetime.created_ms = here.monotonic_ms;
  plan.lifetime.grace_ms = granted.grace_ms;
  plan.lifetime.idle_ms = granted.idle_ms;
  plan.lifetime.idle_end = granted.idle_end;
  plan.exports = granted.exports;

  plan.steps.push_back(OpenImage{.digest = plan.image});
  plan.steps.push_back(MakeCgroups{.name = plan.sandbox.id, .guest_bytes = plan.memory_bytes});
  for (std::size_t i = 0; i < granted.scratch.size(); ++i) {
    plan.steps.push_back(
        MakeScratch{.serial = fmt::format("scratch-{}", i),
                    .path = granted.scratch[i].path,
                    .bytes = static_cast<std::uint64_t>(granted.scratch[i].bytes)});
  }
  if (granted.network) plan.steps.push_back(MakeWire{.name = plan.sandbox.id});
  plan.steps.push_back(StartMachine{
      .vcpus = plan.vcpus, .memory_bytes = plan.memory_bytes, .isolation = plan.isolation});
  plan.steps.push_back(JoinAgent{.host_name = plan.sandbox.id});
  if (granted.network) plan.steps.push_back(StartGateway{});
  AddIdentity(plan, granted, here);
  return plan;
}

}  // namespace curfew::plan
