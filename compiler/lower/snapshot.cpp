// What is kept of a sandbox, and what may run again: snapshots, their resumption, and that of a
// frozen sandbox.
#include "compiler/lower/lowering.h"
#include "compiler/module/capability.h"
#include "compiler/values/quantity.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace curfew::lower {
namespace {

namespace slot = schema::slot;
namespace capability = module::capability;
using model::SnapshotRule;
using module::SnapshotKind;

// The ordinal of `frozen` in schema::Enum::ResumeKind, in which the kinds of snapshots follow.
constexpr std::int64_t kFrozen = 0;
constexpr std::array kKinds = {SnapshotKind::Disk, SnapshotKind::Memory};

std::int64_t KeptAs(SnapshotKind kind) { return static_cast<std::int64_t>(kind); }
std::int64_t ResumedAs(SnapshotKind kind) { return static_cast<std::int64_t>(kind) + 1; }

// What is said of snapshots as such, by the last link that grants any; and of their resumption.
class SnapshotLowering {
 public:
  SnapshotLowering(Lowering& lowering, const model::Class& of, Block& block)
      : l_(lowering),
        b_(lowering.builder),
        of_(of),
        block_(block),
        writers_(WritersOf(lowering.model, of, model::Grant::Snapshot)) {}

  void Take();
  void Resume();

 private:
  void Deny(std::string_view id, std::string_view message, source::Span span, NodeId condition) {
    block_.denials.push_back({l_.Deny(id, message, span), condition});
  }
  // Where `about` holds, by what an author wrote.
  void DenyWritten(const model::Bound& bound, std::string_view message, NodeId about,
                   NodeId written) {
    const RuleIndex row = l_.Deny(bound.id, message, bound.span);
    block_.denials.push_back({row, b_.And(about, l_.Written(row, written))});
  }
  // `coding.filesystem.snapshot.reason`: one for both kinds.
  [[nodiscard]] std::string IdOf(const model::Class& link, std::string_view item) const {
    return fmt::format("{}.filesystem.snapshot.{}", link.name, item);
  }
  NodeId Can(std::string_view word) {
    return b_.Compare(NodeOp::In, b_.TextTerm(word), l_.TextItems(slot::HostCapabilities));
  }
  NodeId IsKept(SnapshotKind kind) {
    return l_.Test(NodeOp::Equal, slot::SnapshotKind, KeptAs(kind));
  }
  NodeId IsResumed(SnapshotKind kind) {
    return l_.Test(NodeOp::Equal, slot::ResumeSnapshotKind, ResumedAs(kind));
  }
  NodeId IsFrozen() { return l_.Test(NodeOp::Equal, slot::ResumeSnapshotKind, kFrozen); }

  // Whether every link that writes snapshots grants one of a kind.
  [[nodiscard]] bool GrantsAny() const {
    return std::ranges::any_of(kKinds, [&](SnapshotKind kind) {
      return SnapshotExpiresOf(l_.model, of_, kind).has_value();
    });
  }
  void Wishes();
  void Limits(const SnapshotRule& rule);
  void WhoseAndWhy(const model::Class& link);
  void FrozenWishes();
  std::vector<ir::Entry> FrozenGrants();
  void ResumeLimits(const model::Class& link, const SnapshotRule& rule);

  Lowering& l_;
  ir::Builder& b_;
  const model::Class& of_;
  Block& block_;
  std::vector<const model::Class*> writers_;
};

// ---- Taking one ---------------------------------------------------------------------------------

// How long it is kept is a wish: what is left out is the shortest default of the chain.
void SnapshotLowering::Wishes() {
  for (const SnapshotKind kind : kKinds) {
    const std::optional<model::Bound> expires = SnapshotExpiresOf(l_.model, of_, kind);
    if (!expires) continue;
    if (expires->value.standard) {
      block_.defaults.push_back({.slot = slot::SnapshotExpiresIn,
                                 .when_slot = slot::SnapshotKind,
                                 .when_value = static_cast<std::int32_t>(KeptAs(kind)),
                                 .integer = *expires->value.standard});
    } else {
      Deny(expires->id,
           fmt::format("`expires_in` is left out and has no default; ask for at most {}",
                       values::DurationText(expires->value.most)),
           expires->span, b_.And(IsKept(kind), b_.Not(b_.Has(slot::SnapshotExpiresIn))));
    }
  }
}

void SnapshotLowering::Limits(const SnapshotRule& rule) {
  const auto over = [&](Slot measured, const model::Bound& bound, std::string message) {
    DenyWritten(bound, message, IsKept(rule.kind),
                l_.Test(NodeOp::Greater, measured, bound.value.most));
  };
  DenyWritten(
      rule.expires,
      fmt::format("it is kept for at most {}", values::DurationText(rule.expires.value.most)),
      b_.And(IsKept(rule.kind), b_.Has(slot::SnapshotExpiresIn)),
      l_.Test(NodeOp::Greater, slot::SnapshotExpiresIn, rule.expires.value.most));
  if (rule.size) {
    over(slot::SnapshotSize, *rule.size,
         fmt::format("it is larger than {}", values::SizeText(rule.size->value.most)));
  }
  if (rule.keep) {
    over(slot::SnapshotKept, *rule.keep,
         fmt::format("{} are kept already; nothing is deleted for another", rule.keep->value.most));
  }
}

// State that outlives its task says whose it is and why, and never outlives what it came from.
void SnapshotLowering::WhoseAndWhy(const model::Class& link) {
  const source::Span span = link.filesystem.snapshots.front().span;
  Deny(IdOf(link, "reason"), "a snapshot says why it is taken", span,
       b_.Or(b_.Not(b_.Has(slot::SnapshotReason)),
             b_.Compare(NodeOp::Equal, l_.Text(slot::SnapshotReason), b_.TextTerm(""))));
  Deny(IdOf(link, "owner"), "a snapshot says whose it is", span,
       b_.Not(b_.Has(slot::SnapshotOwner)));
  for (const SnapshotKind kind : kKinds) {
    if (!SnapshotExpiresOf(l_.model, of_, kind)) continue;
    const bool renews = std::ranges::all_of(writers_, [&](const model::Class* writer) {
      const SnapshotRule* rule = RuleOf(*writer, kind);
      return rule != nullptr && rule->renews;
    });
    if (renews) continue;
    Deny(IdOf(link, "lineage"),
         "it would outlive the snapshot that its sandbox came from, and no `renews` lets it", span,
         b_.And(std::array{IsKept(kind), b_.Has(slot::SnapshotLineageExpiresIn),
                           b_.Has(slot::SnapshotExpiresIn),
                           b_.Compare(NodeOp::Greater, l_.Integer(slot::SnapshotExpiresIn),
                                      l_.Integer(slot::SnapshotLineageExpiresIn))}));
  }
}

void SnapshotLowering::Take() {
  const RuleIndex none = l_.Deny(model::DefaultIdOf(of_.name, Action::Snapshot),
                                 "no `snapshot` of the class covers it", of_.span);
  for (const model::Class* link : writers_) {
    ir::Group group{{}, none, none};
    for (const SnapshotRule& rule : link->filesystem.snapshots) {
      const RuleIndex row = l_.Allow(rule.id, "", rule.span);
      group.entries.push_back({row, l_.Written(row, IsKept(rule.kind))});
      Limits(rule);
    }
    block_.groups.push_back(std::move(group));
  }
  if (writers_.empty()) block_.groups.push_back({{}, none, none});
  if (!GrantsAny()) return;
  Wishes();
  WhoseAndWhy(*writers_.back());
  Deny("builtin.unsupported", "`snapshot` needs a host that keeps snapshots", {},
       b_.Not(Can(capability::Snapshot)));
}

// ---- Running again ------------------------------------------------------------------------------

// A frozen sandbox goes on as it is: its end, and the secrets that it holds.
void SnapshotLowering::FrozenWishes() {
  const model::Bound ttl = TtlOf(l_.model, of_);
  if (ttl.value.standard) {
    block_.defaults.push_back({.slot = slot::ResumeTtl, .integer = *ttl.value.standard});
  }
  block_.defaults.push_back(
      {.slot = slot::ResumeSecrets, .kind = module::DefaultRecord::Kind::NoItems});
  block_.checks.push_back(
      {l_.Deny(ttl.id, "a frozen sandbox keeps its end; `extend` asks for a later one", ttl.span),
       b_.And(IsFrozen(), b_.Has(slot::ResumeTtl))});
  block_.checks.push_back(
      {l_.Deny(fmt::format("{}.identity.secrets", of_.name),
               "a frozen sandbox keeps the secrets that it was created with"),
       b_.And(
           std::array{IsFrozen(), b_.Has(slot::ResumeSecrets),
                      b_.Compare(NodeOp::Greater, b_.CountTerm(l_.TextItems(slot::ResumeSecrets)),
                                 b_.IntegerTerm(0))})});
}

// The grants of what was frozen, for as long as each link lets it stay so.
std::vector<ir::Entry> SnapshotLowering::FrozenGrants() {
  std::vector<ir::Entry> grants;
  const module::PlanTemplate plan = PlanOf(l_.model, of_);
  const auto denied_from = [&](std::string_view id, std::string message, source::Span span,
                               std::int64_t age_ms) {
    DenyWritten({std::string(id), {}, span}, message, IsFrozen(),
                l_.Test(NodeOp::GreaterEqual, slot::ResumeSnapshotAge, age_ms));
  };
  for (const model::Class* link : ChainOf(l_.model, of_)) {
    const auto& frozen = link->lifetime.frozen;
    const auto& idle = link->lifetime.idle;
    const bool freezes = idle && idle->then == module::IdleEnd::Freeze;
    if (idle && !freezes && plan.idle_end == module::IdleEnd::Freeze) {
      denied_from(idle->id,
                  fmt::format("it is closed when it was idle for {}, frozen or not",
                              values::DurationText(idle->after_ms)),
                  idle->span, idle->after_ms - *plan.idle_ms);
    }
    if (frozen) {
      grants.push_back({l_.Allow(frozen->id, "", frozen->span), IsFrozen()});
      denied_from(
          frozen->id,
          fmt::format("it stays frozen for at most {}", values::DurationText(frozen->most_ms)),
          frozen->span, frozen->most_ms + 1);
    } else if (freezes) {
      grants.push_back({l_.Allow(idle->id, "", idle->span), IsFrozen()});
    }
  }
  if (!grants.empty()) {
    Deny("builtin.unsupported", "a frozen sandbox needs a host that can freeze one", {},
         b_.And(IsFrozen(), b_.Not(Can(capability::Freeze))));
  }
  return grants;
}

// What the current set says of a snapshot of the kind: it may be stricter than the one that it was
// taken under.
void SnapshotLowering::ResumeLimits(const model::Class& link, const SnapshotRule& rule) {
  const NodeId is_kind = IsResumed(rule.kind);
  const model::Bound branches =
      rule.branches ? *rule.branches
                    : model::Bound{IdOf(link, "branches"), {std::nullopt, 1}, rule.span};
  const bool is_said = std::ranges::any_of(writers_, [&](const model::Class* writer) {
    const SnapshotRule* other = RuleOf(*writer, rule.kind);
    return other != nullptr && other->branches;
  });
  if (rule.branches || !is_said) {
    const std::string message =
        fmt::format("at most {} sandboxes run from one snapshot", branches.value.most);
    const NodeId is_more =
        l_.Test(NodeOp::Greater, slot::ResumeSnapshotBranches, branches.value.most);
    if (rule.branches) {
      DenyWritten(branches, message, is_kind, is_more);
    } else {
      Deny(branches.id, message, branches.span, b_.And(is_kind, is_more));
    }
  }
  DenyWritten(rule.expires,
              fmt::format("a snapshot is kept for at most {}",
                          values::DurationText(rule.expires.value.most)),
              is_kind,
              l_.Test(NodeOp::GreaterEqual, slot::ResumeSnapshotAge, rule.expires.value.most));

  std::vector<std::string> classes;
  for (const model::ClassId one : of_.chain) classes.push_back(At(l_.model, one).name);
  for (const model::ClassId one : rule.from) classes.push_back(At(l_.model, one).name);
  const RuleIndex from = l_.Deny(
      IdOf(link, "from"),
      "its class is neither that of the new sandbox, nor one that it narrows, nor named by `from`",
      rule.span);
  const NodeId is_of_these =
      b_.Compare(NodeOp::In, l_.Text(slot::ResumeSnapshotClass), b_.TextSetTerm(classes));
  if (!rule.from.empty()) b_.Written(from, is_of_these);
  block_.denials.push_back({from, b_.And(is_kind, b_.Not(is_of_these))});
}

void SnapshotLowering::Resume() {
  FrozenWishes();
  const RuleIndex not_frozen =
      l_.Deny(model::DefaultIdOf(of_.name, Action::Resume),
              "neither `idle … then freeze` nor `frozen` lets it run again", of_.span);
  const RuleIndex no_snapshot = l_.Deny(model::DefaultIdOf(of_.name, Action::Snapshot),
                                        "no `snapshot` of the class covers it", of_.span);
  const std::vector<ir::Entry> frozen = FrozenGrants();
  // A snapshot that is not granted is refused by its own name: it meets an entry that nothing lies
  // within.
  const ir::Entry refused{l_.Allow(model::DefaultIdOf(of_.name, Action::Snapshot), ""),
                          b_.Not(IsFrozen()), b_.Constant(false)};
  for (const model::Class* link : writers_) {
    ir::Group group{frozen, not_frozen, no_snapshot};
    for (const SnapshotRule& rule : link->filesystem.snapshots) {
      const RuleIndex row = l_.Allow(rule.id, "", rule.span);
      group.entries.push_back({row, l_.Written(row, IsResumed(rule.kind))});
      ResumeLimits(*link, rule);
    }
    group.entries.push_back(refused);
    block_.groups.push_back(std::move(group));
  }
  if (writers_.empty()) {
    ir::Group group{frozen, not_frozen, no_snapshot};
    group.entries.push_back(refused);
    block_.groups.push_back(std::move(group));
  }
  if (!GrantsAny()) return;
  const NodeId is_left = l_.Test(NodeOp::Greater, slot::ResumeSnapshotExpiresIn, 0);
  DenyWritten({IdOf(*writers_.back(), "expires"), {}, writers_.back()->span},
              "the snapshot has expired", b_.Not(IsFrozen()), b_.Not(is_left));
  Deny("builtin.unsupported", "a snapshot needs a host that keeps snapshots", {},
       b_.And(b_.Not(IsFrozen()), b_.Not(Can(capability::Snapshot))));
}

}  // namespace

const SnapshotRule* RuleOf(const model::Class& link, SnapshotKind kind) {
  const auto& rules = link.filesystem.snapshots;
  const auto found = std::ranges::find(rules, kind, &SnapshotRule::kind);
  return found == rules.end() ? nullptr : &*found;
}

std::optional<model::Bound> SnapshotExpiresOf(const model::PolicyModel& model,
                                              const model::Class& of, SnapshotKind kind) {
  std::optional<model::Bound> expires;
  for (const model::Class* link : WritersOf(model, of, model::Grant::Snapshot)) {
    const SnapshotRule* rule = RuleOf(*link, kind);
    if (rule == nullptr) return std::nullopt;
    model::Meet(expires, rule->expires);
  }
  return expires;
}

void PlanSnapshots(const model::PolicyModel& model, const model::Class& of,
                   module::PlanTemplate& plan) {
  const auto smaller = [](std::optional<std::int64_t>& most,
                          const std::optional<model::Bound>& bound) {
    if (bound) most = std::min(bound->value.most, most.value_or(bound->value.most));
  };
  for (const SnapshotKind kind : kKinds) {
    const auto expires = SnapshotExpiresOf(model, of, kind);
    if (!expires) continue;
    module::SnapshotGrant grant;
    grant.kind = kind;
    grant.expires_ms = expires->value;
    grant.renews = true;
    std::optional<std::int64_t> branches;
    std::set<std::string> from;
    for (const model::Class* link : WritersOf(model, of, model::Grant::Snapshot)) {
      const SnapshotRule& rule = *RuleOf(*link, kind);
      smaller(grant.bytes_most, rule.size);
      smaller(grant.keep_most, rule.keep);
      smaller(branches, rule.branches);
      grant.renews = grant.renews && rule.renews;
      from.clear();
      for (const model::ClassId id : rule.from) from.insert(At(model, id).name);
    }
    grant.branches_most = branches.value_or(1);
    grant.from.assign(from.begin(), from.end());
    plan.snapshots.push_back(std::move(grant));
  }
}

void LowerSnapshot(Lowering& lowering, const model::Class& of, Block& block) {
  SnapshotLowering(lowering, of, block).Take();
}

void LowerResume(Lowering& lowering, const model::Class& of, Block& block) {
  SnapshotLowering(lowering, of, block).Resume();
}

// Who may resume: of a frozen sandbox whoever has access to it; of a snapshot its owner, the owner
// of the task that it holds, an operator, or whom `access` of its own class names. To be the new
// sandbox's creator is not enough.
void LowerResumeAccess(Lowering& lowering, const model::Class& of, Block& block) {
  ir::Builder& b = lowering.builder;
  const NodeId is_frozen = lowering.Test(NodeOp::Equal, slot::ResumeSnapshotKind, kFrozen);
  const NodeId is_snapshot = b.Not(is_frozen);
  const auto is_caller = [&](Slot principal) {
    const TermId who = lowering.Text(principal);
    return b.Or(b.Compare(NodeOp::Equal, lowering.Text(slot::CallerId), who),
                b.Compare(NodeOp::In, who, lowering.TextItems(slot::CallerGroups)));
  };
  const NodeId owns_snapshot =
      b.Or(std::array{is_caller(slot::ResumeSnapshotOwner), is_caller(slot::TaskOwner),
                      lowering.Test(NodeOp::Equal, slot::CallerOperator, 1)});
  const RuleIndex none = lowering.Deny(
      "builtin.access",
      "the caller is neither creator (of what was frozen), owner (of the snapshot or its task), "
      "operator nor named by `access`");
  std::vector<ir::Entry> entries = {
      {lowering.Allow("builtin.access", "the caller is its creator, its owner or an operator"),
       b.Or(b.And(is_frozen, LowerOwnAccess(lowering)), b.And(is_snapshot, owns_snapshot))}};

  std::set<model::ClassId> sources(of.chain.begin(), of.chain.end());
  for (const model::Class* link : WritersOf(lowering.model, of, model::Grant::Snapshot)) {
    for (const SnapshotRule& rule : link->filesystem.snapshots) {
      sources.insert(rule.from.begin(), rule.from.end());
    }
  }
  for (const model::ClassId source : sources) {
    const model::Class& from = At(lowering.model, source);
    const auto writers = WritersOf(lowering.model, from, model::Grant::Access);
    if (writers.empty()) continue;
    const model::AccessGrant& grant = *writers.back()->identity.access;
    entries.push_back(
        {lowering.Allow(grant.id, "", grant.span),
         b.And(std::array{is_snapshot,
                          b.Compare(NodeOp::Equal, lowering.Text(slot::ResumeSnapshotClass),
                                    b.TextTerm(from.name)),
                          LowerAccessOf(lowering, from)})});
  }
  const auto writers = WritersOf(lowering.model, of, model::Grant::Access);
  for (const model::Class* link : writers) {
    const model::AccessGrant& grant = *link->identity.access;
    ir::Group group{entries, none, none};
    group.entries.push_back({lowering.Allow(grant.id, "", grant.span),
                             b.And(is_frozen, LowerListedAccess(lowering, grant))});
    block.groups.push_back(std::move(group));
  }
  if (writers.empty()) block.groups.push_back({entries, none, none});
}

}  // namespace curfew::lower
