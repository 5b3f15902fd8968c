#include "compiler/base/check.h"
#include "compiler/lower/lowering.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::lower {
namespace {

// What a class that writes no size gets: enough to boot, and no more.
constexpr module::Bound kSilentCpu{1, 1};
constexpr module::Bound kSilentMemory{std::int64_t{512} * 1024 * 1024,
                                      std::int64_t{512} * 1024 * 1024};
constexpr module::Bound kSilentDisk{0, 0};

model::Bound OrSilent(std::optional<model::Bound> bound, std::string_view class_name,
                      std::string_view path, module::Bound silent) {
  if (bound) return *std::move(bound);
  return {fmt::format("{}.{}", class_name, path), silent, {}};
}

module::EgressLimits LimitsOf(const model::NetworkPlane& bounds) {
  module::EgressLimits limits;
  if (bounds.request_rate) {
    limits.requests = bounds.request_rate->most;
    limits.window_ms = bounds.request_rate->per_ms;
  }
  if (bounds.request_bytes) limits.request_bytes = bounds.request_bytes->value.most;
  if (bounds.total_bytes) limits.total_bytes = bounds.total_bytes->value.most;
  return limits;
}

std::string PlanAudience(const model::Audience& audience) {
  switch (audience.kind) {
    case model::Audience::Kind::Any:
      return "any";
    case model::Audience::Kind::TaskOwner:
      return "task.owner";
    case model::Audience::Kind::Principal:
      return audience.principal;
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

const model::Class* LastWriter(const model::PolicyModel& model, const model::Class& of,
                               model::Grant grant) {
  const auto writers = WritersOf(model, of, grant);
  return writers.empty() ? nullptr : writers.back();
}

}  // namespace

SizeBounds SizesOf(const model::PolicyModel& model, const model::Class& of) {
  model::ImagePlane image = BoundsOf(model, of).image;
  const bool disk_is_bounded = image.disk.has_value();
  return {OrSilent(std::move(image.cpu), of.name, "image.size.cpu", kSilentCpu),
          OrSilent(std::move(image.memory), of.name, "image.size.memory", kSilentMemory),
          OrSilent(std::move(image.disk), of.name, "image.size.disk", kSilentDisk),
          disk_is_bounded};
}

model::Bound TtlOf(const model::PolicyModel& model, const model::Class& of) {
  // A model without errors has one; without, nothing may live.
  return OrSilent(BoundsOf(model, of).lifetime.ttl, of.name, "lifetime.ttl",
                  module::Bound{std::nullopt, 0});
}

module::Isolation IsolationOf(const model::PolicyModel& model, const model::Class& of) {
  return BoundsOf(model, of).image.isolation.value_or(module::Isolation::Kvm);
}

bool CanFreeze(const model::PolicyModel& model, const model::Class& of) {
  const module::PlanTemplate plan = PlanOf(model, of);
  return plan.idle_ms && plan.idle_end == module::IdleEnd::Freeze;
}

bool HasNetwork(const model::PolicyModel& model, const model::Class& of) {
  const auto writers = WritersOf(model, of, model::Grant::Egress);
  return !writers.empty() && std::ranges::none_of(writers, [](const model::Class* link) {
    return link->network.allow_none.has_value();
  });
}

module::PlanTemplate PlanOf(const model::PolicyModel& model, const model::Class& of) {
  module::PlanTemplate plan;
  plan.class_name = of.name;
  const SizeBounds sizes = SizesOf(model, of);
  plan.cpu = sizes.cpu.value;
  plan.memory_bytes = sizes.memory.value;
  plan.disk_bytes = sizes.disk.value;
  plan.disk_is_bounded = sizes.disk_is_bounded;
  plan.network = HasNetwork(model, of);
  plan.inspects_tls = InspectsTls(model, of);
  plan.opens_websockets = OpensWebsockets(model, of);
  plan.ttl_ms = TtlOf(model, of).value;
  plan.evidence = EvidenceOf(model, of);
  PlanKept(model, of, plan);

  const model::Class bounds = BoundsOf(model, of);
  plan.isolation = bounds.image.isolation.value_or(module::Isolation::Kvm);
  if (bounds.identity.token) plan.token = bounds.identity.token->token;
  for (const model::Scratch& scratch : bounds.filesystem.scratch) {
    plan.scratch.push_back({scratch.path, scratch.bytes});
  }
  if (const auto& idle = bounds.lifetime.idle) {
    plan.idle_ms = idle->after_ms;
    plan.idle_end = idle->then;
  }
  if (const auto& frozen = bounds.lifetime.frozen) plan.frozen_ms = frozen->most_ms;
  if (const auto& renewal = bounds.lifetime.renewal) plan.renewal = renewal->renewal;
  plan.grace_ms = bounds.lifetime.grace_ms.value_or(0);
  plan.limits = LimitsOf(bounds.network);

  // Of what the links allow the last one's is the narrowest; the decision asks each of them.
  if (const auto* link = LastWriter(model, of, model::Grant::Image)) {
    for (const model::ImageGrant& grant : link->image.allow) {
      const model::Image& image = At(model, grant.image);
      plan.images.push_back({image.name, image.ref, image.digest});
    }
  }
  if (const auto* link = LastWriter(model, of, model::Grant::Access)) {
    plan.access = link->identity.access->principals;
    plan.access_any = link->identity.access->any;
  }
  if (const auto* link = LastWriter(model, of, model::Grant::Expose)) {
    for (const model::ExposeRule& rule : link->network.exposes) {
      plan.exposes.push_back(
          {rule.ports.first, rule.ports.last, PlanAudience(rule.to), rule.lasts.value});
    }
  }
  // What a link would have closed by now is not frozen any longer.
  for (const model::Class* link : ChainOf(model, of)) {
    const auto& idle = link->lifetime.idle;
    if (!idle || idle->then != module::IdleEnd::Close || plan.idle_end == module::IdleEnd::Close) {
      continue;
    }
    const std::int64_t left_ms = idle->after_ms - *plan.idle_ms - 1;
    plan.frozen_ms = std::min(left_ms, plan.frozen_ms.value_or(left_ms));
  }
  PlanIdentity(model, of, plan);
  return plan;
}

}  // namespace curfew::lower
