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

// Bounds of a chain meet: the smaller maximum, which keeps its id, and the smaller default.
void Meet(std::optional<model::Bound>& bound, const std::optional<model::Bound>& other) {
  if (!other) return;
  if (!bound) {
    bound = other;
    return;
  }
  auto standard = bound->value.standard;
  if (other->value.standard && (!standard || *other->value.standard < *standard)) {
    standard = other->value.standard;
  }
  if (other->value.most < bound->value.most) bound = other;
  if (standard && *standard > bound->value.most) standard = bound->value.most;
  bound->value.standard = standard;
}

model::Bound OrSilent(std::optional<model::Bound> bound, std::string_view class_name,
                      std::string_view path, module::Bound silent) {
  if (bound) return *std::move(bound);
  return {fmt::format("{}.{}", class_name, path), silent, {}};
}

}  // namespace

std::vector<const model::Class*> ChainOf(const model::PolicyModel& model, const model::Class& of) {
  std::vector<const model::Class*> chain;
  for (const model::ClassId id : of.chain) chain.push_back(&At(model, id));
  return chain;
}

SizeBounds SizesOf(const model::PolicyModel& model, const model::Class& of) {
  std::optional<model::Bound> cpu;
  std::optional<model::Bound> memory;
  std::optional<model::Bound> disk;
  for (const model::Class* link : ChainOf(model, of)) {
    Meet(cpu, link->image.cpu);
    Meet(memory, link->image.memory);
    Meet(disk, link->image.disk);
  }
  const bool disk_is_bounded = disk.has_value();
  return {OrSilent(std::move(cpu), of.name, "image.size.cpu", kSilentCpu),
          OrSilent(std::move(memory), of.name, "image.size.memory", kSilentMemory),
          OrSilent(std::move(disk), of.name, "image.size.disk", kSilentDisk), disk_is_bounded};
}

model::Bound TtlOf(const model::PolicyModel& model, const model::Class& of) {
  std::optional<model::Bound> ttl;
  for (const model::Class* link : ChainOf(model, of)) Meet(ttl, link->lifetime.ttl);
  // A model without errors has one; without, nothing may live.
  return OrSilent(std::move(ttl), of.name, "lifetime.ttl", module::Bound{std::nullopt, 0});
}

module::Isolation IsolationOf(const model::PolicyModel& model, const model::Class& of) {
  std::optional<module::Isolation> isolation;
  for (const model::Class* link : ChainOf(model, of)) {
    if (isolation != module::Isolation::Kvm && link->image.isolation) {
      isolation = link->image.isolation;
    }
  }
  return isolation.value_or(module::Isolation::Kvm);
}

bool CanFreeze(const model::PolicyModel& model, const model::Class& of) {
  const module::PlanTemplate plan = PlanOf(model, of);
  return plan.idle_ms && plan.idle_end == module::IdleEnd::Freeze;
}

bool HasNetwork(const model::PolicyModel& model, const model::Class& of) {
  for (const model::Class* link : ChainOf(model, of)) {
    if (link->network.allow_none) return false;
  }
  return std::ranges::any_of(ChainOf(model, of), [](const model::Class* link) {
    return std::ranges::any_of(link->network.rules, [](const model::EgressRule& rule) {
      return rule.effect == model::EgressRule::Effect::Allow;
    });
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
  plan.isolation = IsolationOf(model, of);
  plan.network = HasNetwork(model, of);
  plan.ttl_ms = TtlOf(model, of).value;
  plan.evidence = EvidenceOf(model, of);
  // What a further link of a chain writes takes the place of what its base grants here; the
  // decision asks both.
  for (const model::Class* link : ChainOf(model, of)) {
    if (!link->image.allow.empty()) {
      plan.images.clear();
      for (const model::ImageGrant& grant : link->image.allow) {
        const model::Image& image = At(model, grant.image);
        plan.images.push_back({image.name, image.ref, image.digest});
      }
    }
    if (link->identity.token) plan.token = link->identity.token->token;
    if (link->identity.access) plan.access = link->identity.access->principals;
    if (!link->filesystem.scratch.empty()) {
      plan.scratch.clear();
      for (const model::Scratch& scratch : link->filesystem.scratch) {
        plan.scratch.push_back({scratch.path, scratch.bytes});
      }
    }
    if (!link->filesystem.exports.empty() || link->filesystem.exports_none) plan.exports.clear();
    for (const model::TransferRule& rule : link->filesystem.exports) {
      module::TransferGrant grant;
      for (const values::PathGlob& glob : rule.patterns) grant.patterns.push_back(glob.text);
      grant.each = rule.each;
      grant.bytes_most = rule.size.value.most;
      plan.exports.push_back(std::move(grant));
    }
    if (const auto& idle = link->lifetime.idle) {
      const bool is_nearer = !plan.idle_ms || idle->after_ms < *plan.idle_ms;
      const bool closes = idle->then == module::IdleEnd::Close;
      if (is_nearer || (closes && idle->after_ms == *plan.idle_ms)) plan.idle_end = idle->then;
      if (is_nearer) plan.idle_ms = idle->after_ms;
    }
    if (const auto& frozen = link->lifetime.frozen) {
      plan.frozen_ms = std::min(frozen->most_ms, plan.frozen_ms.value_or(frozen->most_ms));
    }
    if (const auto& renewal = link->lifetime.renewal) {
      const module::Renewal& own = renewal->renewal;
      const module::Renewal base = plan.renewal.value_or(own);
      plan.renewal = {std::min(own.times, base.times), std::min(own.by_ms, base.by_ms)};
    }
    if (link->lifetime.grace_ms) plan.grace_ms = *link->lifetime.grace_ms;
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
  return plan;
}

}  // namespace curfew::lower
