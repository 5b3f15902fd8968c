#include "compiler/interpret/interpreter.h"

#include "compiler/interpret/evaluate.h"

#include <algorithm>

namespace curfew::interpret {
namespace {

using module::BlockRecord;
using module::ClassIndex;
using module::EntryRecord;
using module::GoneBlock;
using module::Request;
using module::RuleIndex;
using module::SetBlock;
using module::Tables;
using module::Verdict;
using schema::Action;
using schema::Stage;

// One request on its way to a verdict.
class Decision {
 public:
  Decision(const module::PolicyModule& policy, const Request& request, Verdict& verdict)
      : policy_(policy),
        t_(policy.tables()),
        action_(request.action()),
        // Only an egress is judged in stages.
        stage_(action_ == Action::Egress ? request.stage() : Stage::Request),
        verdict_(verdict) {}

  void Run(const Request& request);

 private:
  // Where an index goes: the entries of a range that may hold for the request, in any order. All
  // of them, so far.
  [[nodiscard]] std::span<const EntryRecord> Candidates(module::Range range) const {
    return t_.entries.subspan(range.first, range.count);
  }
  [[nodiscard]] const BlockRecord& BlockAt(std::size_t place) const { return t_.blocks[place]; }
  // At the last stage nothing becomes known any more.
  [[nodiscard]] bool is_last() const { return stage_ == Stage::Request; }

  void Select(const Request& request);
  Truth Candidacy(const Request& request, ClassIndex index) const;
  Truth Remains(const Request& request, ClassIndex index) const;
  void Deny(RuleIndex rule, Truth why);
  void Denials(const Request& request, module::Range range);
  void Groups(const Request& request, const BlockRecord& block);
  void Judge(const Request& request, const BlockRecord& block);
  void FillIn(Request& request, const BlockRecord& block) const;
  void Close();

  const module::PolicyModule& policy_;
  const Tables& t_;
  const Action action_;
  const Stage stage_;
  Verdict& verdict_;
  // Without its class a create has no defaults either, so that a fact it left out says nothing.
  bool unknown_denies_ = true;
  bool denied_for_sure_ = false;
  bool missed_a_fact_ = false;
  schema::Slot missed_ = 0;
};

// ---- The class ----------------------------------------------------------------------------------

// Whether the class is a candidate by its own words.
Truth Decision::Candidacy(const Request& request, ClassIndex index) const {
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
  return Both(named, Evaluate(t_, request, record.when));
}

// A candidate that no class narrowing it has put aside. Only one that surely is a candidate puts
// another aside: of two that may be, none can be chosen.
Truth Decision::Remains(const Request& request, ClassIndex index) const {
  const Truth own = Candidacy(request, index);
  if (own.is_false()) return own;
  const module::Range links = t_.classes[index].narrowed_by;
  for (const ClassIndex narrower : t_.class_links.subspan(links.first, links.count)) {
    if (Candidacy(request, narrower).is_true()) return Known(false);
  }
  return own;
}

void Decision::Select(const Request& request) {
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

void Decision::Deny(RuleIndex rule, Truth why) {
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
void Decision::Denials(const Request& request, module::Range range) {
  for (const EntryRecord& entry : Candidates(range)) {
    const Truth truth = Evaluate(t_, request, entry.condition);
    if (truth.is_true() || (truth.is_unknown() && is_last() && unknown_denies_)) {
      Deny(entry.rule, truth);
    }
  }
}

// An allow counts if it may still hold; at the last stage, if it holds.
void Decision::Groups(const Request& request, const BlockRecord& block) {
  const auto counts = [&](Truth truth) {
    return truth.is_true() || (truth.is_unknown() && !is_last());
  };
  for (const module::GroupRecord& group :
       t_.groups.subspan(block.groups.first, block.groups.count)) {
    bool satisfied = false;
    bool matched = false;
    Truth why = Known(true);
    for (const EntryRecord& entry : Candidates(group.entries)) {
      const Truth says = Evaluate(t_, request, entry.condition);
      if (says.is_false()) continue;
      const Truth grants = Both(says, Evaluate(t_, request, entry.within));
      if (counts(grants)) {
        satisfied = true;
        verdict_.allows.Add(entry.rule);
        continue;
      }
      matched = matched || counts(says);
      if (grants.is_unknown() && why.is_true()) why = grants;
    }
    if (!satisfied) Deny(matched ? group.beyond_denial : group.default_denial, why);
  }
}

void Decision::FillIn(Request& request, const BlockRecord& block) const {
  for (const module::DefaultRecord& record :
       t_.defaults.subspan(block.defaults.first, block.defaults.count)) {
    if (!request.is_known(record.slot) || request.is_present(record.slot)) continue;
    switch (record.kind) {
      case module::DefaultRecord::Kind::Integer:
        request.SetInteger(record.slot, record.integer);
        break;
      case module::DefaultRecord::Kind::Text:
        request.SetText(record.slot, t_.TextOf(record.text));
        break;
      case module::DefaultRecord::Kind::NoItems:
        request.Set(record.slot, module::Value::OfItems({}));
        break;
    }
  }
}

void Decision::Judge(const Request& request, const BlockRecord& block) {
  Denials(request, BlockAt(SetBlock(t_.classes.size(), action_)).denials);
  Denials(request, block.denials);
  Groups(request, block);
}

void Decision::Close() {
  if (verdict_.denials.count > 0) {
    verdict_.effect = module::Effect::Deny;
    verdict_.undecided = !denied_for_sure_;
    verdict_.undecided_slot = denied_for_sure_ ? schema::Slot{0} : missed_;
    return;
  }
  verdict_.effect = module::Effect::Allow;
  if (action_ == Action::Create) verdict_.allows.Add(t_.classes[verdict_.class_index].rule);
}

void Decision::Run(const Request& request) {
  verdict_.effect = module::Effect::Deny;
  verdict_.stage = stage_;
  verdict_.generation = policy_.manifest().generation;
  verdict_.class_index = module::NoClass;
  verdict_.denials.count = 0;
  verdict_.allows.count = 0;
  verdict_.trials.count = 0;
  verdict_.undecided = false;
  verdict_.undecided_slot = 0;

  const std::size_t classes = t_.classes.size();
  const BlockRecord& of_set = BlockAt(SetBlock(classes, action_));
  Denials(request, of_set.checks);
  if (action_ == Action::Create) {
    Select(request);
    if (verdict_.class_index == module::NoClass) {
      unknown_denies_ = false;
      Denials(request, of_set.denials);
    } else {
      const BlockRecord& block = BlockAt(module::BlockOf(verdict_.class_index, action_));
      Denials(request, block.checks);
      Request filled = request;
      FillIn(filled, block);
      Judge(filled, block);
    }
    return Close();
  }

  constexpr schema::Slot slot = schema::slot::SandboxClass;
  if (!request.is_known(slot) || !request.is_present(slot)) {
    Deny(t_.selection.gone, Missing(slot));
    Denials(request, of_set.denials);
    return Close();
  }
  const auto own = policy_.FindClass(request.value(slot).text());
  verdict_.class_index = own.value_or(module::NoClass);
  const BlockRecord& block =
      BlockAt(own ? module::BlockOf(*own, action_) : GoneBlock(classes, action_));
  Denials(request, block.checks);
  if (block.defaults.count == 0) {
    Judge(request, block);
  } else {
    Request filled = request;
    FillIn(filled, block);
    Judge(filled, block);
  }
  Close();
}

}  // namespace

void Interpreter::Decide(const Request& request, Verdict& verdict) const {
  Decision(module_, request, verdict).Run(request);
}

}  // namespace curfew::interpret
