// Files that go in and out, and what outlives a sandbox: volumes, snapshots, who runs them again.
#include "compiler/values/path.h"
#include "tests/properties/naive_decision.h"

#include <set>

namespace curfew::properties {
namespace {

const model::SnapshotRule* RuleFor(const model::Class& link, module::SnapshotKind kind) {
  for (const model::SnapshotRule& rule : link.filesystem.snapshots) {
    if (rule.kind == kind) return &rule;
  }
  return nullptr;
}

}  // namespace

// ---- Files --------------------------------------------------------------------------------------

void NaiveDecision::Transfer(const model::Class& of) {
  const bool in = r_.action() == Action::Import;
  bool written = false;
  for (const model::Class* link : Links(of)) {
    const model::FilesystemPlane& files = link->filesystem;
    const bool writes = in ? !files.imports.empty() || files.imports_none
                           : !files.exports.empty() || files.exports_none;
    if (writes) TransferOf(*link);
    written = written || writes;
  }
  if (!written) DenySurely(of.name + (in ? ".filesystem.import" : ".filesystem.export"));
}

void NaiveDecision::TransferOf(const model::Class& link) {
  const bool in = r_.action() == Action::Import;
  const std::string word = in ? ".filesystem.import" : ".filesystem.export";
  const Fact path = Text(in ? slot::ImportPath : slot::ExportPath);
  const Slot size = in ? slot::ImportSize : slot::ExportSize;
  const Slot total = in ? slot::ImportTotal : slot::ExportTotal;
  bool granted = false;
  bool said = false;
  bool unknown = false;
  for (const model::TransferRule& rule : in ? link.filesystem.imports : link.filesystem.exports) {
    Truth meets;
    if (path) {
      meets = std::any_of(rule.patterns.begin(), rule.patterns.end(), [&](const auto& glob) {
        return values::MatchesPathGlob(glob.text, path->text, values::Reading::Exact);
      });
    }
    const Truth says = All({meets, Holds(rule.condition)});
    const Truth fits =
        NumberIs(rule.each ? size : total, [&](Wide n) { return n <= rule.size.value.most; });
    const Truth grants = All({says, fits});
    said = said || says == Truth(true);
    if (grants == Truth(true)) {
      granted = true;
      answer_.allows.insert(rule.id);
    } else if (!grants) {
      unknown = true;
    }
  }
  if (!granted) DenyByDefault(said ? link.name + word + ".size" : class_->name + word, unknown);
}

// ---- Volumes ------------------------------------------------------------------------------------

Truth NaiveDecision::IsCallerOrGroup(const Fact& principal) const {
  const Fact caller = Text(slot::CallerId);
  const Fact groups = Texts(slot::CallerGroups);
  return Some({caller && principal ? Truth(*caller == *principal) : Truth(),
               groups && principal ? Truth(Has(groups->items, *principal)) : Truth()});
}

Truth NaiveDecision::IsListed(const model::Class& of) const {
  std::vector<Truth> each;
  for (const model::Class* link : Links(of)) {
    if (link->identity.access) each.push_back(IsGranted(*link->identity.access));
  }
  return each.empty() ? Truth(false) : All(each);
}

void NaiveDecision::Persist(const model::Class& of) {
  const Fact asked = Texts(slot::CreatePersist);
  const Truth asks = asked ? Truth(!asked->items.empty()) : Truth();
  const std::string id = of.name + ".filesystem.persist";
  const Truth is_operator = NumberIs(slot::CallerOperator, [](Wide n) { return n == 1; });
  bool written = false;
  const bool image_fits = ImageFits(of);
  for (const model::Class* link : Links(of)) {
    const auto& persists = link->filesystem.persists;
    if (persists.empty() && !link->filesystem.persist_none) continue;
    written = true;
    Truth beyond;
    if (asked) {
      beyond = std::any_of(asked->items.begin(), asked->items.end(), [&](const Thing& name) {
        return std::none_of(persists.begin(), persists.end(), [&](const model::Persist& one) {
          return one.volume.name == name.text;
        });
      });
    }
    Deny(id, beyond);
    for (const model::Persist& persist : persists) {
      const Truth named =
          asked ? Truth(Has(asked->items, Thing{0, persist.volume.name, {}})) : Truth();
      if (image_fits && named == Truth(true)) answer_.allows.insert(persist.id);
      std::vector<Truth> ways = {IsCallerOrGroup(Thing{0, persist.volume.owner, {}}), is_operator,
                                 IsListed(of)};
      if (!persist.volume.shared_by_class) ways.push_back(IsCallerOrGroup(Text(slot::TaskOwner)));
      Deny("builtin.access", All({named, Not(Some(ways))}));
    }
  }
  if (!written) return Deny(id, asks);
  const Fact can = Texts(slot::HostCapabilities);
  Deny("builtin.unsupported",
       All({asks, can ? Truth(!Has(can->items, Thing{0, "persist", {}})) : Truth()}));
}

// ---- Snapshots ----------------------------------------------------------------------------------

std::vector<const model::Class*> NaiveDecision::SnapshotWriters(const model::Class& of) const {
  std::vector<const model::Class*> writers = Links(of);
  std::erase_if(writers, [](const model::Class* link) {
    return link->filesystem.snapshots.empty() && !link->filesystem.snapshot_none;
  });
  return writers;
}

std::map<module::SnapshotKind, std::optional<std::int64_t>> NaiveDecision::KeptKinds(
    const model::Class& of) const {
  std::map<module::SnapshotKind, std::optional<std::int64_t>> kinds;
  const auto writers = SnapshotWriters(of);
  for (const auto kind : {module::SnapshotKind::Disk, module::SnapshotKind::Memory}) {
    std::optional<std::int64_t> standard;
    std::optional<std::int64_t> most;
    bool all = !writers.empty();
    for (const model::Class* link : writers) {
      const model::SnapshotRule* rule = RuleFor(*link, kind);
      all = all && rule != nullptr;
      if (rule == nullptr) continue;
      const module::Bound& own = rule->expires.value;
      most = std::min(own.most, most.value_or(own.most));
      if (own.standard) standard = std::min(*own.standard, standard.value_or(*own.standard));
    }
    if (all) kinds[kind] = standard ? std::optional(std::min(*standard, *most)) : std::nullopt;
  }
  return kinds;
}

void NaiveDecision::SnapshotLimits(const model::SnapshotRule& rule) {
  const Truth is_kind =
      NumberIs(slot::SnapshotKind, [&](Wide n) { return n == static_cast<Wide>(rule.kind); });
  const auto over = [&](Slot which, const model::Bound& bound) {
    return All({is_kind, NumberIs(which, [&](Wide n) { return n > bound.value.most; })});
  };
  Deny(rule.expires.id,
       All({Present(slot::SnapshotExpiresIn), over(slot::SnapshotExpiresIn, rule.expires)}));
  if (rule.size) Deny(rule.size->id, over(slot::SnapshotSize, *rule.size));
  if (rule.keep) Deny(rule.keep->id, over(slot::SnapshotKept, *rule.keep));
}

void NaiveDecision::Snapshot(const model::Class& of) {
  const std::string id = of.name + ".filesystem.snapshot";
  const auto writers = SnapshotWriters(of);
  const auto kinds = KeptKinds(of);
  const Fact kind = Number(slot::SnapshotKind);
  const auto is = [&](module::SnapshotKind one) {
    return kind ? Truth(kind->number == static_cast<Wide>(one)) : Truth();
  };
  // Every default first: rules read them.
  for (const auto& [one, standard] : kinds) {
    if (standard && is(one) == Truth(true) && Present(slot::SnapshotExpiresIn) == Truth(false)) {
      r_.SetInteger(slot::SnapshotExpiresIn, *standard);
    }
  }
  const Truth has_expiry = Present(slot::SnapshotExpiresIn);
  for (const model::Class* link : writers) {
    bool granted = false;
    for (const model::SnapshotRule& rule : link->filesystem.snapshots) {
      SnapshotLimits(rule);
      if (is(rule.kind) != Truth(true)) continue;
      granted = true;
      answer_.allows.insert(rule.id);
    }
    if (!granted) DenyByDefault(id, !kind && !link->filesystem.snapshots.empty());
  }
  if (writers.empty()) DenySurely(id);
  if (kinds.empty()) return;

  const std::string last = writers.back()->name + ".filesystem.snapshot";
  const Fact reason = Text(slot::SnapshotReason);
  Deny(last + ".reason",
       Some({Not(Present(slot::SnapshotReason)), reason ? Truth(reason->text.empty()) : Truth()}));
  Deny(last + ".owner", Not(Present(slot::SnapshotOwner)));
  const Fact line = Number(slot::SnapshotLineageExpiresIn);
  const Fact asked = Number(slot::SnapshotExpiresIn);
  const Truth longer = line && asked ? Truth(asked->number > line->number) : Truth();
  for (const auto& [one, standard] : kinds) {
    const model::Bound* shortest = nullptr;
    bool renews = true;
    for (const model::Class* link : writers) {
      const model::SnapshotRule& rule = *RuleFor(*link, one);
      renews = renews && rule.renews;
      if (shortest == nullptr || rule.expires.value.most < shortest->value.most) {
        shortest = &rule.expires;
      }
    }
    if (!standard) Deny(shortest->id, All({is(one), Not(has_expiry)}));
    if (renews) continue;
    Deny(last + ".lineage",
         All({is(one), Present(slot::SnapshotLineageExpiresIn), has_expiry, longer}));
  }
  const Fact can = Texts(slot::HostCapabilities);
  Deny("builtin.unsupported", can ? Truth(!Has(can->items, Thing{0, "snapshot", {}})) : Truth());
}

// ---- Running again ------------------------------------------------------------------------------

void NaiveDecision::ResumeLimits(const model::Class& of, const model::Class& link,
                                 const model::SnapshotRule& rule) {
  const std::string id = link.name + ".filesystem.snapshot";
  const Truth is_kind = NumberIs(slot::ResumeSnapshotKind, [&](Wide kind) {
    return kind == static_cast<Wide>(rule.kind) + 1;
  });
  bool says_branches = false;
  for (const model::Class* writer : SnapshotWriters(of)) {
    const model::SnapshotRule* other = RuleFor(*writer, rule.kind);
    says_branches = says_branches || (other != nullptr && other->branches);
  }
  if (rule.branches || !says_branches) {
    const std::int64_t most = rule.branches ? rule.branches->value.most : 1;
    Deny(id + ".branches",
         All({is_kind, NumberIs(slot::ResumeSnapshotBranches, [&](Wide n) { return n > most; })}));
  }
  Deny(id + ".expires", All({is_kind, NumberIs(slot::ResumeSnapshotAge, [&](Wide age) {
                               return age >= rule.expires.value.most;
                             })}));
  const Fact from = Text(slot::ResumeSnapshotClass);
  Truth is_own;
  if (from) {
    is_own = false;
    for (const auto* classes : {&of.chain, &rule.from}) {
      for (const model::ClassId one : *classes) {
        is_own = *is_own || from->text == At(m_, one).name;
      }
    }
  }
  Deny(id + ".from", All({is_kind, Not(is_own)}));
}

void NaiveDecision::ResumeSnapshot(const model::Class& of, Truth frozen) {
  const auto writers = SnapshotWriters(of);
  bool everywhere = !writers.empty();
  for (const model::Class* link : writers) {
    bool granted = false;
    for (const model::SnapshotRule& rule : link->filesystem.snapshots) {
      ResumeLimits(of, *link, rule);
      const Wide ordinal = static_cast<Wide>(rule.kind) + 1;
      if (NumberIs(slot::ResumeSnapshotKind, [&](Wide n) { return n == ordinal; }) == Truth(true)) {
        granted = true;
        answer_.allows.insert(rule.id);
      }
    }
    everywhere = everywhere && granted;
  }
  if (frozen == Truth(false) && !everywhere) DenySurely(of.name + ".filesystem.snapshot");
  if (KeptKinds(of).empty()) return;
  const Fact can = Texts(slot::HostCapabilities);
  const Truth cannot = can ? Truth(!Has(can->items, Thing{0, "snapshot", {}})) : Truth();
  Deny("builtin.unsupported", All({Not(frozen), cannot}));
  Deny(writers.back()->name + ".filesystem.snapshot.expires",
       All({Not(frozen),
            NumberIs(slot::ResumeSnapshotExpiresIn, [](Wide left) { return left <= 0; })}));
}

void NaiveDecision::ResumeAccess(const model::Class& of) {
  const Truth frozen = NumberIs(slot::ResumeSnapshotKind, [](Wide kind) { return kind == 0; });
  const Truth owns = Some({IsCallerOrGroup(Text(slot::ResumeSnapshotOwner)),
                           IsCallerOrGroup(Text(slot::TaskOwner)),
                           NumberIs(slot::CallerOperator, [](Wide n) { return n == 1; })});
  bool granted = false;
  bool unknown = false;
  const auto way = [&](const std::string& id, Truth truth) {
    if (truth == Truth(true)) answer_.allows.insert(id);
    granted = granted || truth == Truth(true);
    unknown = unknown || !truth;
  };
  way("builtin.access", Some({All({frozen, OwnAccess()}), All({Not(frozen), owns})}));
  std::set<model::ClassId> sources(of.chain.begin(), of.chain.end());
  for (const model::Class* link : SnapshotWriters(of)) {
    for (const model::SnapshotRule& rule : link->filesystem.snapshots) {
      sources.insert(rule.from.begin(), rule.from.end());
    }
  }
  const Fact from = Text(slot::ResumeSnapshotClass);
  for (const model::ClassId source : sources) {
    const model::Class& one = At(m_, source);
    std::string id;
    for (const model::Class* link : Links(one)) {
      if (link->identity.access) id = link->identity.access->id;
    }
    if (id.empty()) continue;
    const Truth is_from = from ? Truth(from->text == one.name) : Truth();
    way(id, All({Not(frozen), is_from, IsListed(one)}));
  }
  // Of what was frozen every `access` of the chain is asked.
  const bool granted_by_all = granted;
  const bool unknown_to_all = unknown;
  bool written = false;
  for (const model::Class* link : Links(of)) {
    if (!link->identity.access) continue;
    written = true;
    granted = granted_by_all;
    unknown = unknown_to_all;
    way(link->identity.access->id, All({frozen, IsGranted(*link->identity.access)}));
    if (!granted) DenyByDefault("builtin.access", unknown);
  }
  if (!written && !granted) DenyByDefault("builtin.access", unknown);
}

}  // namespace curfew::properties
