#include "compiler/prove/encoding.h"

#include <algorithm>

namespace curfew::prove {

using module::NodeOp;
using module::NodeRecord;

void Encoding::Ask(const Question& question) {
  s_.Begin();
  has_unstatable_ = false;
  why_not_.clear();
  pools_.clear();
  cells_of_.clear();
  singles_.clear();
  severals_.clear();
  numbers_.clear();
  known_.clear();
  open_ = s_.Fresh();
  statable_ = s_.Fresh();
  Scan scan(space_);
  for (const Claim& claim : question.claims) scan.Read(claim);
  if (space_.action() != schema::Action::Create) {
    scan.Add(space_.BuiltIn(schema::slot::SandboxClass));
  }
  if (question.names_class) scan.Add(space_.BuiltIn(schema::slot::CreateClass));
  std::vector<Pool> pools = scan.TakePools();
  facts_ = scan.facts();
  for (Pool& pool : pools) {
    for (const FactId fact : pool.members) {
      const std::string& path = space_.fact(fact).path;
      if (path == "sandbox.class" || path == "create.class") {
        pool.atoms.constants.insert(question.class_name);
        pool.is_compared = true;  // with the name, and no other value stands for it
      }
    }
    const Cells& cells = pools_.emplace_back(space_, std::move(pool), arena_);
    for (const FactId fact : cells.pool().members) cells_of_[fact] = &cells;
    if (!cells.is_whole()) why_not_ = cells.why_not();
  }
  MakeFacts();
  MakeAxioms();
  PinClass(question);
  for (const Claim& claim : question.claims) s_.Require(Of(claim));
}

Solver::Answer Encoding::SolveStatable(std::uint64_t& steps) {
  const Bool assumed[] = {s_.Not(open_), statable_};
  return s_.Check(assumed, steps);
}
Solver::Answer Encoding::SolveClosed(std::uint64_t& steps) {
  const Bool assumed[] = {s_.Not(open_)};
  return s_.Check(assumed, steps);
}
Solver::Answer Encoding::SolveOpen(std::uint64_t& steps) { return s_.Check({}, steps); }

Witness Encoding::Read() {
  constexpr View kRaw;
  Witness witness;
  for (const FactId id : facts_) {
    const Fact& fact = space_.fact(id);
    const bool is_single = fact.collection != schema::Collection::Set;
    if (fact.is_number() && is_single && fact.collection == schema::Collection::One) {
      const Number& number = NumberOf(kRaw, id);
      const bool present = s_.Read(number.present);
      witness[id] = {present, module::Value::OfInteger(present ? s_.Read(number.value) : 0)};
    } else if (is_single) {
      const Single& single = SingleOf(kRaw, id);
      WitnessFact told{s_.Read(single.present), {}};
      for (std::size_t i = 0; i < single.is.size(); ++i) {
        if (s_.Read(single.is[i])) told.value = CellsOf(id).values()[i];
      }
      witness[id] = told;
    } else {
      const Several& several = SeveralOf(kRaw, id);
      std::vector<module::Value> items;
      for (std::size_t i = 0; i < several.has.size(); ++i) {
        if (s_.Read(several.has[i])) items.push_back(CellsOf(id).values()[i]);
      }
      const bool of_numbers = fact.is_number();
      std::sort(items.begin(), items.end(), [&](const module::Value& a, const module::Value& b) {
        return of_numbers ? a.integer < b.integer : a.text() < b.text();
      });
      witness[id] = {s_.Read(several.present),
                     module::Value::OfItems(arena_.Keep(std::move(items)))};
    }
  }
  return witness;
}

// ---- Claims -------------------------------------------------------------------------------------

Bool Encoding::Of(const Claim& claim) {
  if (claim.kind == Claim::Kind::All || claim.kind == Claim::Kind::Some) {
    std::vector<Bool> parts;
    for (const Claim& part : claim.parts) parts.push_back(Of(part));
    return claim.kind == Claim::Kind::All ? s_.And(parts) : s_.Or(parts);
  }
  if (claim.kind == Claim::Kind::IsNamed || claim.kind == Claim::Kind::NotNamed) {
    const Bool is_named = PresentIn({}, space_.BuiltIn(schema::slot::CreateClass));
    return claim.kind == Claim::Kind::IsNamed ? is_named : s_.Not(is_named);
  }
  const Truth truth =
      claim.node == module::NoIndex ? Fixed(true) : Of(claim.view, claim.node, nullptr);
  switch (claim.kind) {
    case Claim::Kind::IsTrue:
      return truth.holds;
    case Claim::Kind::IsFalse:
      return truth.fails;
    case Claim::Kind::NotTrue:
      return s_.Not(truth.holds);
    case Claim::Kind::NotFalse:
      return s_.Not(truth.fails);
    case Claim::Kind::IsNamed:
    case Claim::Kind::NotNamed:
    case Claim::Kind::All:
    case Claim::Kind::Some:
      break;
  }
  CURFEW_UNREACHABLE("the others were answered above");
}

// ---- Conditions ---------------------------------------------------------------------------------

Encoding::Truth Encoding::Of(View view, std::uint32_t index, Element element) {
  if (element == nullptr) {
    const auto known = known_.find({view, index});
    if (known != known_.end()) return known->second;
  }
  const NodeRecord& node = space_.tables(view.side).nodes[index];
  Truth truth;
  switch (node.op) {
    case NodeOp::False:
    case NodeOp::True:
      truth = Fixed(node.op == NodeOp::True);
      break;
    case NodeOp::Not: {
      const Truth inner = Of(view, node.a, element);
      truth = {inner.fails, inner.holds};
      break;
    }
    case NodeOp::And:
    case NodeOp::Or:
      truth = Junction(view, node, element);
      break;
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
      truth = Quantifier(view, index);
      break;
    case NodeOp::Has: {
      const auto fact = space_.FactAt(view.side, static_cast<schema::Slot>(node.a));
      const Bool present = fact ? PresentIn(view, *fact) : Bool::False;
      truth = {present, s_.Not(present)};
      break;
    }
    case NodeOp::Equal:
    case NodeOp::NotEqual:
    case NodeOp::Less:
    case NodeOp::LessEqual:
    case NodeOp::Greater:
    case NodeOp::GreaterEqual:
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
      truth = Leaf(view, index, element);
      break;
  }
  if (element == nullptr) known_.emplace(std::pair(view, index), truth);
  return truth;
}

Encoding::Truth Encoding::Junction(View view, const NodeRecord& node, Element element) {
  std::vector<Bool> hold;
  std::vector<Bool> fail;
  for (const std::uint32_t child : space_.tables(view.side).children.subspan(node.a, node.b)) {
    const Truth truth = Of(view, child, element);
    hold.push_back(truth.holds);
    fail.push_back(truth.fails);
  }
  if (node.op == NodeOp::And) return {s_.And(hold), s_.Or(fail)};
  return {s_.Or(hold), s_.And(fail)};
}

Encoding::Truth Encoding::Quantifier(View view, std::uint32_t index) {
  const module::Tables& t = space_.tables(view.side);
  const NodeRecord& node = t.nodes[index];
  const auto over = FactOf(view, node.a);
  if (over && space_.fact(*over).collection == schema::Collection::List) {
    std::set<schema::Slot> slots;
    SlotsReadBy(t, index, slots);
    if (slots.size() > 1) return Open(view, index, "elements of a list are compared with facts");
    return Unary(view, index, *over, nullptr);
  }
  // Each element that may be there: whether it is, and what its condition says.
  Bool present = Bool::True;
  std::vector<Bool> some_holds;
  std::vector<Bool> none_holds;  // each part: the element is away, or its condition fails
  std::vector<Bool> some_fails;
  std::vector<Bool> all_hold;
  const auto add = [&](Bool is_there, const module::Value& value) {
    const Truth truth = Of(view, node.b, &value);
    some_holds.push_back(s_.And(is_there, truth.holds));
    none_holds.push_back(s_.Or(s_.Not(is_there), truth.fails));
    some_fails.push_back(s_.And(is_there, truth.fails));
    all_hold.push_back(s_.Or(s_.Not(is_there), truth.holds));
  };
  if (over) {
    const Several several = SeveralOf(view, *over);
    present = several.present;
    for (std::size_t i = 0; i < several.has.size(); ++i) {
      if (several.has[i] != Bool::False) add(several.has[i], CellsOf(*over).values()[i]);
    }
  } else {
    const module::TermRecord& term = t.terms[node.a];
    if (term.value == module::ValueClass::IntegerItems) {
      for (const auto number : t.integers.subspan(term.a, term.b)) {
        add(Bool::True, module::Value::OfInteger(number));
      }
    } else {
      for (const auto text : t.text_items.subspan(term.a, term.b)) {
        add(Bool::True, module::Value::OfText(t.TextOf(text)));
      }
    }
  }
  const Truth any{s_.Or(some_holds), s_.And(present, s_.And(none_holds))};
  if (node.op == NodeOp::AnyOf) return any;
  if (node.op == NodeOp::NoneOf) return {any.fails, any.holds};
  return {s_.And(present, s_.And(all_hold)), s_.Or(some_fails)};
}

}  // namespace curfew::prove
