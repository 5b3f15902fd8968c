#include "compiler/prove/find_use.h"

#include <algorithm>
#include <array>
#include <optional>

namespace curfew::prove {
namespace {

using module::ClassIndex;
using module::EntryRecord;
using module::RuleIndex;

// The entries of groups that have the rule.
std::set<std::uint32_t> AllowsOf(const module::Tables& t, View view, RuleIndex rule) {
  const module::Range groups = t.blocks[view.block].groups;
  std::set<std::uint32_t> entries;
  for (const module::GroupRecord& group : t.groups.subspan(groups.first, groups.count)) {
    for (std::uint32_t i = 0; i < group.entries.count; ++i) {
      const std::uint32_t entry = group.entries.first + i;
      if (t.entries[entry].rule == rule) entries.insert(entry);
    }
  }
  return entries;
}

// Nothing where no other allow counts in a group of the rule; otherwise that those do not.
std::optional<std::vector<Claim>> Alone(const module::Tables& t, View view, RuleIndex rule,
                                        const std::set<RuleIndex>& absent,
                                        const module::Request& request) {
  module::Request filled = request;
  interpret::FillIn(t, t.blocks[view.block].defaults, filled);
  const module::Range groups = t.blocks[view.block].groups;
  std::vector<Claim> claims;
  for (const module::GroupRecord& group : t.groups.subspan(groups.first, groups.count)) {
    const auto entries = t.entries.subspan(group.entries.first, group.entries.count);
    if (std::ranges::find(entries, rule, &EntryRecord::rule) == entries.end()) continue;
    for (const EntryRecord& entry : entries) {
      if (entry.rule == rule || absent.contains(entry.rule)) continue;
      if (!interpret::Evaluate(t, filled.facts(), entry.condition).is_true() ||
          !interpret::Evaluate(t, filled.facts(), entry.within).is_true()) {
        continue;
      }
      claims.push_back(Claim::Some({Claim::Of(Claim::Kind::NotTrue, view, entry.condition),
                                    Claim::Of(Claim::Kind::NotTrue, view, entry.within)}));
    }
  }
  if (claims.empty()) return std::nullopt;
  return claims;
}

}  // namespace

UseFinder::Asking::Asking(schema::Action action, const interpret::Interpreter& engine,
                          Solver& solver)
    : space(action, std::array{&engine.module()}), search(space, {&engine}, solver) {}

UseFinder::UseFinder(const interpret::Interpreter& engine, Solver& solver) : engine_(engine) {
  for (const schema::ActionInfo& info : schema::Actions()) {
    askings_.push_back(std::make_unique<Asking>(info.action, engine, solver));
  }
}

std::vector<UseFinder::Place> UseFinder::PlacesOf(RuleIndex rule) const {
  const module::Tables& t = engine_.module().tables();
  std::vector<Place> places;
  for (const auto& asking : askings_) {
    Search& search = asking->search;
    for (ClassIndex i = 0; i <= t.classes.size(); ++i) {
      const bool is_gone = i == t.classes.size();
      if (is_gone && asking->space.action() == schema::Action::Create) continue;
      const ClassIndex of_class = is_gone ? module::NoClass : i;
      Place place{search, of_class, search.DenialsOf(0, of_class, rule),
                  AllowsOf(t, search.ViewOf(0, of_class), rule)};
      if (!place.denials.empty() || !place.allows.empty()) places.push_back(std::move(place));
    }
  }
  return places;
}

Use UseFinder::OfDeny(RuleIndex rule, std::set<RuleIndex> absent, std::uint64_t& steps) {
  absent.insert(rule);
  const module::Tables& t = engine_.module().tables();
  const std::vector<Place> places = PlacesOf(rule);
  if (places.empty()) return Use::Unknown;  // nowhere is where nobody asks
  for (const Place& place : places) {
    for (const std::uint32_t entry : place.denials) {
      Wanted wanted;
      wanted.absent = absent;
      wanted.claims.push_back(Claim::Of(Claim::Kind::NotFalse,
                                        place.search.ViewOfDenial(0, place.of_class, entry),
                                        t.entries[entry].condition));
      const Finding finding = place.search.Find(place.of_class, wanted, steps);
      if (finding.kind != Finding::Kind::None || steps == 0) return Use::Unknown;
    }
  }
  return Use::IdleDeny;
}

Use UseFinder::OfAllow(RuleIndex rule, const std::set<RuleIndex>& absent, std::uint64_t& steps) {
  const std::vector<Place> places = PlacesOf(rule);
  if (places.empty()) return Use::Unknown;
  const module::Tables& t = engine_.module().tables();
  const auto is_none = [&](const Place& place, bool alone) {
    Wanted wanted;
    wanted.absent = absent;
    wanted.entries = place.allows;
    if (alone) {
      const View view = place.search.ViewOf(0, place.of_class);
      wanted.judge = [&t, &absent, view, rule](const module::Request& request) {
        return Alone(t, view, rule, absent, request);
      };
    }
    return place.search.Find(place.of_class, wanted, steps).kind == Finding::Kind::None &&
           steps > 0;
  };
  // One that counts alone somewhere is neither, and most do.
  for (const Place& place : places) {
    if (!is_none(place, true)) return Use::Unknown;
  }
  const bool is_dead =
      std::ranges::all_of(places, [&](const Place& place) { return is_none(place, false); });
  return is_dead ? Use::DeadAllow : Use::CoveredAllow;
}

Use UseFinder::Find(RuleIndex rule, const std::set<RuleIndex>& absent, std::uint64_t& steps) {
  return engine_.module().rule(rule).effect == module::Effect::Allow ? OfAllow(rule, absent, steps)
                                                                     : OfDeny(rule, absent, steps);
}

std::vector<Use> FindUsesOf(const interpret::Interpreter& engine, std::span<const RuleIndex> rules,
                            Solver& solver, UseBudget budget) {
  UseFinder finder(engine, solver);
  std::vector<Use> uses;
  std::set<RuleIndex> absent;
  for (const RuleIndex rule : rules) {
    std::uint64_t steps = std::min(budget.each, budget.all);
    const std::uint64_t given = steps;
    if (given == 0 || rule >= engine.module().rule_count()) {
      uses.push_back(Use::Unknown);
      continue;
    }
    uses.push_back(finder.Find(rule, absent, steps));
    budget.all -= given - steps;
    if (uses.back() != Use::Unknown) absent.insert(rule);
  }
  return uses;
}

}  // namespace curfew::prove
