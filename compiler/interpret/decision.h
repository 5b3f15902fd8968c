// Decision: one request on its way to a verdict, step by step as compiler/ir/README.md has it. It
// is the same for every engine; engines differ in how they judge a condition, which `Conditions`
// does:
//
//   // Of entries[entry]; `by_key`: the index led to it, so that the part of its condition that
//   says
//   // so holds (module::EntryIndex::implied).
//   Truth Condition(const module::Request&, std::uint32_t entry, bool by_key) const
//   Truth Within(const module::Request&, std::uint32_t entry) const
//   Truth When(const module::Request&, module::ClassIndex) const
//   // True only if all that native::BlockCode says of blocks[block] is false: `before` its
//   defaults,
//   // and behind them by facts that last with the sandbox and by all others.
//   bool NothingBefore(const module::Request&, std::size_t block) const
//   bool NothingLasting(const module::Request&, std::size_t block) const
//   bool NothingVarying(const module::Request&, std::size_t block) const
#pragma once

#include "compiler/interpret/candidates.h"
#include "compiler/interpret/evaluate.h"
#include "compiler/module/policy_module.h"
#include "compiler/module/prepared_request.h"
#include "compiler/module/request.h"
#include "compiler/module/verdict.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace curfew::interpret {

// Whether the module's index is used. Only tests say no: the answers are the same.
enum class UseIndex : std::uint8_t { No, Yes };

// Gives each left-out wish of these defaults its value.
inline void FillIn(const module::Tables& tables, const module::Range& defaults,
                   module::FilledRequest& request) {
  using Kind = module::DefaultRecord::Kind;
  for (const module::DefaultRecord& record :
       tables.defaults.subspan(defaults.first, defaults.count)) {
    if (!request.is_absent(record.slot)) continue;
    if (record.when_slot != module::NoIndex) {
      const auto slot = static_cast<schema::Slot>(record.when_slot);
      const module::Request& facts = request.request();
      if (!facts.is_present(slot) || facts.value(slot).integer != record.when_value) continue;
    }
    switch (record.kind) {
      case Kind::Integer:
        request.Fill(record.slot, module::Value::OfInteger(record.integer));
        break;
      case Kind::Text:
        request.Fill(record.slot, module::Value::OfText(tables.TextOf(record.text)));
        break;
      case Kind::NoItems:
        request.Fill(record.slot, module::Value());
        break;
    }
  }
}

inline void FillIn(const module::Tables& tables, const module::Range& defaults,
                   module::Request& request) {
  module::FilledRequest filled(request);
  FillIn(tables, defaults, filled);
  for (const module::DefaultRecord& record :
       tables.defaults.subspan(defaults.first, defaults.count)) {
    const bool is_filled =
        filled.request().is_present(record.slot) && !request.is_present(record.slot);
    if (is_filled) request.Set(record.slot, filled.request().value(record.slot));
  }
}

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
        candidates_(policy) {}

  void Run(const module::Request& request);
  // In a sandbox, by what Fold of the same lasting facts said.
  void RunPrepared(const module::Request& request, const module::PreparedRequest::Fold& fold);
  module::PreparedRequest::Fold Fold(const module::Request& lasting) const;

 private:
  using Request = module::Request;
  using ClassIndex = module::ClassIndex;

  // At the last stage nothing becomes known any more.
  [[nodiscard]] bool is_last() const { return stage_ == schema::Stage::Request; }
  [[nodiscard]] bool uses_index() const { return use_index_ == UseIndex::Yes; }
  [[nodiscard]] std::uint32_t Used(std::uint32_t index) const {
    return uses_index() ? index : module::NoIndex;
  }

  void Begin();
  void RunCreate(const Request& request);
  void RunInSandbox(const Request& request);
  void RunInClass(const Request& request, ClassIndex own, bool nothing_lasting);
  void RunInBlock(const Request& request, std::size_t block);
  // Without initialisers, so that room for them costs nothing.
  struct Candidate {
    ClassIndex index;
    TruthValue value;
    schema::Slot slot;
  };
  void Select(const Request& request);
  bool IsPutAside(ClassIndex index, std::span<const Candidate> all) const;
  Truth Candidacy(const Request& request, ClassIndex index) const;
  Truth Remains(const Request& request, ClassIndex index) const;
  void Deny(module::RuleIndex rule, Truth why);
  [[nodiscard]] bool Denies(Truth truth) const;
  void Denial(const Request& request, std::uint32_t entry, bool by_key);
  // `only_keyed`: those that no index passes over are known to be false.
  void DenialsOf(const Request& request, std::size_t block, bool only_keyed);
  void TrialsOf(const Request& request, std::size_t block);
  void OfTheSet(const Request& request);
  void Checks(const Request& request, std::size_t block);
  void Group(const Request& request, const module::GroupRecord& group, std::uint32_t index);
  void JudgeFilled(const Request& request, std::size_t block);
  void Judge(const Request& request, std::size_t block, bool is_quiet);
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

// The same where all candidates are known.
template <typename Conditions>
bool Decision<Conditions>::IsPutAside(ClassIndex index, std::span<const Candidate> all) const {
  const module::Range range = t_.classes[index].narrowed_by;
  const auto links = t_.class_links.subspan(range.first, range.count);
  return std::ranges::any_of(all, [&](const Candidate& other) {
    return other.value == TruthValue::True && std::ranges::find(links, other.index) != links.end();
  });
}

template <typename Conditions>
void Decision<Conditions>::Select(const Request& request) {
  ClassIndex found = module::NoClass;
  Truth found_truth = Known(false);
  bool several = false;
  const auto find = [&](ClassIndex i, Truth truth) {
    several = several || found != module::NoClass;
    // An unknown one is what makes the answer unknown.
    if (found == module::NoClass || truth.is_unknown()) found_truth = truth;
    found = i;
  };
  std::array<Candidate, 16> candidates;
  std::size_t count = 0;
  const module::Range all{0, static_cast<std::uint32_t>(t_.classes.size())};
  candidates_.ForEach(request, all, Used(t_.class_index[0]), false, [&](ClassIndex i, bool) {
    const Truth truth = Candidacy(request, i);
    if (truth.is_false()) return;
    if (count < candidates.size()) candidates[count] = {i, truth.value, truth.slot};
    ++count;
  });
  if (count <= candidates.size()) {
    const std::span<const Candidate> some(candidates.data(), count);
    for (const Candidate& one : some) {
      if (!IsPutAside(one.index, some)) find(one.index, {one.value, one.slot});
    }
  } else {
    for (ClassIndex i = 0; i < t_.classes.size(); ++i) {
      const Truth truth = Remains(request, i);
      if (!truth.is_false()) find(i, truth);
    }
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
void Decision<Conditions>::Denial(const Request& request, std::uint32_t entry, bool by_key) {
  const Truth truth = conditions_.Condition(request, entry, by_key);
  if (Denies(truth)) Deny(t_.entries[entry].rule, truth);
}

// Beside the decision: what would be a denial is told, and nothing follows from it.
template <typename Conditions>
void Decision<Conditions>::TrialsOf(const Request& request, std::size_t block) {
  const module::Range trials = t_.blocks[block].trials;
  for (std::uint32_t entry = trials.first; entry < trials.first + trials.count; ++entry) {
    if (Denies(conditions_.Condition(request, entry, false))) {
      verdict_.trials.Add(t_.entries[entry].rule);
    }
  }
}

template <typename Conditions>
void Decision<Conditions>::DenialsOf(const Request& request, std::size_t block, bool only_keyed) {
  const module::Range denials = t_.blocks[block].denials;
  if (denials.count == 0) return;
  candidates_.ForEach(request, denials, Used(t_.block_indexes[block]), only_keyed,
                      [&](std::uint32_t entry, bool by_key) { Denial(request, entry, by_key); });
}

// Where no class is there to say more.
template <typename Conditions>
void Decision<Conditions>::OfTheSet(const Request& request) {
  const std::size_t set = module::SetBlock(t_.classes.size(), action_);
  DenialsOf(request, set, false);
  TrialsOf(request, set);
}

template <typename Conditions>
void Decision<Conditions>::Checks(const Request& request, std::size_t block) {
  const module::Range checks = t_.blocks[block].checks;
  for (std::uint32_t i = 0; i < checks.count; ++i) Denial(request, checks.first + i, false);
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
  candidates_.ForEach(request, group.entries, Used(index), false,
                      [&](std::uint32_t entry, bool by_key) {
                        const Truth says = conditions_.Condition(request, entry, by_key);
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

// `is_quiet`: no trial holds, nor a denial that its index cannot pass over.
template <typename Conditions>
void Decision<Conditions>::Judge(const Request& request, std::size_t block, bool is_quiet) {
  const std::size_t set = module::SetBlock(t_.classes.size(), action_);
  DenialsOf(request, set, is_quiet);
  DenialsOf(request, block, is_quiet);
  if (!is_quiet) {
    TrialsOf(request, set);
    TrialsOf(request, block);
  }
  const module::Range groups = t_.blocks[block].groups;
  for (std::uint32_t g = groups.first; g < groups.first + groups.count; ++g) {
    Group(request, t_.groups[g], t_.group_indexes[g]);
  }
}

template <typename Conditions>
void Decision<Conditions>::JudgeFilled(const Request& request, std::size_t block) {
  module::FilledRequest room(request);
  FillIn(t_, t_.blocks[block].defaults, room);
  const Request& filled = room.request();
  candidates_.Forget();
  const bool is_quiet = uses_index() && conditions_.NothingLasting(filled, block) &&
                        conditions_.NothingVarying(filled, block);
  Judge(filled, block, is_quiet);
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
  const std::size_t set = module::SetBlock(t_.classes.size(), action_);
  if (!uses_index() || !conditions_.NothingBefore(request, set)) Checks(request, set);
  Select(request);
  if (verdict_.class_index == module::NoClass) {
    unknown_denies_ = false;
    return OfTheSet(request);
  }
  RunInBlock(request, module::BlockOf(verdict_.class_index, action_));
}

// Behind the checks of the set.
template <typename Conditions>
void Decision<Conditions>::RunInBlock(const Request& request, std::size_t block) {
  const bool has_defaults = t_.blocks[block].defaults.count > 0;
  const bool checked = uses_index() && has_defaults && conditions_.NothingBefore(request, block);
  if (!checked) Checks(request, block);
  if (has_defaults) return JudgeFilled(request, block);
  Judge(request, block, false);
}

template <typename Conditions>
void Decision<Conditions>::RunInClass(const Request& request, ClassIndex own,
                                      bool nothing_lasting) {
  const std::size_t classes = t_.classes.size();
  verdict_.class_index = own;
  const std::size_t block =
      own != module::NoClass ? module::BlockOf(own, action_) : module::GoneBlock(classes, action_);
  // Without defaults, checks and denials judge the same facts.
  if (uses_index() && t_.blocks[block].defaults.count == 0 &&
      (nothing_lasting || conditions_.NothingLasting(request, block)) &&
      conditions_.NothingVarying(request, block)) {
    return Judge(request, block, true);
  }
  Checks(request, module::SetBlock(classes, action_));
  RunInBlock(request, block);
}

template <typename Conditions>
void Decision<Conditions>::RunInSandbox(const Request& request) {
  constexpr schema::Slot slot = schema::slot::SandboxClass;
  if (!request.is_known(slot) || !request.is_present(slot)) {
    Checks(request, module::SetBlock(t_.classes.size(), action_));
    Deny(t_.selection.gone, Missing(slot));
    return OfTheSet(request);
  }
  const auto own = policy_.FindClass(request.value(slot).text());
  RunInClass(request, own.value_or(module::NoClass), false);
}

template <typename Conditions>
void Decision<Conditions>::Run(const module::Request& request) {
  Begin();
  if (action_ == schema::Action::Create) {
    RunCreate(request);
  } else {
    RunInSandbox(request);
  }
  Close();
}

template <typename Conditions>
module::PreparedRequest::Fold Decision<Conditions>::Fold(const module::Request& lasting) const {
  const auto own = policy_.FindClass(lasting.value(schema::slot::SandboxClass).text());
  const std::size_t block =
      own ? module::BlockOf(*own, action_) : module::GoneBlock(t_.classes.size(), action_);
  return {.content = policy_.manifest().content,
          .class_index = own.value_or(module::NoClass),
          .nothing_lasting = conditions_.NothingLasting(lasting, block)};
}

template <typename Conditions>
void Decision<Conditions>::RunPrepared(const module::Request& request,
                                       const module::PreparedRequest::Fold& fold) {
  Begin();
  RunInClass(request, fold.class_index, fold.nothing_lasting);
  Close();
}

}  // namespace curfew::interpret
