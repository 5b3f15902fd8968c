#include "compiler/interpret/evaluate.h"

#include "compiler/base/check.h"
#include "compiler/base/limits.h"
#include "compiler/interpret/candidates.h"
#include "compiler/values/path.h"
#include "compiler/values/query.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

namespace curfew::interpret {
namespace {

using module::NodeOp;
using module::NodeRecord;
using module::NoIndex;
using module::Tables;
using module::TermKind;
using module::TermRecord;
using module::Value;
using module::ValueClass;
using schema::Slot;

// Sums of 63-bit values are exact in it.
__extension__ using Wide = __int128;

// One operand. Without `known`, `slot` is the fact that is missing.
struct Integer {
  Wide value = 0;
  bool known = true;
  Slot slot = 0;
};
struct Text {
  std::string_view value;
  bool known = true;
  Slot slot = 0;
};

// The elements of a set or list, of the request or of the module; one of the spans is filled.
struct Items {
  std::span<const Value> values;           // of the request
  std::span<const std::uint32_t> texts;    // of the module
  std::span<const std::int64_t> integers;  // of the module
  bool sorted = false;
  bool known = true;
  Slot slot = 0;

  [[nodiscard]] std::size_t size() const { return values.size() + texts.size() + integers.size(); }
};

bool HoldsFor(NodeOp op, int order) {
  if (op == NodeOp::Equal) return order == 0;
  if (op == NodeOp::NotEqual) return order != 0;
  if (op == NodeOp::Less) return order < 0;
  if (op == NodeOp::LessEqual) return order <= 0;
  if (op == NodeOp::Greater) return order > 0;
  CURFEW_CHECK(op == NodeOp::GreaterEqual, "only comparisons come here");
  return order >= 0;
}

template <typename T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

// Byte by byte, without a sign.
int Order(std::string_view a, std::string_view b) { return a.compare(b); }

// Whether the first `prefix` bits of two addresses agree.
bool Agree(const std::uint8_t* a, const std::uint8_t* b, std::uint32_t prefix) {
  const std::uint32_t whole = prefix / 8;
  if (std::memcmp(a, b, whole) != 0) return false;
  const std::uint32_t bits = prefix % 8;
  if (bits == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - bits));
  return ((a[whole] ^ b[whole]) & mask) == 0;
}

constexpr std::size_t kAddressBytes = 16;
constexpr std::size_t kCidrBytes = 17;  // and the prefix length

class Evaluation {
 public:
  Evaluation(const Tables& tables, const module::Facts& facts) : t_(tables), r_(facts) {}

  Truth Node(std::uint32_t index, const Value* element) const;

 private:
  // Null where the fact cannot be read: it is unknown, or absent.
  const Value* Fact(Slot slot) const {
    return r_.is_known(slot) && r_.is_present(slot) ? &r_.values[slot] : nullptr;
  }
  Integer IntegerOf(const TermRecord& term, const Value* element) const;
  Text TextOf(const TermRecord& term, const Value* element) const;
  Items ItemsOf(const TermRecord& term) const;
  Integer Sum(const TermRecord& term, const Value* element) const;

  // Element i as the class of the items says; a Value views what is the module's.
  Value At(const Items& items, std::size_t i) const {
    if (!items.texts.empty()) return Value::OfText(t_.TextOf(items.texts[i]));
    if (!items.integers.empty()) return Value::OfInteger(items.integers[i]);
    return items.values[i];
  }
  bool Holds(const Items& items, std::string_view text) const;
  bool Holds(const Items& items, Wide integer) const;

  Truth Junction(const NodeRecord& node, const Value* element) const;
  Truth Quantifier(const NodeRecord& node) const;
  Truth Comparison(const NodeRecord& node, const Value* element) const;
  Truth Membership(const NodeRecord& node, const Value* element) const;
  Truth Sets(const NodeRecord& node) const;
  Truth Pattern(const NodeRecord& node, const Value* element) const;
  Truth Address(const NodeRecord& node, const Value* element) const;

  const Tables& t_;
  const module::Facts& r_;
};

// ---- Operands -----------------------------------------------------------------------------------

Integer Evaluation::IntegerOf(const TermRecord& term, const Value* element) const {
  switch (term.kind) {
    case TermKind::Slot: {
      const Value* fact = Fact(term.slot);
      return fact != nullptr ? Integer{fact->integer} : Integer{0, false, term.slot};
    }
    case TermKind::Element:
      CURFEW_CHECK(element != nullptr, "the verifier lets an element stand in a quantifier alone");
      return {element->integer};
    case TermKind::Count: {
      const Items items = ItemsOf(t_.terms[term.a]);
      return {static_cast<Wide>(items.size()), items.known, items.slot};
    }
    case TermKind::Sum:
      return Sum(term, element);
    case TermKind::Integer:
      return {t_.integers[term.a]};
    case TermKind::Text:
    case TermKind::TextSet:
    case TermKind::TextList:
    case TermKind::IntegerSet:
    case TermKind::IntegerList:
      break;
  }
  CURFEW_UNREACHABLE("the verifier lets integers alone stand here");
}

Integer Evaluation::Sum(const TermRecord& term, const Value* element) const {
  Integer sum;
  for (const module::AddendRecord& addend : t_.addends.subspan(term.a, term.b)) {
    const Integer part = IntegerOf(t_.terms[addend.term], element);
    if (!part.known) return part;
    sum.value += addend.sign < 0 ? -part.value : part.value;
  }
  return sum;
}

Text Evaluation::TextOf(const TermRecord& term, const Value* element) const {
  switch (term.kind) {
    case TermKind::Slot: {
      const Value* fact = Fact(term.slot);
      // Longer than any decoder lets in: nobody has judged it, so nobody can say.
      if (fact == nullptr || fact->size > limits::RequestStringBytesMax) {
        return {{}, false, term.slot};
      }
      return {fact->text()};
    }
    case TermKind::Element:
      CURFEW_CHECK(element != nullptr, "the verifier lets an element stand in a quantifier alone");
      return {element->text()};
    case TermKind::Text:
      return {t_.TextOf(term.a)};
    case TermKind::Integer:
    case TermKind::TextSet:
    case TermKind::TextList:
    case TermKind::IntegerSet:
    case TermKind::IntegerList:
    case TermKind::Count:
    case TermKind::Sum:
      break;
  }
  CURFEW_UNREACHABLE("the verifier lets texts alone stand here");
}

Items Evaluation::ItemsOf(const TermRecord& term) const {
  Items items;
  switch (term.kind) {
    case TermKind::Slot: {
      const Value* fact = Fact(term.slot);
      items.slot = term.slot;
      items.known = fact != nullptr && fact->size <= limits::SetElementsMax;
      if (items.known) items.values = fact->elements();
      return items;
    }
    case TermKind::TextSet:
    case TermKind::TextList:
      items.texts = t_.text_items.subspan(term.a, term.b);
      items.sorted = term.kind == TermKind::TextSet;
      return items;
    case TermKind::IntegerSet:
    case TermKind::IntegerList:
      items.integers = t_.integers.subspan(term.a, term.b);
      items.sorted = term.kind == TermKind::IntegerSet;
      return items;
    case TermKind::Element:
    case TermKind::Integer:
    case TermKind::Text:
    case TermKind::Count:
    case TermKind::Sum:
      break;
  }
  CURFEW_UNREACHABLE("the verifier lets items alone stand here");
}

bool Evaluation::Holds(const Items& items, std::string_view text) const {
  if (items.sorted) {
    const auto at = [&](std::uint32_t index) { return t_.TextOf(index); };
    return std::ranges::binary_search(items.texts, text, std::less{}, at);
  }
  for (const std::uint32_t index : items.texts) {
    if (t_.TextOf(index) == text) return true;
  }
  return std::ranges::any_of(items.values, [&](const Value& v) { return v.text() == text; });
}

bool Evaluation::Holds(const Items& items, Wide integer) const {
  const auto is_it = [&](std::int64_t value) { return value == integer; };
  if (items.sorted) return std::ranges::binary_search(items.integers, integer);
  return std::ranges::any_of(items.integers, is_it) ||
         std::ranges::any_of(items.values, [&](const Value& v) { return is_it(v.integer); });
}

// ---- Nodes --------------------------------------------------------------------------------------

Truth Evaluation::Junction(const NodeRecord& node, const Value* element) const {
  const bool is_and = node.op == NodeOp::And;
  Truth all = Known(is_and);
  for (const std::uint32_t child : t_.children.subspan(node.a, node.b)) {
    const Truth truth = Node(child, element);
    if (is_and ? truth.is_false() : truth.is_true()) return truth;
    if (truth.is_unknown() && !all.is_unknown()) all = truth;
  }
  return all;
}

Truth Not(Truth truth) { return truth.is_unknown() ? truth : Known(truth.is_false()); }

// An `any` is the or of its elements, an `all` their and, a `none` the not of the or.
Truth Evaluation::Quantifier(const NodeRecord& node) const {
  const Items items = ItemsOf(t_.terms[node.a]);
  if (!items.known) return Missing(items.slot);
  const bool is_all = node.op == NodeOp::AllOf;
  Truth result = Known(is_all);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Value element = At(items, i);
    const Truth truth = Node(node.b, &element);
    if (is_all ? truth.is_false() : truth.is_true()) {
      result = truth;
      break;
    }
    if (truth.is_unknown() && !result.is_unknown()) result = truth;
  }
  return node.op == NodeOp::NoneOf ? Not(result) : result;
}

Truth Evaluation::Comparison(const NodeRecord& node, const Value* element) const {
  const TermRecord& left = t_.terms[node.a];
  const TermRecord& right = t_.terms[node.b];
  if (left.value == ValueClass::Integer) {
    const Integer a = IntegerOf(left, element);
    const Integer b = IntegerOf(right, element);
    if (!a.known || !b.known) return Missing(a.known ? b.slot : a.slot);
    return Known(HoldsFor(node.op, Order(a.value, b.value)));
  }
  const Text a = TextOf(left, element);
  const Text b = TextOf(right, element);
  if (!a.known || !b.known) return Missing(a.known ? b.slot : a.slot);
  return Known(HoldsFor(node.op, Order(a.value, b.value)));
}

Truth Evaluation::Membership(const NodeRecord& node, const Value* element) const {
  const Items items = ItemsOf(t_.terms[node.b]);
  const TermRecord& term = t_.terms[node.a];
  if (term.value == ValueClass::Integer) {
    const Integer integer = IntegerOf(term, element);
    if (!integer.known || !items.known) return Missing(items.known ? integer.slot : items.slot);
    return Known(Holds(items, integer.value));
  }
  const Text text = TextOf(term, element);
  if (!text.known || !items.known) return Missing(items.known ? text.slot : items.slot);
  return Known(Holds(items, text.value));
}

Truth Evaluation::Sets(const NodeRecord& node) const {
  const Items a = ItemsOf(t_.terms[node.a]);
  const Items b = ItemsOf(t_.terms[node.b]);
  if (!a.known || !b.known) return Missing(a.known ? b.slot : a.slot);
  const bool of_text = t_.terms[node.a].value == ValueClass::TextItems;
  if (node.op == NodeOp::SameItems || node.op == NodeOp::Starts) {
    if (a.size() < b.size() || (node.op == NodeOp::SameItems && a.size() != b.size())) {
      return Known(false);
    }
    for (std::size_t i = 0; i < b.size(); ++i) {
      const Value left = At(a, i);
      const Value right = At(b, i);
      if (of_text ? left.text() != right.text() : left.integer != right.integer) {
        return Known(false);
      }
    }
    return Known(true);
  }
  // What is looked for: one element that is there, or one that is not.
  const bool looked_for = node.op == NodeOp::Intersects;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Value value = At(a, i);
    const bool is_there = of_text ? Holds(b, value.text()) : Holds(b, Wide{value.integer});
    if (is_there == looked_for) return Known(looked_for);
  }
  return Known(!looked_for);
}

bool Meets(NodeOp op, std::string_view pattern, std::uint32_t mode, std::string_view text) {
  if (op == NodeOp::PathIn) {
    return values::MatchesPathGlob(pattern, text, static_cast<values::Reading>(mode));
  }
  if (op == NodeOp::QueryIn) {
    return values::QueryMeets(pattern, text, static_cast<values::QueryReading>(mode));
  }
  return values::MatchesTextGlob(pattern, text);
}

Truth Evaluation::Pattern(const NodeRecord& node, const Value* element) const {
  const Text text = TextOf(t_.terms[node.a], element);
  if (!text.known) return Missing(text.slot);
  if (node.op == NodeOp::HostIn) return Known(MeetsHost(t_, {node.b, node.c}, text.value));
  for (const module::PatternRecord& pattern : t_.patterns.subspan(node.b, node.c)) {
    const std::string_view glob = t_.TextOf(pattern.text);
    if (Meets(node.op, glob, pattern.mode, text.value)) return Known(true);
  }
  return Known(false);
}

Truth Evaluation::Address(const NodeRecord& node, const Value* element) const {
  const TermRecord& term = t_.terms[node.a];
  const Text address = TextOf(term, element);
  if (!address.known) return Missing(address.slot);
  // No address has another size; what is none cannot be judged.
  if (address.value.size() != kAddressBytes) return Missing(term.slot);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(address.value.data());
  if (node.op == NodeOp::AddressIn) {
    return Known(std::ranges::any_of(t_.addresses.subspan(node.b, node.c),
                                     [&](const module::BlockOfAddresses& block) {
                                       return Agree(bytes, block.base, block.prefix);
                                     }));
  }
  const TermRecord& list = t_.terms[node.b];
  const Items items = ItemsOf(list);
  if (!items.known) return Missing(items.slot);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Value block = At(items, i);
    const auto* base = reinterpret_cast<const std::uint8_t*>(block.data);
    if (block.size != kCidrBytes || base[kAddressBytes] > 128) return Missing(list.slot);
    if (Agree(bytes, base, base[kAddressBytes])) return Known(true);
  }
  return Known(false);
}

Truth Evaluation::Node(std::uint32_t index, const Value* element) const {
  const NodeRecord& node = t_.nodes[index];
  switch (node.op) {
    case NodeOp::False:
    case NodeOp::True:
      return Known(node.op == NodeOp::True);
    case NodeOp::Not:
      return Not(Node(node.a, element));
    case NodeOp::And:
    case NodeOp::Or:
      return Junction(node, element);
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
      return Quantifier(node);
    case NodeOp::Has: {
      const auto slot = static_cast<Slot>(node.a);
      return r_.is_known(slot) ? Known(r_.is_present(slot)) : Missing(slot);
    }
    case NodeOp::Equal:
    case NodeOp::NotEqual:
    case NodeOp::Less:
    case NodeOp::LessEqual:
    case NodeOp::Greater:
    case NodeOp::GreaterEqual:
      return Comparison(node, element);
    case NodeOp::In:
      return Membership(node, element);
    case NodeOp::SubsetOf:
    case NodeOp::Intersects:
    case NodeOp::SameItems:
    case NodeOp::Starts:
      return Sets(node);
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::QueryIn:
      return Pattern(node, element);
    case NodeOp::AddressIn:
    case NodeOp::AddressInItems:
      return Address(node, element);
  }
  CURFEW_UNREACHABLE("the verifier let no other op in");
}

}  // namespace

Truth Evaluate(const Tables& tables, const module::Facts& facts, std::uint32_t condition) {
  return condition == NoIndex ? Known(true) : EvaluateNode(tables, facts, condition, nullptr);
}

Truth EvaluateNode(const Tables& tables, const module::Facts& facts, std::uint32_t node,
                   const Value* element) {
  return Evaluation(tables, facts).Node(node, element);
}

}  // namespace curfew::interpret
