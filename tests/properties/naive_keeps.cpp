// What a sandbox keeps: its time, and what of it runs again later.
#include "tests/properties/naive_decision.h"

namespace curfew::properties {

void NaiveDecision::Time(const model::Class& of) {
  const Action action = r_.action();
  const model::LifetimePlane& life = of.lifetime;
  const bool freezes = life.idle && life.idle->then == module::IdleEnd::Freeze;
  const std::int64_t grace = action == Action::Export ? life.grace_ms.value_or(0) : 0;
  Deny(of.name + ".lifetime.ttl",
       NumberIs(slot::SandboxTtlLeft, [&](Wide left) { return left <= -Wide{grace}; }));
  if (action == Action::Resume && freezes) return;
  if (life.idle) {
    Deny(of.name + ".lifetime.idle", NumberIs(slot::SandboxIdle, [&](Wide idle) {
           return idle >= Wide{life.idle->after_ms} + grace;
         }));
  }
  if (action != Action::Resume && (freezes || life.frozen)) {
    Deny(of.name + ".lifetime.frozen",
         NumberIs(slot::SandboxFrozen, [](Wide n) { return n == 1; }));
  }
}

void NaiveDecision::Extend(const model::Class& of) {
  const std::string id = of.name + ".lifetime.renew";
  if (!of.lifetime.renewal) return DenySurely(id);
  answer_.allows.insert(id);
  const module::Renewal& says = of.lifetime.renewal->renewal;
  Deny(id, NumberIs(slot::ExtendTimes, [&](Wide n) { return n > says.times; }));
  Deny(id, NumberIs(slot::ExtendBy, [&](Wide n) { return n > says.by_ms; }));
  const Fact age = Number(slot::SandboxAge);
  const Fact left = Number(slot::SandboxTtlLeft);
  const Fact by = Number(slot::ExtendBy);
  const Fact hard_end = Number(slot::ExtendHardEndIn);
  Truth past_ttl;
  Truth past_end;
  if (age && left && by) {
    past_ttl = age->number + left->number + by->number > of.lifetime.ttl->value.most;
  }
  if (left && by && hard_end) past_end = left->number + by->number > hard_end->number;
  Deny(of.name + ".lifetime.ttl", Some({past_ttl, past_end}));
}

void NaiveDecision::Resume(const model::Class& of) {
  const model::LifetimePlane& life = of.lifetime;
  const bool freezes = life.idle && life.idle->then == module::IdleEnd::Freeze;
  const Truth frozen = NumberIs(slot::ResumeSnapshotKind, [](Wide kind) { return kind == 0; });
  if (frozen == Truth(false)) {
    DenySurely(of.name + ".filesystem.snapshot");
  } else if (!life.frozen && !freezes) {
    DenySurely(of.name + ".lifetime.frozen");
  } else if (frozen == Truth(true)) {
    answer_.allows.insert(of.name + (life.frozen ? ".lifetime.frozen" : ".lifetime.idle"));
  } else {
    DenyByDefault(of.name + ".lifetime.frozen", true);
  }
  if (!life.frozen) return;
  const Truth too_long =
      NumberIs(slot::ResumeSnapshotAge, [&](Wide age) { return age > life.frozen->most_ms; });
  Deny(of.name + ".lifetime.frozen", All({frozen, too_long}));
}

}  // namespace curfew::properties
