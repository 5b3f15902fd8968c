#include "compiler/prove/one_way.h"

#include "compiler/prove/class_choice.h"

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
      search_(space_, {&allows, &denies}, solver) {
  if (action == Action::Create) alike_ = ChosenAlike(space_);
}

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

OneWay::Changes OneWay::ChangesOf(ClassIndex of_class, ClassIndex of_other) const {
  Changes changes;
  changes.mine = of_class;
  changes.other = of_other;
  const View mine = search_.ViewOf(kMine, of_class);
  const View theirs = search_.ViewOf(kTheirs, of_other);
  Sameness sameness(space_, UnlikeDefaults(mine, theirs));
  // A condition of a check is another question than that of a denial.
  const auto told = [&](Side side, ClassIndex in, std::uint32_t entry) {
    return std::pair(search_.ViewOfDenial(side, in, entry).block == module::NoIndex,
                     sameness.Of(side, space_.tables(side).entries[entry].condition));
  };
  std::set<std::pair<bool, std::uint32_t>> old;
  for (const std::uint32_t entry : search_.AllDenials(kMine, of_class)) {
    old.insert(told(kMine, of_class, entry));
  }
  for (const std::uint32_t entry : search_.AllDenials(kTheirs, of_other)) {
    if (!old.contains(told(kTheirs, of_other, entry))) changes.new_denials.push_back(entry);
  }
  CompareGroups(mine, theirs, sameness, changes);
  if (space_.action() == Action::Create) {
    changes.is_renamed =
        allows_.module().class_name(of_class) != denies_.module().class_name(of_other);
  }
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
  if (space_.action() == Action::Create && decided.class_index != changes.other) {
    return std::vector<Claim>();
  }
  // It is denied only where a denial holds, an allow does not, or its class has another name.
  std::vector<Claim> some{Uncounted(changes, search_.ViewOf(kTheirs, changes.other), request)};
  for (const std::uint32_t entry : changes.new_denials) {
    some.push_back(Claim::Of(Claim::Kind::NotFalse,
                             search_.ViewOfDenial(kTheirs, changes.other, entry),
                             t.entries[entry].condition));
  }
  if (changes.is_renamed) some.push_back(Claim::Of(Claim::Kind::IsNamed, {}, module::NoIndex));
  return std::vector<Claim>{Claim::Some(std::move(some))};
}

OneWay::Further OneWay::Allowed(ClassIndex other, const module::Request& request) const {
  const Decided decided = DecisionOf(denies_, request);
  if (decided.effect == module::Effect::Allow && decided.class_index == other) return std::nullopt;
  const module::Tables& t = space_.tables(kTheirs);
  std::vector<Claim> claims = search_.Unselected(kTheirs, other, request);
  for (const module::RuleIndex rule : decided.denials) {
    for (const std::uint32_t entry : search_.DenialsOf(kTheirs, other, rule)) {
      claims.push_back(Claim::Of(Claim::Kind::IsFalse, search_.ViewOfDenial(kTheirs, other, entry),
                                 t.entries[entry].condition));
    }
  }
  return claims;
}

// ---- The questions ------------------------------------------------------------------------------

struct OneWay::Asking {
  ClassIndex of_class;
  std::uint64_t steps;
  std::string gone_name;
  Direction worst;
};

bool OneWay::AskOne(Wanted wanted, const Changes& changes, Asking& asking) {
  wanted.gone_name = asking.gone_name;
  wanted.judge = [&](const module::Request& request) { return Denied(changes, request); };
  Direction direction = DirectionOf(search_.Find(asking.of_class, wanted, asking.steps));
  const bool is_found = direction.differs == Differs::Yes;
  if (is_found || asking.worst.differs == Differs::No) asking.worst = std::move(direction);
  return is_found;
}

// Where the second set decides in `changes.other`, for which `chosen` holds.
bool OneWay::AskWithin(const Changes& changes, const std::vector<Claim>& chosen, Asking& asking) {
  const module::Tables& t = space_.tables(kTheirs);
  for (const auto& [group, lost] : changes.groups) {
    Wanted wanted;
    wanted.claims = chosen;
    wanted.entries = lost;
    if (AskOne(std::move(wanted), changes, asking)) return true;
  }
  for (const std::uint32_t entry : changes.new_denials) {
    Wanted wanted;
    wanted.claims = chosen;
    wanted.claims.push_back(Claim::Of(Claim::Kind::NotFalse,
                                      search_.ViewOfDenial(kTheirs, changes.other, entry),
                                      t.entries[entry].condition));
    if (AskOne(std::move(wanted), changes, asking)) return true;
  }
  if (!changes.is_renamed) return false;
  Wanted wanted;
  wanted.claims = chosen;
  wanted.claims.push_back(Claim::Of(Claim::Kind::IsNamed, {}, module::NoIndex));
  return AskOne(std::move(wanted), changes, asking);
}

// A create, which the second set may give to another class, to none or to several. Of the classes
// that are chosen alike none but the one that the first set chose remains, and that one does.
bool OneWay::AskOfChoice(ClassIndex of_class, Asking& asking) {
  const std::string name(allows_.module().class_name(of_class));
  const ClassChoice choice(space_, kTheirs, name);
  const auto same_name = denies_.module().FindClass(name);
  const bool remains = same_name && alike_[*same_name];
  std::vector<ClassIndex> possible;
  for (ClassIndex i = 0; i < alike_.size(); ++i) {
    if (!alike_[i] || i == same_name) possible.push_back(i);
  }
  std::vector<Claim> none;
  for (const ClassIndex one : possible) {
    none.push_back(choice.MayNotRemain(one));
    if (remains && one != same_name) continue;
    const std::vector<Claim> chosen = choice.Remains(one);
    if (AskWithin(ChangesOf(of_class, one), chosen, asking)) return true;
    if (possible.size() == 1) continue;
    std::vector<Claim> others;
    for (const ClassIndex other : possible) {
      if (other != one) others.push_back(choice.MayRemain(other));
    }
    Wanted several;
    several.claims = chosen;
    several.claims.push_back(Claim::Some(std::move(others)));
    if (AskOne(std::move(several), {}, asking)) return true;
  }
  if (remains) return false;
  Wanted wanted;
  wanted.claims = std::move(none);
  return AskOne(std::move(wanted), {}, asking);
}

Direction OneWay::Ask(const std::string& class_name, std::uint64_t steps) {
  const auto mine = allows_.module().FindClass(class_name);
  const auto other = denies_.module().FindClass(class_name);
  Asking asking{mine.value_or(module::NoClass), steps, {}, {}};
  if (space_.action() == Action::Create) {
    if (mine) AskOfChoice(*mine, asking);
    return std::move(asking.worst);
  }
  if (!mine) asking.gone_name = class_name;
  AskWithin(ChangesOf(asking.of_class, other.value_or(module::NoClass)), {}, asking);
  return std::move(asking.worst);
}

Direction OneWay::AllowedByBoth(ClassIndex of_class, ClassIndex other, std::uint64_t steps) {
  const module::Tables& t = space_.tables(kTheirs);
  const View view = search_.ViewOf(kTheirs, other);
  const ClassChoice choice(space_, kTheirs, std::string(allows_.module().class_name(of_class)));
  Wanted wanted;
  wanted.claims = choice.Remains(other);
  const Range groups = t.blocks[view.block].groups;
  for (const module::GroupRecord& group : t.groups.subspan(groups.first, groups.count)) {
    std::vector<Claim> some;
    for (const EntryRecord& entry : t.entries.subspan(group.entries.first, group.entries.count)) {
      some.push_back(Claim::All({Claim::Of(Claim::Kind::IsTrue, view, entry.condition),
                                 Claim::Of(Claim::Kind::IsTrue, view, entry.within)}));
    }
    wanted.claims.push_back(Claim::Some(std::move(some)));
  }
  wanted.judge = [this, other](const module::Request& request) { return Allowed(other, request); };
  return DirectionOf(search_.Find(of_class, wanted, steps));
}

}  // namespace curfew::prove
