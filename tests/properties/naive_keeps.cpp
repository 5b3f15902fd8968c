// What a sandbox keeps: its time, and what of it runs again later.
#include "tests/properties/naive_decision.h"

#include <tuple>

namespace curfew::properties {
namespace {

bool Freezes(const model::Class& link) {
  return link.lifetime.idle && link.lifetime.idle->then == module::IdleEnd::Freeze;
}

// The `ttl` of the links that is at most the least, the first of several.
const model::Bound* ShortestTtl(const std::vector<const model::Class*>& links) {
  const model::Bound* ttl = nullptr;
  for (const model::Class* link : links) {
    const auto& own = link->lifetime.ttl;
    if (own && (ttl == nullptr || own->value.most < ttl->value.most)) ttl = &*own;
  }
  return ttl;
}

}  // namespace

const model::Idle* NaiveDecision::SoonestIdle(const model::Class& of) const {
  const auto key = [](const model::Idle& idle) {
    return std::tuple(idle.after_ms, idle.then == module::IdleEnd::Freeze);
  };
  const model::Idle* soonest = nullptr;
  for (const model::Class* link : Links(of)) {
    const auto& own = link->lifetime.idle;
    if (own && (soonest == nullptr || key(*own) < key(*soonest))) soonest = &*own;
  }
  return soonest;
}

bool NaiveDecision::FreezesWhenIdle(const model::Class& of) const {
  const model::Idle* idle = SoonestIdle(of);
  return idle != nullptr && idle->then == module::IdleEnd::Freeze;
}

void NaiveDecision::Time(const model::Class& of) {
  const Action action = r_.action();
  const auto links = Links(of);
  std::optional<std::int64_t> written;
  std::string frozen_id;
  for (const model::Class* link : links) {
    const auto& own = link->lifetime.grace_ms;
    if (own) written = written ? std::min(*written, *own) : *own;
    if (link->lifetime.frozen) {
      frozen_id = link->lifetime.frozen->id;
    } else if (Freezes(*link)) {
      frozen_id = of.name + ".lifetime.frozen";
    }
  }
  const std::int64_t grace = action == Action::Export ? written.value_or(0) : 0;
  Deny(ShortestTtl(links)->id,
       NumberIs(slot::SandboxTtlLeft, [&](Wide left) { return left <= -Wide{grace}; }));
  for (const model::Class* link : links) {
    const auto& idle = link->lifetime.idle;
    if (!idle || (action == Action::Resume && Freezes(*link))) continue;
    Deny(idle->id,
         NumberIs(slot::SandboxIdle, [&](Wide n) { return n >= Wide{idle->after_ms} + grace; }));
  }
  if (action != Action::Resume && !frozen_id.empty()) {
    Deny(frozen_id, NumberIs(slot::SandboxFrozen, [](Wide n) { return n == 1; }));
  }
}

void NaiveDecision::Extend(const model::Class& of) {
  bool grows = false;
  for (const model::Class* link : Links(of)) {
    if (!link->lifetime.renewal) continue;
    grows = true;
    const std::string id = link->name + ".lifetime.renew";
    answer_.allows.insert(id);
    const module::Renewal& says = link->lifetime.renewal->renewal;
    Deny(id, NumberIs(slot::ExtendTimes, [&](Wide n) { return n > says.times; }));
    Deny(id, NumberIs(slot::ExtendBy, [&](Wide n) { return n > says.by_ms; }));
  }
  if (!grows) return DenySurely(of.name + ".lifetime.renew");
  const Fact age = Number(slot::SandboxAge);
  const Fact left = Number(slot::SandboxTtlLeft);
  const Fact by = Number(slot::ExtendBy);
  const Fact hard_end = Number(slot::ExtendHardEndIn);
  const model::Bound* ttl = ShortestTtl(Links(of));
  Truth past_ttl;
  Truth past_end;
  if (age && left && by) past_ttl = age->number + left->number + by->number > ttl->value.most;
  if (left && by && hard_end) past_end = left->number + by->number > hard_end->number;
  Deny(ttl->id, Some({past_ttl, past_end}));
}

void NaiveDecision::Resume(const model::Class& of) {
  const Truth frozen = NumberIs(slot::ResumeSnapshotKind, [](Wide kind) { return kind == 0; });
  // What was frozen goes on as it is. Judged as it came, before any default.
  const model::Bound* ttl = ShortestTtl(Links(of));
  Deny(ttl->id, All({frozen, Present(slot::ResumeTtl)}));
  const Fact secrets = Texts(slot::ResumeSecrets);
  Deny(of.name + ".identity.secrets", All({frozen, Present(slot::ResumeSecrets),
                                           secrets ? Truth(!secrets->items.empty()) : Truth()}));
  std::optional<std::int64_t> standard;
  for (const model::Class* link : Links(of)) {
    if (!link->lifetime.ttl || !link->lifetime.ttl->value.standard) continue;
    const std::int64_t own = *link->lifetime.ttl->value.standard;
    standard = standard ? std::min(*standard, own) : own;
  }
  if (standard && Present(slot::ResumeTtl) == Truth(false)) {
    r_.SetInteger(slot::ResumeTtl, std::min(*standard, ttl->value.most));
  }
  if (Present(slot::ResumeSecrets) == Truth(false)) {
    r_.Set(slot::ResumeSecrets, module::Value::OfItems({}));
  }
  bool may = false;
  for (const model::Class* link : Links(of)) {
    const model::LifetimePlane& life = link->lifetime;
    if (life.frozen || Freezes(*link)) {
      may = true;
      if (frozen == Truth(true)) {
        answer_.allows.insert(link->name + (life.frozen ? ".lifetime.frozen" : ".lifetime.idle"));
      }
    }
    if (life.frozen) {
      const Truth too_long =
          NumberIs(slot::ResumeSnapshotAge, [&](Wide age) { return age > life.frozen->most_ms; });
      Deny(life.frozen->id, All({frozen, too_long}));
    }
    // Frozen or not, it would have been closed by now.
    if (FreezesWhenIdle(of) && life.idle && !Freezes(*link)) {
      const std::int64_t left = life.idle->after_ms - SoonestIdle(of)->after_ms;
      Deny(life.idle->id,
           All({frozen, NumberIs(slot::ResumeSnapshotAge, [&](Wide age) { return age >= left; })}));
    }
  }
  const Fact can = Texts(slot::HostCapabilities);
  const Truth cannot = can ? Truth(!Has(can->items, Thing{0, "freeze", {}})) : Truth();
  if (may) Deny("builtin.unsupported", All({frozen, cannot}));
  if (frozen == Truth(true) && !may) DenySurely(of.name + ".lifetime.frozen");
  // Of each link that writes snapshots, and of the class if none does.
  std::vector<const model::Class*> writers = SnapshotWriters(of);
  if (writers.empty()) writers.push_back(&of);
  for (const model::Class* link : writers) {
    if (!frozen) {
      DenyByDefault(of.name + ".lifetime.frozen", may || !link->filesystem.snapshots.empty());
    }
  }
  ResumeSnapshot(of, frozen);
}

}  // namespace curfew::properties
