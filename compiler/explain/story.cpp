#include "compiler/explain/story.h"

#include "compiler/interpret/decision.h"

#include <algorithm>

namespace curfew::explain {
namespace {

using interpret::Truth;
using module::Tables;

class Teller {
 public:
  Teller(const module::PolicyModule& policy, const module::Request& request,
         const module::Verdict& verdict)
      : policy_(policy), t_(policy.tables()), request_(request), verdict_(verdict) {
    story_.judged = request;
  }

  Story Tell() && {
    const std::size_t classes = t_.classes.size();
    const schema::Action action = request_.action();
    const std::size_t set_block = module::SetBlock(classes, action);
    Checks(set_block);
    if (verdict_.class_index == module::NoClass) {
      Selection();
      Denials(set_block);
      return std::move(story_);
    }
    const std::size_t block = module::BlockOf(verdict_.class_index, action);
    Checks(block);
    interpret::FillIn(t_, t_.blocks[block].defaults, story_.judged);
    Denials(set_block);
    Denials(block);
    const module::Range groups = t_.blocks[block].groups;
    for (std::uint32_t g = groups.first; g < groups.first + groups.count; ++g) Group(t_.groups[g]);
    // What is denied or allowed by no condition (the class of a create, a class that is gone).
    for (const module::RuleIndex rule : verdict_.denials.written()) {
      if (!IsTold(rule)) story_.denials.push_back({.rule = rule, .clauses = {}});
    }
    for (const module::RuleIndex rule : verdict_.allows.written()) {
      const bool told = std::any_of(story_.allows.begin(), story_.allows.end(),
                                    [&](const Cause& cause) { return cause.rule == rule; });
      if (!told) story_.allows.push_back({.rule = rule, .clauses = {}});
    }
    return std::move(story_);
  }

 private:
  [[nodiscard]] bool Denied(module::RuleIndex rule) const {
    const auto written = verdict_.denials.written();
    return std::find(written.begin(), written.end(), rule) != written.end();
  }
  [[nodiscard]] bool IsTold(module::RuleIndex rule) const {
    return std::any_of(story_.denials.begin(), story_.denials.end(),
                       [&](const Cause& cause) { return cause.rule == rule; }) ||
           std::any_of(story_.lacks.begin(), story_.lacks.end(),
                       [&](const Lack& lack) { return lack.denial == rule; });
  }
  [[nodiscard]] Truth Of(std::uint32_t condition) const {
    return interpret::Evaluate(t_, story_.judged.facts(), condition);
  }
  [[nodiscard]] bool Counts(Truth truth) const {
    return truth.is_true() || (truth.is_unknown() && verdict_.stage != schema::Stage::Request);
  }

  void Range(const module::Range& entries) {
    for (std::uint32_t i = entries.first; i < entries.first + entries.count; ++i) {
      const module::EntryRecord& entry = t_.entries[i];
      if (!Denied(entry.rule) || Of(entry.condition).is_false()) continue;
      story_.denials.push_back(
          {.rule = entry.rule,
           .clauses = DecisiveClauses(policy_, story_.judged, entry.condition)});
    }
  }
  void Checks(std::size_t block) { Range(t_.blocks[block].checks); }
  void Denials(std::size_t block) { Range(t_.blocks[block].denials); }

  [[nodiscard]] Near NearOf(std::uint32_t index) const {
    const module::EntryRecord& entry = t_.entries[index];
    Near near{.allow = entry.rule, .entry = index, .failing = {}};
    for (const std::uint32_t condition : {entry.condition, entry.within}) {
      if (Counts(Of(condition))) continue;
      const std::vector<Clause> clauses = DecisiveClauses(policy_, story_.judged, condition);
      near.failing.insert(near.failing.end(), clauses.begin(), clauses.end());
    }
    return near;
  }

  void Group(const module::GroupRecord& group) {
    bool satisfied = false;
    std::vector<Near> nearest;
    for (std::uint32_t i = group.entries.first; i < group.entries.first + group.entries.count;
         ++i) {
      const module::EntryRecord& entry = t_.entries[i];
      if (Counts(Of(entry.condition)) && Counts(Of(entry.within))) {
        satisfied = true;
        story_.allows.push_back(
            {.rule = entry.rule,
             .clauses = DecisiveClauses(policy_, story_.judged, entry.condition)});
      } else {
        nearest.push_back(NearOf(i));
      }
    }
    if (satisfied) return;
    std::stable_sort(nearest.begin(), nearest.end(), [](const Near& a, const Near& b) {
      return a.failing.size() < b.failing.size();
    });
    Lack lack;
    lack.denial = Denied(group.beyond_denial) && !IsTold(group.beyond_denial)
                      ? group.beyond_denial
                      : group.default_denial;
    lack.others = nearest.size() - std::min(nearest.size(), NearestMax);
    nearest.resize(std::min(nearest.size(), NearestMax));
    lack.nearest = std::move(nearest);
    story_.lacks.push_back(std::move(lack));
  }

  // No class, or more than one: what each class asks for.
  void Selection() {
    Lack lack;
    const auto written = verdict_.denials.written();
    for (const module::RuleIndex rule : written) {
      if (rule == t_.selection.none || rule == t_.selection.ambiguous) lack.denial = rule;
      if (rule == t_.selection.gone) story_.denials.push_back({.rule = rule, .clauses = {}});
    }
    if (!Denied(t_.selection.none) && !Denied(t_.selection.ambiguous)) return;
    if (request_.action() != schema::Action::Create) return;
    for (const module::ClassRecord& record : t_.classes) {
      Near near{.allow = record.rule, .entry = module::NoIndex, .failing = {}};
      if (!Of(record.when).is_true()) {
        near.failing = DecisiveClauses(policy_, story_.judged, record.when);
      }
      lack.nearest.push_back(std::move(near));
    }
    std::stable_sort(lack.nearest.begin(), lack.nearest.end(), [](const Near& a, const Near& b) {
      return a.failing.size() < b.failing.size();
    });
    lack.others = lack.nearest.size() - std::min(lack.nearest.size(), NearestMax);
    lack.nearest.resize(std::min(lack.nearest.size(), NearestMax));
    story_.lacks.push_back(std::move(lack));
  }

  const module::PolicyModule& policy_;
  const Tables& t_;
  const module::Request& request_;
  const module::Verdict& verdict_;
  Story story_;
};

}  // namespace

Story StoryOf(const module::PolicyModule& policy, const module::Request& request,
              const module::Verdict& verdict) {
  return Teller(policy, request, verdict).Tell();
}

}  // namespace curfew::explain
