#include "compiler/explain/smallest_change.h"

#include "compiler/base/check.h"
#include "compiler/module/request_axioms.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace curfew::explain {
namespace {

using Change = std::vector<Candidate>;  // of different facts

class Search {
 public:
  Search(const module::DecisionEngine& engine, const module::Request& request, const Story& story,
         std::size_t budget)
      : engine_(engine),
        policy_(engine.module()),
        t_(policy_.tables()),
        request_(request),
        story_(story),
        budget_(budget),
        vocabulary_(policy_, request.action()),
        was_(Ask(request)) {}

  ChangeSearch Run() && {
    Singles();
    if (found_.alternatives.empty()) Together();
    found_.tried = asked_;
    return std::move(found_);
  }

 private:
  [[nodiscard]] module::Effect Ask(const module::Request& request) {
    ++asked_;
    module::VerdictRoom room;
    engine_.Decide(request, room.verdict);
    // What only a never denies is no denial to be told as one: the set was proven to have none.
    sure_ = !room.verdict.undecided && !module::OnlyNeversDeny(policy_, room.verdict);
    return room.verdict.effect;
  }
  [[nodiscard]] bool is_spent() const { return asked_ >= budget_; }

  static void Apply(const Candidate& candidate, module::Request& request) {
    if (candidate.absent) {
      request.SetAbsent(candidate.slot);
    } else if (candidate.slot == schema::slot::Now) {
      request.SetNow(candidate.value.integer);
    } else {
      request.Set(candidate.slot, candidate.value);
    }
  }

  // Whether these changes turn the answer for sure, and are a request at all.
  bool Turns(const Change& change) {
    module::Request changed = request_;
    for (const Candidate& candidate : change) Apply(candidate, changed);
    if (!module::BrokenAxioms(changed).empty()) return false;
    return Ask(changed) != was_ && sure_;
  }

  void Keep(const Change& change) {
    std::vector<FactChange> told;
    for (const Candidate& candidate : change) {
      FactChange one;
      one.path = vocabulary_.PathOf(candidate.slot);
      one.from = vocabulary_.SeenIn(request_, candidate.slot).substr(one.path.size() + 1);
      one.to =
          candidate.absent ? "not there" : vocabulary_.WholeTextOf(candidate.value, candidate.slot);
      told.push_back(std::move(one));
    }
    found_.alternatives.push_back(std::move(told));
  }
  [[nodiscard]] bool has_enough() const { return found_.alternatives.size() >= AlternativesMax; }

  // What somebody who asks can change stands before what the runtime verifies.
  [[nodiscard]] int RankOf(const Candidate& candidate) const {
    switch (vocabulary_.TypeOf(candidate.slot).origin) {
      case schema::Origin::Wish:
        return 0;
      case schema::Origin::Stated:
        return 1;
      case schema::Origin::Verified:
      case schema::Origin::Derived:
      case schema::Origin::Internal:
        return 2;
    }
    CURFEW_UNREACHABLE("the switch names every origin");
  }

  void AddFrom(const module::Range& entries, std::vector<Candidate>& candidates) {
    for (std::uint32_t i = entries.first; i < entries.first + entries.count; ++i) {
      AddCandidates(policy_, request_, t_.entries[i].condition, arena_, candidates);
      AddCandidates(policy_, request_, t_.entries[i].within, arena_, candidates);
    }
  }
  void AddFromBlock(std::size_t block, std::vector<Candidate>& candidates) {
    AddFrom(t_.blocks[block].checks, candidates);
    AddFrom(t_.blocks[block].denials, candidates);
    const module::Range groups = t_.blocks[block].groups;
    for (std::uint32_t g = groups.first; g < groups.first + groups.count; ++g) {
      AddFrom(t_.groups[g].entries, candidates);
    }
  }

  void Singles() {
    // What decided comes first: in a set of ten thousand rules most speak of something else.
    std::vector<Candidate> candidates = FromStory();
    const schema::Action action = request_.action();
    const std::size_t classes = t_.classes.size();
    AddFromBlock(module::SetBlock(classes, action), candidates);
    for (module::ClassIndex i = 0; i < classes; ++i) {
      if (action == schema::Action::Create) {
        AddCandidates(policy_, request_, t_.classes[i].when, arena_, candidates);
      }
      const auto own = policy_.FindClass(ClassOf());
      if (action == schema::Action::Create || own == i) {
        AddFromBlock(module::BlockOf(i, action), candidates);
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](const Candidate& a, const Candidate& b) { return RankOf(a) < RankOf(b); });
    std::set<schema::Slot> told;
    for (const Candidate& candidate : candidates) {
      if (has_enough()) return;
      if (is_spent()) return;
      if (told.contains(candidate.slot) || !Turns({candidate})) continue;
      told.insert(candidate.slot);
      Keep({candidate});
    }
    found_.singles_done = true;
  }
  [[nodiscard]] std::string_view ClassOf() const {
    constexpr schema::Slot slot = schema::slot::SandboxClass;
    if (!request_.is_known(slot) || !request_.is_present(slot)) return {};
    return request_.value(slot).text();
  }

  std::vector<Candidate> FromStory() {
    std::vector<Candidate> candidates;
    for (const Cause& cause : story_.denials) {
      for (const Clause& clause : cause.clauses) Suggest(clause, candidates);
    }
    for (const Lack& lack : story_.lacks) {
      for (const Near& near : lack.nearest) {
        for (const Clause& clause : near.failing) Suggest(clause, candidates);
      }
    }
    for (const Cause& cause : story_.allows) {
      for (const Clause& clause : cause.clauses) Suggest(clause, candidates);
    }
    return candidates;
  }
  void Suggest(const Clause& clause, std::vector<Candidate>& candidates) {
    AddCandidates(policy_, request_, clause.node, arena_, candidates);
  }

  // Several facts at once: for a nearest allow one value for each clause that fails, and beside it
  // one for each denial that holds.
  void Together() {
    struct Plan {
      std::vector<std::vector<Candidate>> options;  // one list for each clause to be met
      std::vector<Candidate> beside;                // all that the allow speaks of
    };
    std::vector<Plan> plans;
    for (const Lack& lack : story_.lacks) {
      for (const Near& near : lack.nearest) {
        Plan plan{.options = OptionsOf(near.failing), .beside = {}};
        if (near.entry != module::NoIndex) {
          AddCandidates(policy_, request_, t_.entries[near.entry].condition, arena_, plan.beside);
        }
        plans.push_back(std::move(plan));
      }
    }
    if (plans.empty()) plans.emplace_back();
    std::vector<Change> turning;
    for (Plan& plan : plans) {
      for (const Cause& cause : story_.denials) {
        plan.options.push_back(WaysOut(cause, plan.beside));
      }
      Change change;
      Choose(plan.options, 0, change, turning);
    }
    std::stable_sort(turning.begin(), turning.end(),
                     [](const Change& a, const Change& b) { return a.size() < b.size(); });
    for (const Change& change : turning) {
      if (has_enough() || change.size() > turning.front().size()) return;
      Keep(change);
    }
  }
  // What a denial reads, as an allow would have it, and as the denial's own words suggest.
  std::vector<Candidate> WaysOut(const Cause& denial, const std::vector<Candidate>& beside) {
    std::vector<Candidate> ways;
    for (const Clause& clause : denial.clauses) {
      const std::vector<schema::Slot> slots = SlotsRead(t_, clause.node);
      for (const Candidate& candidate : beside) {
        if (std::find(slots.begin(), slots.end(), candidate.slot) != slots.end()) {
          ways.push_back(candidate);
        }
      }
    }
    for (const Clause& clause : denial.clauses) Suggest(clause, ways);
    return ways;
  }
  std::vector<std::vector<Candidate>> OptionsOf(const std::vector<Clause>& clauses) {
    std::vector<std::vector<Candidate>> options;
    for (const Clause& clause : clauses) {
      options.emplace_back();
      Suggest(clause, options.back());
    }
    return options;
  }
  // Every choice of at most one value from each list, none twice for a fact; a list whose fact is
  // chosen already may be met by that.
  void Choose(const std::vector<std::vector<Candidate>>& lists, std::size_t at, Change& change,
              std::vector<Change>& turning) {
    constexpr std::size_t kTurningMax = 64;
    if (is_spent() || turning.size() >= kTurningMax) return;
    if (at == lists.size()) {
      if (change.size() > 1 && Turns(change)) turning.push_back(change);
      return;
    }
    Choose(lists, at + 1, change, turning);
    constexpr std::size_t kOptionsMax = 8;
    const std::size_t options = std::min(lists[at].size(), kOptionsMax);
    for (std::size_t i = 0; i < options; ++i) {
      const Candidate& candidate = lists[at][i];
      const bool taken = std::any_of(change.begin(), change.end(), [&](const Candidate& other) {
        return other.slot == candidate.slot;
      });
      if (taken) continue;
      change.push_back(candidate);
      Choose(lists, at + 1, change, turning);
      change.pop_back();
    }
  }

  const module::DecisionEngine& engine_;
  const module::PolicyModule& policy_;
  const module::Tables& t_;
  const module::Request& request_;
  const Story& story_;
  const std::size_t budget_;
  Vocabulary vocabulary_;
  std::size_t asked_ = 0;
  bool sure_ = false;
  module::Effect was_;
  module::ValueArena arena_;
  ChangeSearch found_;
};

}  // namespace

ChangeSearch FindSmallestChange(const module::DecisionEngine& engine,
                                const module::Request& request, const Story& story,
                                std::size_t budget) {
  return Search(engine, request, story, budget).Run();
}

}  // namespace curfew::explain
