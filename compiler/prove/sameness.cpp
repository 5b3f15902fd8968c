#include "compiler/prove/sameness.h"

#include "compiler/base/text.h"

#include <fmt/format.h>

namespace curfew::prove {

using module::NodeOp;
using module::TermKind;

std::uint32_t Sameness::Of(Side side, std::uint32_t node) {
  if (node == module::NoIndex) return module::NoIndex;
  const auto known = known_[side].find(node);
  if (known != known_[side].end()) return known->second;
  const auto next = static_cast<std::uint32_t>(numbers_.size());
  const std::uint32_t number = numbers_.emplace(TextOf(side, node), next).first->second;
  known_[side].emplace(node, number);
  return number;
}

std::string Sameness::SlotText(Side side, schema::Slot slot) {
  const auto fact = space_.FactAt(side, slot);
  if (!fact) return fmt::format("slot {}", slot);
  if (unlike_.contains(*fact)) return fmt::format("fact {} of {}", *fact, side);
  return fmt::format("fact {}", *fact);
}

std::string Sameness::TermText(Side side, std::uint32_t index) {
  const module::Tables& t = space_.tables(side);
  const module::TermRecord& term = t.terms[index];
  std::string text =
      fmt::format("({} {} ", static_cast<int>(term.kind), static_cast<int>(term.value));
  switch (term.kind) {
    case TermKind::Slot:
      text += SlotText(side, term.slot);
      break;
    case TermKind::Element:
      break;
    case TermKind::Integer:
      text += std::to_string(t.integers[term.a]);
      break;
    case TermKind::Text:
      text += fmt::format("{}:{}", t.TextOf(term.a).size(), t.TextOf(term.a));
      break;
    case TermKind::TextSet:
    case TermKind::TextList:
      for (const std::uint32_t item : t.text_items.subspan(term.a, term.b)) {
        text += fmt::format("{}:{} ", t.TextOf(item).size(), t.TextOf(item));
      }
      break;
    case TermKind::IntegerSet:
    case TermKind::IntegerList:
      for (const std::int64_t integer : t.integers.subspan(term.a, term.b)) {
        text += std::to_string(integer) + " ";
      }
      break;
    case TermKind::Count:
      text += TermText(side, term.a);
      break;
    case TermKind::Sum:
      for (const module::AddendRecord& addend : t.addends.subspan(term.a, term.b)) {
        text += std::to_string(addend.sign) + TermText(side, addend.term);
      }
      break;
  }
  return text + ")";
}

std::string Sameness::TextOf(Side side, std::uint32_t index) {
  const module::Tables& t = space_.tables(side);
  const module::NodeRecord& node = t.nodes[index];
  std::string text = fmt::format("{} ", static_cast<int>(node.op));
  switch (node.op) {
    case NodeOp::False:
    case NodeOp::True:
      break;
    case NodeOp::Not:
      text += std::to_string(Of(side, node.a));
      break;
    case NodeOp::And:
    case NodeOp::Or:
      for (const std::uint32_t child : t.children.subspan(node.a, node.b)) {
        text += std::to_string(Of(side, child)) + " ";
      }
      break;
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
      text += TermText(side, node.a) + std::to_string(Of(side, node.b));
      break;
    case NodeOp::Has:
      text += SlotText(side, static_cast<schema::Slot>(node.a));
      break;
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::QueryIn:
      text += TermText(side, node.a);
      for (const module::PatternRecord& pattern : t.patterns.subspan(node.b, node.c)) {
        const std::string_view glob = t.TextOf(pattern.text);
        text += fmt::format("{} {}:{} ", pattern.mode, glob.size(), glob);
      }
      break;
    case NodeOp::AddressIn:
      text += TermText(side, node.a);
      for (const module::BlockOfAddresses& block : t.addresses.subspan(node.b, node.c)) {
        text += fmt::format("{}/{} ", Hex(block.base), block.prefix);
      }
      break;
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
      text += TermText(side, node.a) + TermText(side, node.b);
      break;
  }
  return text;
}

}  // namespace curfew::prove
