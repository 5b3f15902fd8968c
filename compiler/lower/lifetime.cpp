// Time: until when authority is held, what may grow it, and what a frozen sandbox may still ask.
#include "compiler/lower/lowering.h"
#include "compiler/values/quantity.h"

#include <array>

#include <fmt/format.h>

namespace curfew::lower {
namespace {

namespace slot = schema::slot;

bool Freezes(const model::Class& link) {
  return link.lifetime.idle && link.lifetime.idle->then == module::IdleEnd::Freeze;
}

// A frozen sandbox is resumed before anything else. A chain that never freezes one does not ask.
void LowerFrozen(Lowering& lowering, const model::Class& of, Block& block) {
  const model::Class* freezing = nullptr;
  for (const model::Class* link : ChainOf(lowering.model, of)) {
    if (Freezes(*link) || link->lifetime.frozen) freezing = link;
  }
  if (freezing == nullptr) return;
  const auto& frozen = freezing->lifetime.frozen;
  const RuleIndex row =
      lowering.Deny(frozen ? frozen->id : model::DefaultIdOf(of.name, Action::Resume),
                    "the sandbox is frozen; resume it first",
                    frozen ? frozen->span : freezing->lifetime.idle->span);
  block.denials.push_back(
      {row, lowering.Written(row, lowering.Test(NodeOp::Equal, slot::SandboxFrozen, 1))});
}

}  // namespace

// Authority is held while something of ttl is left, and until idleness has ended it; an export may
// finish within grace after either.
void LowerTime(Lowering& lowering, const model::Class& of, Action action, Block& block) {
  ir::Builder& b = lowering.builder;
  const module::PlanTemplate plan = PlanOf(lowering.model, of);
  const std::int64_t grace_ms = action == Action::Export ? plan.grace_ms : 0;
  const model::Bound ttl = TtlOf(lowering.model, of);
  const RuleIndex over = lowering.Deny(ttl.id, "the time of the sandbox is over", ttl.span);
  const NodeId is_left = lowering.Test(NodeOp::Greater, slot::SandboxTtlLeft, -grace_ms);
  block.denials.push_back({over, b.Not(lowering.Written(over, is_left))});
  if (action != Action::Resume) LowerFrozen(lowering, of, block);
  for (const model::Class* link : ChainOf(lowering.model, of)) {
    if (!link->lifetime.idle) continue;
    const model::Idle& idle = *link->lifetime.idle;
    // A freeze does not end authority for what wakes the sandbox up again.
    if (idle.then == module::IdleEnd::Freeze && action == Action::Resume) continue;
    const RuleIndex row = lowering.Deny(
        idle.id, fmt::format("the sandbox was idle for {}", values::DurationText(idle.after_ms)),
        idle.span);
    const NodeId was_idle =
        lowering.Test(NodeOp::GreaterEqual, slot::SandboxIdle, idle.after_ms + grace_ms);
    // Nobody wrote the sum; of what freezes, idleness never comes so far.
    if (grace_ms == 0) lowering.builder.Written(row, was_idle);
    block.denials.push_back({row, was_idle});
  }
}

// Renewals: as often and by as much as each link says, and never past the end that `ttl at most`
// set when the sandbox was created, nor past the one that the current set would have set.
void LowerExtend(Lowering& lowering, const model::Class& of, Block& block) {
  ir::Builder& b = lowering.builder;
  const RuleIndex none = lowering.Deny(model::DefaultIdOf(of.name, Action::Extend),
                                       "no `renew` of the class lets a lifetime grow", of.span);
  ir::Group group{{}, none, none};
  for (const model::Class* link : WritersOf(lowering.model, of, model::Grant::Renew)) {
    if (link->lifetime.renew_none) {
      block.groups.push_back({{}, none, none});
      return;
    }
    const model::Renewal& says = *link->lifetime.renewal;
    group.entries.push_back({lowering.Allow(says.id, "", says.span)});
    const auto deny_beyond = [&](Slot measured, std::int64_t most, std::string_view message) {
      const RuleIndex row = lowering.Deny(says.id, message, says.span);
      block.denials.push_back(
          {row, lowering.Written(row, lowering.Test(NodeOp::Greater, measured, most))});
    };
    deny_beyond(slot::ExtendTimes, says.renewal.times,
                fmt::format("a lifetime grows at most {} times", says.renewal.times));
    deny_beyond(slot::ExtendBy, says.renewal.by_ms,
                fmt::format("a lifetime grows by at most {} at a time",
                            values::DurationText(says.renewal.by_ms)));
  }
  const bool grows = !group.entries.empty();
  block.groups.push_back(std::move(group));
  if (!grows) return;

  const auto sum = [&](std::initializer_list<Slot> slots) {
    std::vector<module::AddendRecord> addends;
    for (const Slot one : slots) addends.push_back({1, lowering.Integer(one)});
    return b.SumTerm(addends);
  };
  const model::Bound ttl = TtlOf(lowering.model, of);
  const RuleIndex too_far = lowering.Deny(
      ttl.id, "the lifetime would grow past the end that `ttl … at most` set for it", ttl.span);
  const NodeId is_beyond =
      b.Compare(NodeOp::Greater, sum({slot::SandboxAge, slot::SandboxTtlLeft, slot::ExtendBy}),
                b.IntegerTerm(ttl.value.most));
  block.denials.push_back(
      {too_far, b.Or(lowering.Written(too_far, is_beyond),
                     b.Compare(NodeOp::Greater, sum({slot::SandboxTtlLeft, slot::ExtendBy}),
                               lowering.Integer(slot::ExtendHardEndIn)))});
}

}  // namespace curfew::lower
