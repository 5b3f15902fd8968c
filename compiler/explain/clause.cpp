#include "compiler/explain/clause.h"

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/values/address.h"
#include "compiler/values/host.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace curfew::explain {
namespace {

using interpret::Truth;
using interpret::TruthValue;
using module::NodeOp;
using module::NodeRecord;
using module::Tables;
using module::TermKind;
using module::TermRecord;
using module::Value;

constexpr std::uint32_t ListedMax = 6;

Truth Opposite(Truth truth) {
  if (truth.is_unknown()) return truth;
  return interpret::Known(truth.is_false());
}

bool IsQuantifier(NodeOp op) {
  return op == NodeOp::AnyOf || op == NodeOp::AllOf || op == NodeOp::NoneOf;
}

// Of a node with two operands; nothing of another.
std::string_view SignOf(NodeOp op) {
  switch (op) {
    case NodeOp::Equal:
    case NodeOp::SameItems:
      return "==";
    case NodeOp::NotEqual:
      return "!=";
    case NodeOp::Less:
      return "<";
    case NodeOp::LessEqual:
      return "<=";
    case NodeOp::Greater:
      return ">";
    case NodeOp::GreaterEqual:
      return ">=";
    case NodeOp::SubsetOf:
      return "subset of";
    case NodeOp::Intersects:
      return "intersects";
    case NodeOp::Starts:
      return "starts";
    case NodeOp::In:
    case NodeOp::AddressInItems:
      return "in";
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
      return {};
  }
  CURFEW_UNREACHABLE("the switch names every operator");
}

// How many operand terms a node has, in a and then b.
std::uint32_t TermsOf(NodeOp op) {
  switch (op) {
    case NodeOp::False:
    case NodeOp::True:
    case NodeOp::Not:
    case NodeOp::And:
    case NodeOp::Or:
    case NodeOp::Has:
      return 0;
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::QueryIn:
    case NodeOp::AddressIn:
      return 1;
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
    case NodeOp::AddressInItems:
      return 2;
  }
  CURFEW_UNREACHABLE("the switch names every operator");
}

class Words {
 public:
  Words(const module::PolicyModule& policy, schema::Action action)
      : t_(policy.tables()), vocabulary_(policy, action) {}

  [[nodiscard]] std::string Node(std::uint32_t index, schema::Slot element_of) const;
  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  // The fact whose type says how the constants beside it are spelt.
  [[nodiscard]] std::optional<schema::Slot> FactOf(std::uint32_t term) const {
    const TermRecord& record = t_.terms[term];
    if (record.kind == TermKind::Slot) return record.slot;
    if (record.kind != TermKind::Sum) return std::nullopt;
    for (std::uint32_t i = record.a; i < record.a + record.b; ++i) {
      if (const auto slot = FactOf(t_.addends[i].term)) return slot;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::string Term(std::uint32_t term, const FactType& like) const;
  template <typename Each>
  static std::string Joined(std::uint32_t first, std::uint32_t count, const Each& each) {
    std::string text;
    for (std::uint32_t i = 0; i < std::min(count, ListedMax); ++i) {
      text.append(text.empty() ? "" : ", ").append(each(first + i));
    }
    if (count > ListedMax) text += fmt::format(" and {} more", count - ListedMax);
    return text;
  }

  const Tables& t_;
  Vocabulary vocabulary_;
};

std::string Words::Term(std::uint32_t term, const FactType& like) const {
  const TermRecord& record = t_.terms[term];
  const auto text = [&](std::uint32_t text_index) {
    return vocabulary_.TextOf(Value::OfText(t_.TextOf(text_index)), like);
  };
  const auto integer = [&](std::uint32_t i) {
    return vocabulary_.TextOf(Value::OfInteger(t_.integers[i]), like);
  };
  const auto item = [&](std::uint32_t i) { return text(t_.text_items[i]); };
  switch (record.kind) {
    case TermKind::Slot:
      return vocabulary_.PathOf(record.slot);
    case TermKind::Element:
      return "the element";
    case TermKind::Integer:
      return integer(record.a);
    case TermKind::Text:
      return text(record.a);
    case TermKind::TextSet:
    case TermKind::TextList:
      return "[" + Joined(record.a, record.b, item) + "]";
    case TermKind::IntegerSet:
    case TermKind::IntegerList:
      return "[" + Joined(record.a, record.b, integer) + "]";
    case TermKind::Count:
      return "count(" + Term(record.a, like) + ")";
    case TermKind::Sum: {
      std::string sum;
      for (std::uint32_t i = record.a; i < record.a + record.b; ++i) {
        const module::AddendRecord& addend = t_.addends[i];
        const std::string_view sign = addend.sign < 0 ? " - " : " + ";
        sum.append(sum.empty() && addend.sign > 0 ? "" : sign).append(Term(addend.term, like));
      }
      return sum;
    }
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::string Words::Node(std::uint32_t index, schema::Slot element_of) const {
  const NodeRecord& node = t_.nodes[index];
  const std::uint32_t terms = TermsOf(node.op);
  std::optional<schema::Slot> fact;
  if (terms > 0) fact = FactOf(node.a);
  if (!fact && terms > 1) fact = FactOf(node.b);
  // A count is a number, whatever is counted.
  const FactType like = fact ? vocabulary_.TypeOf(*fact) : vocabulary_.TypeOf(element_of);
  const bool counts = terms > 1 && (t_.terms[node.a].kind == TermKind::Count ||
                                    t_.terms[node.b].kind == TermKind::Count);
  const FactType number{.kind = schema::TypeKind::Int, .enum_values = {}};
  const FactType& spelling = counts ? number : like;
  switch (node.op) {
    case NodeOp::False:
      return "never";
    case NodeOp::True:
      return "always";
    case NodeOp::Not:
      return "not (" + Node(node.a, element_of) + ")";
    case NodeOp::And:
    case NodeOp::Or: {
      const std::string_view word = node.op == NodeOp::And ? " and " : " or ";
      std::string text;
      for (std::uint32_t i = 0; i < std::min(node.b, ListedMax); ++i) {
        text.append(text.empty() ? std::string_view() : word);
        text.append(Node(t_.children[node.a + i], element_of));
      }
      return "(" + text + (node.b > ListedMax ? " …)" : ")");
    }
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf: {
      const std::string_view word = node.op == NodeOp::AnyOf   ? "any"
                                    : node.op == NodeOp::AllOf ? "all"
                                                               : "none";
      return fmt::format("{} of {} where {}", word, Term(node.a, like),
                         Node(node.b, fact.value_or(element_of)));
    }
    case NodeOp::Has:
      return "has " + vocabulary_.PathOf(static_cast<schema::Slot>(node.a));
    case NodeOp::HostIn:
      return fmt::format(
          "{} meets {}", Term(node.a, like), Joined(node.b, node.c, [&](std::uint32_t i) {
            const auto& [text, mode] = t_.patterns[i];
            return "\"" +
                   values::ToString(values::HostPattern{static_cast<values::HostReach>(mode),
                                                        std::string(t_.TextOf(text))}) +
                   "\"";
          }));
    case NodeOp::PathIn:
    case NodeOp::TextIn:
      return fmt::format("{} meets {}", Term(node.a, like),
                         Joined(node.b, node.c, [&](std::uint32_t i) {
                           return "\"" + Printable(t_.TextOf(t_.patterns[i].text)) + "\"";
                         }));
    case NodeOp::QueryIn:
      return fmt::format("{} has {}", Term(node.a, like),
                         Joined(node.b, node.c, [&](std::uint32_t i) {
                           return "\"" + Printable(t_.TextOf(t_.patterns[i].text)) + "\"";
                         }));
    case NodeOp::AddressIn:
      return fmt::format(
          "{} in {}", Term(node.a, like), Joined(node.b, node.c, [&](std::uint32_t i) {
            values::Cidr block;
            std::memcpy(block.base.bytes.data(), t_.addresses[i].base, block.base.bytes.size());
            block.prefix = static_cast<std::uint8_t>(t_.addresses[i].prefix);
            return "\"" + values::ToString(block) + "\"";
          }));
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
    case NodeOp::AddressInItems:
      return fmt::format("{} {} {}", Term(node.a, spelling), SignOf(node.op),
                         Term(node.b, spelling));
  }
  CURFEW_UNREACHABLE("the switch names every operator");
}

void AddSlotsOfTerm(const Tables& tables, std::uint32_t term, std::vector<schema::Slot>& slots) {
  const TermRecord& record = tables.terms[term];
  if (record.kind == TermKind::Count) return AddSlotsOfTerm(tables, record.a, slots);
  if (record.kind == TermKind::Sum) {
    for (std::uint32_t i = record.a; i < record.a + record.b; ++i) {
      AddSlotsOfTerm(tables, tables.addends[i].term, slots);
    }
  }
  if (record.kind != TermKind::Slot) return;
  if (std::find(slots.begin(), slots.end(), record.slot) == slots.end()) {
    slots.push_back(record.slot);
  }
}

void AddSlots(const Tables& tables, std::uint32_t index, std::vector<schema::Slot>& slots) {
  const NodeRecord& node = tables.nodes[index];
  if (node.op == NodeOp::Has) {
    const auto slot = static_cast<schema::Slot>(node.a);
    if (std::find(slots.begin(), slots.end(), slot) == slots.end()) slots.push_back(slot);
  }
  if (node.op == NodeOp::Not) AddSlots(tables, node.a, slots);
  if (node.op == NodeOp::And || node.op == NodeOp::Or) {
    for (std::uint32_t i = 0; i < node.b; ++i) {
      AddSlots(tables, tables.children[node.a + i], slots);
    }
  }
  const std::uint32_t terms = TermsOf(node.op);
  if (terms > 0) AddSlotsOfTerm(tables, node.a, slots);
  if (terms > 1) AddSlotsOfTerm(tables, node.b, slots);
  if (IsQuantifier(node.op)) AddSlots(tables, node.b, slots);
}

class Finder {
 public:
  Finder(const module::PolicyModule& policy, const module::Request& request)
      : t_(policy.tables()), request_(request), words_(policy, request.action()) {}

  void Find(std::uint32_t index, bool negated) {
    if (found_.size() >= ClausesMax) return;
    const NodeRecord& node = t_.nodes[index];
    if (node.op == NodeOp::Not) return Find(node.a, !negated);
    if (node.op != NodeOp::And && node.op != NodeOp::Or) return Add(index, negated);
    const Truth whole = Of(index);
    // One part was enough to fail a conjunction, or to hold an alternative; otherwise all counted.
    const bool some = whole.is_unknown() || whole.is_false() == (node.op == NodeOp::And);
    for (std::uint32_t i = 0; i < node.b; ++i) {
      const std::uint32_t child = t_.children[node.a + i];
      if (!some || Of(child).value == whole.value) Find(child, negated);
    }
  }
  std::vector<Clause> Take() && { return std::move(found_); }

 private:
  [[nodiscard]] Truth Of(std::uint32_t index) const {
    return interpret::EvaluateNode(t_, request_.facts(), index, nullptr);
  }
  void Add(std::uint32_t index, bool negated) {
    Clause clause;
    clause.node = index;
    clause.negated = negated;
    clause.truth = negated ? Opposite(Of(index)) : Of(index);
    clause.text = (negated ? "not " : "") + words_.Node(index, 0);
    for (const schema::Slot slot : SlotsRead(t_, index)) {
      clause.seen.push_back(words_.vocabulary().SeenIn(request_, slot));
    }
    found_.push_back(std::move(clause));
  }

  const Tables& t_;
  const module::Request& request_;
  Words words_;
  std::vector<Clause> found_;
};

void AddLeaves(const Tables& tables, const Words& words, std::uint32_t index,
               std::vector<Clause>& clauses) {
  const NodeRecord& node = tables.nodes[index];
  if (node.op == NodeOp::Not) return AddLeaves(tables, words, node.a, clauses);
  if (node.op == NodeOp::True || node.op == NodeOp::False) return;
  if (node.op == NodeOp::And || node.op == NodeOp::Or) {
    for (std::uint32_t i = 0; i < node.b; ++i) {
      AddLeaves(tables, words, tables.children[node.a + i], clauses);
    }
    return;
  }
  Clause clause;
  clause.node = index;
  clause.text = words.Node(index, 0);
  clauses.push_back(std::move(clause));
}

}  // namespace

std::vector<schema::Slot> SlotsRead(const Tables& tables, std::uint32_t node) {
  std::vector<schema::Slot> slots;
  AddSlots(tables, node, slots);
  return slots;
}

std::vector<Clause> DecisiveClauses(const module::PolicyModule& policy,
                                    const module::Request& request, std::uint32_t condition) {
  if (condition == module::NoIndex) return {};
  Finder finder(policy, request);
  finder.Find(condition, false);
  return std::move(finder).Take();
}

std::vector<Clause> ClausesOf(const module::PolicyModule& policy, schema::Action action,
                              std::uint32_t condition) {
  std::vector<Clause> clauses;
  if (condition == module::NoIndex) return clauses;
  AddLeaves(policy.tables(), Words(policy, action), condition, clauses);
  return clauses;
}

}  // namespace curfew::explain
