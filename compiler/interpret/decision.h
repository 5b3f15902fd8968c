// Decision: one request on its way to a verdict, step by step as compiler/ir/README.md has it. It
// is the same for every engine; engines differ in how they judge a condition, which `Conditions`
// does:
//
//   Truth Condition(const module::Request&, std::uint32_t entry) const   // of entries[entry]
//   Truth Within(const module::Request&, std::uint32_t entry) const
//   Truth When(const module::Request&, module::ClassIndex) const
//   // True only if each check of blocks[block] is false.
//   bool NoCheckHolds(const module::Request&, std::size_t block) const
//   // True only if each denial of blocks[block] that its index cannot pass over is false.
//   bool NoDenialHolds(const module::Request&, std::size_t block) const
#pragma once

#include "compiler/interpret/candidates.h"
#include "compiler/interpret/evaluate.h"
#include "compiler/module/policy_module.h"
#include "compiler/module/request.h"
#include "compiler/module/verdict.h"

#include <cstddef>
#include <cstdint>

namespace curfew::interpret {

// Whether the module's index is used. Only tests say no: the answers are the same.
enum class UseIndex : std::uint8_t { No, Yes };

// Gives each left-out wish of these defaults its value.
void FillIn(const module::Tables& tables, const module::Range& defaults, module::Request& request);

template <typename Conditions>
class Decision {
 public:
  Decision(const module::PolicyModule& policy, const Conditions& conditions, UseIndex use_index,
           const module::Request& request, module::Verdict& verdict)
      : policy_(policy),
        t_(policy.tables()),
        conditions_(conditions),
        use_index_(use_index),
        action_(request.action()),
        // Only an egress is judged in stages.
        stage_(action_ == schema::Action::Egress ? request.stage() : schema::Stage::Request),
        verdict_(verdict),
        candidates_(t_) {}

  void Run(const module::Request& request);

 private:
  using Request = module::Request;
  using ClassIndex = module::ClassIndex;

  // At the last stage nothing becomes known any more.
  [[nodiscard]] bool is_last() const { return stage_ == schema::Stage::Request; }
  [[nodiscard]] std::uint32_t Used(std::uint32_t index) const {
    return use_index_ == UseIndex::Yes ? index : module::NoIndex;
  }

  void Begin();
  void RunCreate(const Request& request);
  void RunInSandbox(const Request& request);
  void Select(const Request& request);
  Truth Candidacy(const Request& request, ClassIndex index) const;
  Truth Remains(const Request& request, ClassIndex index) const;
  void Deny(module::RuleIndex rule, Truth why);
  [[nodiscard]] bool Denies(Truth truth) const;
  void Denial(const Request& request, std::uint32_t entry);
  void DenialsOf(const Request& request, std::size_t block);
  void TrialsOf(const Request& request, std::size_t block);
  void OfTheSet(const Request& request);
  void Checks(const Request& request, std::size_t block);
  void Group(const Request& request, const module::GroupRecord& group, std::uint32_t index);
  void JudgeFilled(const Request& request, std::size_t block);
  void Judge(const Request& request, std::size_t block);
  void Close();

  const module::PolicyModule& policy_;
  const module::Tables& t_;
  const Conditions& conditions_;
  const UseIndex use_index_;
  const schema::Action action_;
  const schema::Stage stage_;
  module::Verdict& verdict_;
  Candidates candidates_;
  // Without its class a create has no defaults either, so that a fact it left out says nothing.
  bool unknown_denies_ = true;
  bool denied_for_sure_ = false;
  bool missed_a_fact_ = false;
  schema::Slot missed_ = 0;
};

// ---- The class ----------------------------------------------------------------------------------

// Whether the class is a candidate by its own words.
template <typename Conditions>
Truth Decision<Conditions>::Candidacy(const Request& request, ClassIndex index) const {
  const module::ClassRecord& record = t_.classes[index];
  Truth named = Known(true);
  if (record.by_name != 0) {
    constexpr schema::Slot slot = schema::slot::CreateClass;
    if (!request.is_known(slot)) {
      named = Missing(slot);
    } else {
      named =
          Known(request.is_present(slot) && request.value(slot).text() == t_.NameOf(record.name));
    }
  }
  if (named.is_false()) return named;
  return Both(named, conditions_.When(request, index));
}

// A candidate that no class narrowing it has put aside. Only one that surely is a candidate puts
// another aside: of two that may be, none can be chosen.
template <typename Conditions>
Truth Decision<Conditions>::Remains(const Request& request, ClassIndex index) const {
  const Truth own = Candidacy(request, index);
  if (own.is_false()) return own;
  const module::Range links = t_.classes[index].narrowed_by;
  for (const ClassIndex narrower : t_.class_links.subspan(links.first, links.count)) {
    if (Candidacy(request, narrower).is_true()) return Known(false);
  }
  return own;
}

template <typename Conditions>
void Decision<Conditions>::Select(const Request& request) {
  ClassIndex found = module::NoClass;
  Truth found_truth = Known(false);
  bool several = false;
  for (ClassIndex i = 0; i < t_.classes.size(); ++i) {
    const Truth truth = Remains(request, i);
    if (truth.is_false()) continue;
    several = several || found != module::NoClass;
    // An unknown one is what makes the answer unknown.
    if (found == module::NoClass || truth.is_unknown()) found_truth = truth;
    found = i;
  }
  if (found == module::NoClass) return Deny(t_.selection.none, Known(true));
  if (several) return Deny(t_.selection.ambiguous, found_truth);
  if (found_truth.is_unknown()) return Deny(t_.selection.none, found_truth);

  verdict_.class_index = found;
  constexpr schema::Slot slot = schema::slot::CreateClass;
  if (!request.is_known(slot)) return Deny(t_.selection.not_selected, Missing(slot));
  if (request.is_present(slot) && request.value(slot).text() != policy_.class_name(found)) {
    Deny(t_.selection.not_selected, Known(true));
  }
}

// ---- Rules --------------------------------------------------------------------------------------

template <typename Conditions>
void Decision<Conditions>::Deny(module::RuleIndex rule, Truth why) {
  if (why.is_true()) {
    denied_for_sure_ = true;
  } else if (!missed_a_fact_) {
    missed_a_fact_ = true;
    missed_ = why.slot;
  }
  verdict_.denials.Add(rule);
}

// A denial holds as soon as it holds whatever the unknown facts turn out to be; at the last stage,
// where nothing more turns out, one that may hold does.
template <typename Conditions>
bool Decision<Conditions>::Denies(Truth truth) const {
  return truth.is_true() || (truth.is_unknown() && is_last() && unknown_denies_);
}

template <typename Conditions>
void Decision<Conditions>::Denial(const Request& request, std::uint32_t entry) {
  const Truth truth = conditions_.Condition(request, entry);
  if (Denies(truth)) Deny(t_.entries[entry].rule, truth);
}

// Beside the decision: what would be a denial is told, and nothing follows from it.
template <typename Conditions>
void Decision<Conditions>::TrialsOf(const Request& request, std::size_t block) {
  const module::Range trials = t_.blocks[block].trials;
  for (std::uint32_t entry = trials.first; entry < trials.first + trials.count; ++entry) {
    if (Denies(conditions_.Condition(request, entry))) {
      verdict_.trials.Add(t_.entries[entry].rule);
    }
  }
}

template <typename Conditions>
void Decision<Conditions>::DenialsOf(const Request& request, std::size_t block) {
  const module::Range denials = t_.blocks[block].denials;
  if (denials.count == 0) return;
  const bool only_keyed = use_index_ == UseIndex::Yes && conditions_.NoDenialHolds(request, block);
  candidates_.ForEach(request, denials, Used(t_.block_indexes[block]), only_keyed,
                      [&](std::uint32_t entry) { Denial(request, entry); });
}

// Where no class is there to say more.
template <typename Conditions>
void Decision<Conditions>::OfTheSet(const Request& request) {
  const std::size_t set = module::SetBlock(t_.classes.size(), action_);
  DenialsOf(request, set);
  TrialsOf(request, set);
}

template <typename Conditions>
void Decision<Conditions>::Checks(const Request& request, std::size_t block) {
  const module::Range checks = t_.blocks[block].checks;
  if (use_index_ == UseIndex::Yes && conditions_.NoCheckHolds(request, block)) return;
  for (std::uint32_t i = 0; i < checks.count; ++i) Denial(request, checks.first + i);
}

// An allow counts if it may still hold; at the last stage, if it holds.
template <typename Conditions>
void Decision<Conditions>::Group(const Request& request, const module::GroupRecord& group,
                                 std::uint32_t index) {
  const auto counts = [&](Truth truth) {
    return truth.is_true() || (truth.is_unknown() && !is_last());
  };
  bool satisfied = false;
  bool matched = false;
  Truth why = Known(true);
  candidates_.ForEach(request, group.entries, Used(index), false, [&](std::uint32_t entry) {
    const Truth says = conditions_.Condition(request, entry);
    if (says.is_false()) return;
    const Truth grants = Both(says, conditions_.Within(request, entry));
    if (counts(grants)) {
      satisfied = true;
      verdict_.allows.Add(t_.entries[entry].rule);
      return;
    }
    matched = matched || counts(says);
    if (grants.is_unknown() && why.is_true()) why = grants;
  });
  if (!satisfied) Deny(matched ? group.beyond_denial : group.default_denial, why);
}

template <typename Conditions>
void Decision<Conditions>::Judge(const Request& request, std::size_t block) {
  const std::size_t set = module::SetBlock(t_.classes.size(), action_);
  DenialsOf(request, set);
  DenialsOf(request, block);
  TrialsOf(request, set);
  TrialsOf(request, block);
  const module::Range groups = t_.blocks[block].groups;
  for (std::uint32_t g = groups.first; g < groups.first + groups.count; ++g) {
    Group(request, t_.groups[g], t_.group_indexes[g]);
  }
}

template <typename Conditions>
void Decision<Conditions>::JudgeFilled(const Request& request, std::size_t block) {
  if (t_.blocks[block].defaults.count == 0) return Judge(request, block);
  Request filled = request;
  FillIn(t_, t_.blocks[block].defaults, filled);
  candidates_.Forget();
  Judge(filled, block);
}

template <typename Conditions>
void Decision<Conditions>::Close() {
  if (verdict_.denials.count > 0) {
    verdict_.effect = module::Effect::Deny;
    verdict_.undecided = !denied_for_sure_;
    verdict_.undecided_slot = denied_for_sure_ ? schema::Slot{0} : missed_;
    return;
  }
  verdict_.effect = module::Effect::Allow;
  if (action_ == schema::Action::Create) {
    verdict_.allows.Add(t_.classes[verdict_.class_index].rule);
  }
}

template <typename Conditions>
void Decision<Conditions>::Begin() {
  verdict_.effect = module::Effect::Deny;
  verdict_.stage = stage_;
  verdict_.generation = policy_.manifest().generation;
  verdict_.class_index = module::NoClass;
  verdict_.denials.count = 0;
  verdict_.allows.count = 0;
  verdict_.trials.count = 0;
  verdict_.undecided = false;
  verdict_.undecided_slot = 0;
}

template <typename Conditions>
void Decision<Conditions>::RunCreate(const Request& request) {
  Select(request);
  if (verdict_.class_index == module::NoClass) {
    unknown_denies_ = false;
    return OfTheSet(request);
  }
  const std::size_t block = module::BlockOf(verdict_.class_index, action_);
  Checks(request, block);
  JudgeFilled(request, block);
}

template <typename Conditions>
void Decision<Conditions>::RunInSandbox(const Request& request) {
  const std::size_t classes = t_.classes.size();
  constexpr schema::Slot slot = schema::slot::SandboxClass;
  if (!request.is_known(slot) || !request.is_present(slot)) {
    Deny(t_.selection.gone, Missing(slot));
    return OfTheSet(request);
  }
  const auto own = policy_.FindClass(request.value(slot).text());
  verdict_.class_index = own.value_or(module::NoClass);
  const std::size_t block =
      own ? module::BlockOf(*own, action_) : module::GoneBlock(classes, action_);
  Checks(request, block);
  JudgeFilled(request, block);
}

template <typename Conditions>
void Decision<Conditions>::Run(const module::Request& request) {
  Begin();
  Checks(request, module::SetBlock(t_.classes.size(), action_));
  if (action_ == schema::Action::Create) {
    RunCreate(request);
  } else {
    RunInSandbox(request);
  }
  Close();
}

}  // namespace curfew::interpret
