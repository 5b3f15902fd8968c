// Comparisons, memberships and patterns: what a leaf of a condition says of the cells of its facts.
#include "compiler/prove/encoding.h"

#include <algorithm>

namespace curfew::prove {

using module::NodeOp;
using module::NodeRecord;
using module::TermKind;
using module::TermRecord;
using module::ValueClass;

std::optional<FactId> Encoding::FactOf(View view, std::uint32_t term) const {
  const TermRecord& record = space_.tables(view.side).terms[term];
  return record.kind == TermKind::Slot ? space_.FactAt(view.side, record.slot) : std::nullopt;
}

Encoding::Operand Encoding::OperandOf(View view, std::uint32_t term, Element element) const {
  const module::Tables& t = space_.tables(view.side);
  const TermRecord& record = t.terms[term];
  if (record.kind == TermKind::Text) return {std::nullopt, std::string(t.TextOf(record.a))};
  if (record.kind == TermKind::Element && element != nullptr) {
    return {std::nullopt, std::string(element->text())};
  }
  return {FactOf(view, term), std::nullopt};
}

std::vector<std::string> Encoding::TextsOf(View view, std::uint32_t term) const {
  const module::Tables& t = space_.tables(view.side);
  const TermRecord& record = t.terms[term];
  std::vector<std::string> texts;
  for (const std::uint32_t text : t.text_items.subspan(record.a, record.b)) {
    texts.emplace_back(t.TextOf(text));
  }
  return texts;
}

// Every fact that the subtree reads is there, so that it says something.
Bool Encoding::ReadsOf(View view, std::uint32_t index) {
  std::set<schema::Slot> slots;
  SlotsReadBy(space_.tables(view.side), index, slots);
  std::vector<Bool> present;
  for (const schema::Slot slot : slots) {
    if (const auto fact = space_.FactAt(view.side, slot)) present.push_back(PresentIn(view, *fact));
  }
  return s_.And(present);
}

// A leaf that no cells answer: it may be true or false.
Encoding::Truth Encoding::Open(View view, std::uint32_t index, std::string why) {
  if (why_not_.empty()) why_not_ = std::move(why);
  const Bool reads = ReadsOf(view, index);
  const Bool holds = s_.Fresh();
  return {s_.And(reads, holds), s_.And(reads, s_.Not(holds))};
}

Encoding::Truth Encoding::Leaf(View view, std::uint32_t index, Element element) {
  const module::Tables& t = space_.tables(view.side);
  const NodeRecord& node = t.nodes[index];
  switch (node.op) {
    case NodeOp::Equal:
    case NodeOp::NotEqual:
    case NodeOp::Less:
    case NodeOp::LessEqual:
    case NodeOp::Greater:
    case NodeOp::GreaterEqual:
      return t.terms[node.a].value == ValueClass::Integer ? Numbers(view, node, element)
                                                          : Texts(view, index, element);
    case NodeOp::In:
      return t.terms[node.a].value == ValueClass::Integer ? NumberIn(view, node, element)
                                                          : TextIn(view, index, element);
    case NodeOp::SubsetOf:
    case NodeOp::Intersects:
    case NodeOp::SameItems:
    case NodeOp::Starts:
      return Sets(view, index);
    case NodeOp::AddressInItems:
      return Open(view, index, "an address is looked for in a stated set of blocks");
    case NodeOp::False:
    case NodeOp::True:
    case NodeOp::Not:
    case NodeOp::And:
    case NodeOp::Or:
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
    case NodeOp::Has:
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::AddressIn:
    case NodeOp::QueryIn:
      break;
  }
  // A pattern and one text.
  if (const auto fact = FactOf(view, node.a)) return Unary(view, index, *fact, element);
  module::Facts nothing;
  const interpret::Truth truth = interpret::EvaluateNode(t, nothing, index, element);
  return {Solver::Constant(truth.is_true()), Solver::Constant(truth.is_false())};
}

// A leaf about one fact and constants, which the interpreter judges cell by cell.
Encoding::Truth Encoding::Unary(View view, std::uint32_t index, FactId fact, Element element) {
  const Cells& cells = CellsOf(fact);
  const Single& single = SingleOf(view, fact);
  const schema::Slot slot = *space_.fact(fact).slots[view.side];
  std::vector<Bool> hold;
  std::vector<Bool> fail;
  std::vector<Bool> hold_for_sure;
  for (std::size_t i = 0; i < single.is.size(); ++i) {
    if (single.is[i] == Bool::False) continue;
    const interpret::Truth truth = cells.Judge(view.side, index, slot, i, element);
    if (truth.is_true()) hold.push_back(single.is[i]);
    if (truth.is_false()) fail.push_back(single.is[i]);
    if (cells.HoldsForSure(view.side, index, i)) hold_for_sure.push_back(single.is[i]);
  }
  const Bool holds = s_.Or(hold);
  const Bool fails = s_.Or(fail);
  const bool is_wide = cells.IsWide(view.side, index);
  if (cells.is_whole() && !is_wide) return {holds, fails};
  if (is_wide && why_not_.empty()) why_not_ = "a deny reads a path in more ways than are tried";
  // In the open mode it is what it is for sure, and otherwise free.
  const Bool sure = s_.Or(hold_for_sure);
  const Bool free = s_.And(open_, s_.And(single.present, s_.Fresh()));
  const Bool is_open_true = s_.Or(s_.And(open_, sure), free);
  const Bool closed = s_.Not(open_);
  const Bool open_holds = s_.Or(is_open_true, s_.And(closed, holds));
  const Bool open_fails =
      s_.Or(s_.And(closed, fails), s_.And(open_, s_.And(single.present, s_.Not(is_open_true))));
  return {open_holds, open_fails};
}

// ---- Numbers ------------------------------------------------------------------------------------

Encoding::Amount Encoding::AmountOf(View view, std::uint32_t index, Element element) {
  const module::Tables& t = space_.tables(view.side);
  const TermRecord& term = t.terms[index];
  switch (term.kind) {
    case TermKind::Slot: {
      const auto fact = space_.FactAt(view.side, term.slot);
      if (!fact) return {Bool::False, s_.Number(0)};
      const Number& number = NumberOf(view, *fact);
      return {number.present, number.value};
    }
    case TermKind::Element:
      return {Bool::True, s_.Number(element->integer)};
    case TermKind::Sum: {
      Bool known = Bool::True;
      std::vector<std::pair<std::int64_t, Int>> parts;
      for (const module::AddendRecord& addend : t.addends.subspan(term.a, term.b)) {
        const Amount part = AmountOf(view, addend.term, element);
        known = s_.And(known, part.known);
        parts.emplace_back(addend.sign, part.value);
      }
      return {known, s_.Sum(parts)};
    }
    case TermKind::Count: {
      const TermRecord& items = t.terms[term.a];
      const auto fact = FactOf(view, term.a);
      if (!fact) return {Bool::True, s_.Number(items.b)};
      std::vector<std::pair<std::int64_t, Int>> parts;
      const bool is_list = space_.fact(*fact).collection == schema::Collection::List;
      const std::vector<Bool>& each =
          is_list ? SingleOf(view, *fact).is : SeveralOf(view, *fact).has;
      for (std::size_t i = 0; i < each.size(); ++i) {
        const std::int64_t weight = is_list ? CellsOf(*fact).values()[i].size : 1;
        if (weight > 0) parts.emplace_back(weight, s_.Choose(each[i], s_.Number(1), s_.Number(0)));
      }
      return {PresentIn(view, *fact), s_.Sum(parts)};
    }
    case TermKind::Integer:
      return {Bool::True, s_.Number(t.integers[term.a])};
    case TermKind::Text:
    case TermKind::TextSet:
    case TermKind::TextList:
    case TermKind::IntegerSet:
    case TermKind::IntegerList:
      break;
  }
  CURFEW_UNREACHABLE("what is compared or added as a number is one");
}

Encoding::Truth Encoding::Numbers(View view, const NodeRecord& node, Element element) {
  const Amount a = AmountOf(view, node.a, element);
  const Amount b = AmountOf(view, node.b, element);
  const Bool known = s_.And(a.known, b.known);
  Bool says = Bool::False;
  switch (node.op) {
    case NodeOp::Equal:
    case NodeOp::NotEqual:
      says = s_.Equal(a.value, b.value);
      break;
    case NodeOp::Less:
    case NodeOp::GreaterEqual:
      says = s_.Less(a.value, b.value);
      break;
    case NodeOp::False:
    case NodeOp::True:
    case NodeOp::Not:
    case NodeOp::And:
    case NodeOp::Or:
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
    case NodeOp::Has:
    case NodeOp::LessEqual:
    case NodeOp::Greater:
    case NodeOp::In:
    case NodeOp::SubsetOf:
    case NodeOp::Intersects:
    case NodeOp::SameItems:
    case NodeOp::Starts:
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::AddressIn:
    case NodeOp::AddressInItems:
    case NodeOp::QueryIn:
      says = s_.LessEqual(a.value, b.value);
      break;
  }
  const bool is_negated =
      node.op == NodeOp::NotEqual || node.op == NodeOp::GreaterEqual || node.op == NodeOp::Greater;
  if (is_negated) says = s_.Not(says);
  return {s_.And(known, says), s_.And(known, s_.Not(says))};
}

Encoding::Truth Encoding::NumberIn(View view, const NodeRecord& node, Element element) {
  const module::Tables& t = space_.tables(view.side);
  const Amount a = AmountOf(view, node.a, element);
  std::vector<Bool> some;
  Bool known = a.known;
  if (const auto fact = FactOf(view, node.b)) {
    const auto index = static_cast<std::uint32_t>(&node - t.nodes.data());
    const Cells& cells = CellsOf(*fact);
    if (!cells.is_whole() || space_.fact(*fact).collection == schema::Collection::List) {
      return Open(view, index, "a number is looked for in a set that is stated");
    }
    const Several& several = SeveralOf(view, *fact);
    known = s_.And(known, several.present);
    for (std::size_t i = 0; i < several.has.size(); ++i) {
      some.push_back(
          s_.And(several.has[i], s_.Equal(a.value, s_.Number(cells.values()[i].integer))));
    }
  } else {
    const TermRecord& items = t.terms[node.b];
    for (const std::int64_t number : t.integers.subspan(items.a, items.b)) {
      some.push_back(s_.Equal(a.value, s_.Number(number)));
    }
  }
  const Bool is_in = s_.Or(some);
  return {s_.And(known, is_in), s_.And(known, s_.Not(is_in))};
}

// ---- Texts --------------------------------------------------------------------------------------

Encoding::Truth Encoding::Texts(View view, std::uint32_t index, Element element) {
  const module::Tables& t = space_.tables(view.side);
  const NodeRecord& node = t.nodes[index];
  const Operand a = OperandOf(view, node.a, element);
  const Operand b = OperandOf(view, node.b, element);
  if (a.fact && b.fact) {
    const bool is_equality = node.op == NodeOp::Equal || node.op == NodeOp::NotEqual;
    const bool share = &CellsOf(*a.fact) == &CellsOf(*b.fact) && CellsOf(*a.fact).is_whole();
    if (!is_equality || !share) return Open(view, index, "two facts are compared");
    const Single one = SingleOf(view, *a.fact);
    const Single& other = SingleOf(view, *b.fact);
    std::vector<Bool> same;
    for (std::size_t i = 0; i < one.is.size(); ++i) {
      same.push_back(s_.And(one.is[i], other.is[i]));
    }
    const Bool known = s_.And(one.present, other.present);
    const Bool equal = s_.Or(same);
    const Truth truth{equal, s_.And(known, s_.Not(equal))};
    return node.op == NodeOp::Equal ? truth : Truth{truth.fails, truth.holds};
  }
  if (a.fact) return Unary(view, index, *a.fact, element);
  if (b.fact) return Unary(view, index, *b.fact, element);
  const interpret::Truth truth = interpret::EvaluateNode(t, {}, index, element);
  return {Solver::Constant(truth.is_true()), Solver::Constant(truth.is_false())};
}

Encoding::Truth Encoding::TextIn(View view, std::uint32_t index, Element element) {
  const module::Tables& t = space_.tables(view.side);
  const NodeRecord& node = t.nodes[index];
  const Operand a = OperandOf(view, node.a, element);
  const auto items = FactOf(view, node.b);
  if (!items) {
    if (a.fact) return Unary(view, index, *a.fact, element);
    const interpret::Truth truth = interpret::EvaluateNode(t, {}, index, element);
    return {Solver::Constant(truth.is_true()), Solver::Constant(truth.is_false())};
  }
  const Cells& cells = CellsOf(*items);
  if (space_.fact(*items).collection == schema::Collection::List) {
    if (a.fact) return Open(view, index, "a fact is looked for in a list that is stated");
    return Unary(view, index, *items, element);
  }
  if (!cells.is_whole()) return Open(view, index, cells.why_not());
  const Several& several = SeveralOf(view, *items);
  if (!a.fact) {
    const auto cell = cells.Find(*a.constant);
    const Bool has = cell ? several.has[*cell] : Bool::False;
    return {has, s_.And(several.present, s_.Not(has))};
  }
  const Single& single = SingleOf(view, *a.fact);
  std::vector<Bool> some;
  for (std::size_t i = 0; i < single.is.size(); ++i) {
    some.push_back(s_.And(single.is[i], several.has[i]));
  }
  const Bool is_in = s_.Or(some);
  const Bool known = s_.And(single.present, several.present);
  return {is_in, s_.And(known, s_.Not(is_in))};
}

// Two collections: sets by their elements, lists as a whole.
Encoding::Truth Encoding::Sets(View view, std::uint32_t index) {
  const module::Tables& t = space_.tables(view.side);
  const NodeRecord& node = t.nodes[index];
  const auto a = FactOf(view, node.a);
  const auto b = FactOf(view, node.b);
  const auto is_list = [&](const std::optional<FactId>& fact) {
    return fact && space_.fact(*fact).collection == schema::Collection::List;
  };
  if (is_list(a) || is_list(b)) {
    if (a && b) return Open(view, index, "two facts are compared");
    return Unary(view, index, is_list(a) ? *a : *b, nullptr);
  }
  if (!a && !b) {
    const interpret::Truth truth = interpret::EvaluateNode(t, {}, index, nullptr);
    return {Solver::Constant(truth.is_true()), Solver::Constant(truth.is_false())};
  }
  const Cells& cells = CellsOf(a ? *a : *b);
  const bool share = !a || !b || &CellsOf(*a) == &CellsOf(*b);
  const bool is_of_sets = node.op == NodeOp::SubsetOf || node.op == NodeOp::Intersects;
  if (!share || !is_of_sets || !cells.is_whole()) {
    return Open(view, index, cells.is_whole() ? "two facts are compared" : cells.why_not());
  }
  Bool known = Bool::True;
  // By cell: whether the collection has it.
  const auto elements = [&](const std::optional<FactId>& fact, std::uint32_t term) {
    if (fact) {
      const Several& several = SeveralOf(view, *fact);
      known = s_.And(known, several.present);
      return several.has;
    }
    std::vector<Bool> has(cells.values().size(), Bool::False);
    const TermRecord& items = t.terms[term];
    if (cells.is_number()) {
      for (const std::int64_t number : t.integers.subspan(items.a, items.b)) {
        if (const auto cell = cells.Find(number)) has[*cell] = Bool::True;
      }
    } else {
      for (const std::string& text : TextsOf(view, term)) {
        if (const auto cell = cells.Find(text)) has[*cell] = Bool::True;
      }
    }
    return has;
  };
  const std::vector<Bool> one = elements(a, node.a);
  const std::vector<Bool> other = elements(b, node.b);
  std::vector<Bool> found;  // an element of both, or one that is missing
  for (std::size_t i = 0; i < one.size(); ++i) {
    found.push_back(s_.And(one[i], node.op == NodeOp::Intersects ? other[i] : s_.Not(other[i])));
  }
  const Bool some = s_.And(known, s_.Or(found));
  const Bool none = s_.And(known, s_.Not(s_.Or(found)));
  return node.op == NodeOp::Intersects ? Truth{some, none} : Truth{none, some};
}

}  // namespace curfew::prove
