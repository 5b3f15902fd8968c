#include "compiler/prove/one_way.h"

#include <algorithm>
#include <array>
#include <map>

namespace curfew::prove {
namespace {

using module::ClassIndex;
using module::DefaultRecord;
using module::EntryRecord;
using module::Range;
using schema::Action;

constexpr Side kMine = 0;
constexpr Side kTheirs = 1;

FactSpace SpaceOf(Action action, const interpret::Interpreter& one,
                  const interpret::Interpreter& other) {
  const module::PolicyModule* const sides[] = {&one.module(), &other.module()};
  return {action, sides};
}

Direction DirectionOf(Finding finding) {
  switch (finding.kind) {
    case Finding::Kind::None:
      return {};
    case Finding::Kind::Found:
      return {Differs::Yes, std::move(finding.request), std::move(finding.other), {}};
    case Finding::Kind::Unknown:
      return {Differs::Undecided, {}, {}, std::move(finding.why)};
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

}  // namespace

OneWay::OneWay(Action action, const interpret::Interpreter& allows,
               const interpret::Interpreter& denies, Solver& solver)
    : allows_(allows),
      denies_(denies),
      space_(SpaceOf(action, allows, denies)),
      search_(space_, {&allows, &denies}, solver) {}

// ---- What changed -------------------------------------------------------------------------------

std::set<FactId> OneWay::UnlikeDefaults(View mine, View theirs) const {
  const auto defaults = [&](View view) {
    const module::Tables& t = space_.tables(view.side);
    const Range range = t.blocks[view.block].defaults;
    std::map<FactId, std::vector<std::string>> by_fact;
    for (const DefaultRecord& record : t.defaults.subspan(range.first, range.count)) {
      const auto fact = space_.FactAt(view.side, record.slot);
      if (!fact) continue;
      std::string text = std::to_string(static_cast<int>(record.kind));
      text += " " + std::to_string(record.when_slot) + " " + std::to_string(record.when_value) +
              " " + std::to_string(record.integer) + " ";
      if (record.kind == DefaultRecord::Kind::Text) text += t.TextOf(record.text);
      by_fact[*fact].push_back(std::move(text));
    }
    return by_fact;
  };
  const auto one = defaults(mine);
  const auto other = defaults(theirs);
  std::set<FactId> unlike;
  for (FactId id = 0; id < space_.facts().size(); ++id) {
    const auto in_one = one.find(id);
    const auto in_other = other.find(id);
    const bool both_silent = in_one == one.end() && in_other == other.end();
    const bool same =
        in_one != one.end() && in_other != other.end() && in_one->second == in_other->second;
    if (!both_silent && !same) unlike.insert(id);
  }
  return unlike;
}

bool OneWay::SelectsOtherwise() const {
  const module::Tables& one = space_.tables(kMine);
  const module::Tables& other = space_.tables(kTheirs);
  if (one.classes.size() != other.classes.size()) return true;
  Sameness sameness(space_, {});
  for (ClassIndex i = 0; i < one.classes.size(); ++i) {
    const module::ClassRecord& a = one.classes[i];
    const module::ClassRecord& b = other.classes[i];
    const auto links = [](const module::Tables& t, const module::ClassRecord& of) {
      return t.class_links.subspan(of.narrowed_by.first, of.narrowed_by.count);
    };
    if (one.NameOf(a.name) != other.NameOf(b.name) || a.by_name != b.by_name ||
        sameness.Of(kMine, a.when) != sameness.Of(kTheirs, b.when) ||
        !std::ranges::equal(links(one, a), links(other, b))) {
      return true;
    }
  }
  return false;
}

OneWay::Changes OneWay::ChangesOf(ClassIndex of_class) {
  Changes changes;
  changes.mine = of_class;
  if (of_class != module::NoClass) {
    const auto other = denies_.module().FindClass(allows_.module().class_name(of_class));
    changes.other = other.value_or(module::NoClass);
  }
  const View mine = search_.ViewOf(kMine, of_class);
  const View theirs = search_.ViewOf(kTheirs, changes.other);
  Sameness sameness(space_, UnlikeDefaults(mine, theirs));
  std::set<std::uint32_t> old;
  const module::Tables& one = space_.tables(kMine);
  const module::Tables& other = space_.tables(kTheirs);
  for (const std::uint32_t entry : search_.AllDenials(kMine, of_class)) {
    old.insert(sameness.Of(kMine, one.entries[entry].condition));
  }
  for (const std::uint32_t entry : search_.AllDenials(kTheirs, changes.other)) {
    if (old.contains(sameness.Of(kTheirs, other.entries[entry].condition))) continue;
    changes.new_denials.push_back(entry);
  }
  CompareGroups(mine, theirs, sameness, changes);
  changes.selection = space_.action() == Action::Create && SelectsOtherwise();
  return changes;
}

// A group of theirs is satisfied wherever one of mine is whose allows all stand in it too.
void OneWay::CompareGroups(View mine, View theirs, Sameness& sameness, Changes& changes) const {
  const module::Tables& one = space_.tables(kMine);
  const module::Tables& other = space_.tables(kTheirs);
  const Range my_groups = one.blocks[mine.block].groups;
  const Range their_groups = other.blocks[theirs.block].groups;
  for (std::uint32_t g = their_groups.first; g < their_groups.first + their_groups.count; ++g) {
    const Range range = other.groups[g].entries;
    std::set<std::pair<std::uint32_t, std::uint32_t>> granted;
    for (const EntryRecord& entry : other.entries.subspan(range.first, range.count)) {
      granted.insert(sameness.OfEntry(kTheirs, entry));
    }
    std::optional<std::set<std::uint32_t>> fewest;
    for (std::uint32_t m = my_groups.first; m < my_groups.first + my_groups.count; ++m) {
      const Range entries = one.groups[m].entries;
      std::set<std::uint32_t> lost;
      for (std::uint32_t e = entries.first; e < entries.first + entries.count; ++e) {
        if (!granted.contains(sameness.OfEntry(kMine, one.entries[e]))) lost.insert(e);
      }
      if (!fewest || lost.size() < fewest->size()) fewest = std::move(lost);
    }
    if (fewest && !fewest->empty()) changes.groups.emplace_back(g, *std::move(fewest));
  }
}

// ---- What the second set says -------------------------------------------------------------------

// Every allow that counts for the request in a group that may be left unsatisfied does not.
Claim OneWay::Uncounted(const Changes& changes, View view, const module::Request& request) const {
  const module::Tables& t = space_.tables(kTheirs);
  module::Request filled = request;
  interpret::FillIn(t, t.blocks[view.block].defaults, filled);
  std::vector<Claim> some;
  const Range groups = t.blocks[view.block].groups;
  for (std::uint32_t g = groups.first; g < groups.first + groups.count; ++g) {
    const bool may_lack =
        changes.selection ||
        std::ranges::any_of(changes.groups, [&](const auto& group) { return group.first == g; });
    if (!may_lack) continue;
    std::vector<Claim> all;
    const Range range = t.groups[g].entries;
    for (const EntryRecord& entry : t.entries.subspan(range.first, range.count)) {
      if (!interpret::Evaluate(t, filled.facts(), entry.condition).is_true() ||
          !interpret::Evaluate(t, filled.facts(), entry.within).is_true()) {
        continue;
      }
      all.push_back(Claim::Some({Claim::Of(Claim::Kind::NotTrue, view, entry.condition),
                                 Claim::Of(Claim::Kind::NotTrue, view, entry.within)}));
    }
    some.push_back(Claim::All(std::move(all)));
  }
  return Claim::Some(std::move(some));
}

OneWay::Further OneWay::Denied(const Changes& changes, const module::Request& request) const {
  const Decided decided = DecisionOf(denies_, request);
  if (decided.effect == module::Effect::Deny) return std::nullopt;
  const module::Tables& t = space_.tables(kTheirs);
  // It is denied only where a denial holds, an allow does not, or another class is selected.
  const ClassIndex other = space_.action() == Action::Create ? decided.class_index : changes.other;
  const View view = search_.ViewOf(kTheirs, other);
  std::vector<Claim> some{Uncounted(changes, view, request)};
  const std::vector<std::uint32_t> denials =
      other == changes.other ? changes.new_denials : search_.AllDenials(kTheirs, other);
  for (const std::uint32_t entry : denials) {
    some.push_back(Claim::Of(Claim::Kind::NotFalse, view, t.entries[entry].condition));
  }
  if (changes.selection) {
    if (denies_.module().class_name(other) != allows_.module().class_name(changes.mine)) {
      some.push_back(Claim::Of(Claim::Kind::IsNamed, {}, module::NoIndex));
    }
    const View raw{kTheirs, module::NoIndex};
    for (ClassIndex i = 0; i < t.classes.size(); ++i) {
      if (i == other) {
        some.push_back(Claim::Of(Claim::Kind::NotTrue, raw, t.classes[i].when));
        continue;
      }
      if (t.classes[i].by_name != 0) continue;
      // Another one that no class puts aside.
      std::vector<Claim> all{Claim::Of(Claim::Kind::NotFalse, raw, t.classes[i].when)};
      const Range links = t.classes[i].narrowed_by;
      for (const ClassIndex narrower : t.class_links.subspan(links.first, links.count)) {
        if (t.classes[narrower].by_name != 0) continue;
        all.push_back(Claim::Of(Claim::Kind::NotTrue, raw, t.classes[narrower].when));
      }
      some.push_back(Claim::All(std::move(all)));
    }
  }
  return std::vector<Claim>{Claim::Some(std::move(some))};
}

OneWay::Further OneWay::Allowed(ClassIndex other, const module::Request& request) const {
  const Decided decided = DecisionOf(denies_, request);
  if (decided.effect == module::Effect::Allow && decided.class_index == other) return std::nullopt;
  const module::Tables& t = space_.tables(kTheirs);
  const View view = search_.ViewOf(kTheirs, other);
  std::vector<Claim> claims = search_.Unselected(kTheirs, other, request);
  for (const module::RuleIndex rule : decided.denials) {
    for (const std::uint32_t entry : search_.DenialsOf(kTheirs, other, rule)) {
      claims.push_back(Claim::Of(Claim::Kind::IsFalse, view, t.entries[entry].condition));
    }
  }
  return claims;
}

// ---- The questions ------------------------------------------------------------------------------

Direction OneWay::Ask(ClassIndex of_class, std::uint64_t steps) {
  const Changes changes = ChangesOf(of_class);
  const module::Tables& t = space_.tables(kTheirs);
  Direction worst;
  // Whether it is settled.
  const auto ask = [&](Wanted wanted) {
    wanted.judge = [&](const module::Request& request) { return Denied(changes, request); };
    Direction direction = DirectionOf(search_.Find(of_class, wanted, steps));
    if (direction.differs == Differs::No) return false;
    const bool is_found = direction.differs == Differs::Yes;
    if (is_found || worst.differs == Differs::No) worst = std::move(direction);
    return is_found;
  };
  for (const auto& [group, lost] : changes.groups) {
    Wanted wanted;
    wanted.entries = lost;
    if (ask(std::move(wanted))) return worst;
  }
  for (const std::uint32_t entry : changes.new_denials) {
    Wanted wanted;
    wanted.claims.push_back(Claim::Of(Claim::Kind::NotFalse, search_.ViewOf(kTheirs, changes.other),
                                      t.entries[entry].condition));
    if (ask(std::move(wanted))) return worst;
  }
  if (changes.selection) ask({});
  return worst;
}

Direction OneWay::AllowedByBoth(ClassIndex of_class, std::uint64_t steps) {
  const auto other = denies_.module().FindClass(allows_.module().class_name(of_class));
  if (!other) return {};
  const module::Tables& t = space_.tables(kTheirs);
  const View view = search_.ViewOf(kTheirs, *other);
  Wanted wanted;
  wanted.claims = search_.Selection(kTheirs, *other);
  const Range groups = t.blocks[view.block].groups;
  for (const module::GroupRecord& group : t.groups.subspan(groups.first, groups.count)) {
    std::vector<Claim> some;
    for (const EntryRecord& entry : t.entries.subspan(group.entries.first, group.entries.count)) {
      some.push_back(Claim::All({Claim::Of(Claim::Kind::IsTrue, view, entry.condition),
                                 Claim::Of(Claim::Kind::IsTrue, view, entry.within)}));
    }
    wanted.claims.push_back(Claim::Some(std::move(some)));
  }
  wanted.judge = [this, other](const module::Request& request) { return Allowed(*other, request); };
  return DirectionOf(search_.Find(of_class, wanted, steps));
}

}  // namespace curfew::prove
