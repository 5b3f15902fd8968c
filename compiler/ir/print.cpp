#include "compiler/ir/print.h"

#include "compiler/base/check.h"
#include "compiler/values/address.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::ir {
namespace {

using module::Tables;
using module::TermKind;

std::string_view WordOf(NodeOp op) {
  constexpr std::string_view kWords[] = {
      "false",     "true",      "not",        "and",        "or",
      "any",       "all",       "none",       "has",        "equal",
      "not_equal", "less",      "at_most",    "greater",    "at_least",
      "in",        "subset_of", "intersects", "same",       "starts",
      "host_in",   "path_in",   "text_in",    "address_in", "address_in_items",
      "query_in"};
  static_assert(std::size(kWords) == module::NodeOpCount);
  return kWords[static_cast<std::size_t>(op)];
}

std::string_view WordOf(const module::RuleRecord& rule) {
  if (rule.never != 0) return "never";
  return rule.effect == module::Effect::Allow ? "allow" : "deny";
}

// Bytes as text where they are printable, otherwise in hexadecimal.
std::string Quoted(std::string_view text) {
  const bool plain = std::ranges::all_of(
      text, [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
  return plain ? fmt::format("\"{}\"", text) : fmt::format("x\"{}\"", Hex(AsBytes(text)));
}

class Printer {
 public:
  Printer(const Tables& tables, std::span<const module::DeclaredAttribute> declared)
      : t_(tables), declared_(declared) {}

  std::string Condition(std::uint32_t node, schema::Action action) const {
    return node == NoIndex ? "always" : Node(node, action);
  }
  std::string Node(std::uint32_t index, schema::Action action) const;
  std::string Term(std::uint32_t index, schema::Action action) const;
  std::string Entry(const module::EntryRecord& entry, schema::Action action) const {
    std::string line = fmt::format("{} {}", t_.NameOf(t_.rules[entry.rule].id),
                                   Condition(entry.condition, action));
    if (entry.within != NoIndex) line += fmt::format(" within {}", Node(entry.within, action));
    return line;
  }
  std::string Block(std::string_view of, std::size_t place, schema::Action action) const;

 private:
  std::string Slot(schema::Slot slot, schema::Action action) const {
    const auto attributes = schema::AttributesOf(action);
    if (slot < attributes.size()) return std::string(attributes[slot].path);
    const std::size_t n = slot - attributes.size();
    return n < declared_.size() ? declared_[n].path : fmt::format("slot {}", slot);
  }
  template <typename Each>
  static std::string Joined(std::uint32_t first, std::uint32_t count, Each each) {
    std::string joined;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i > 0) joined += ", ";
      joined += each(first + i);
    }
    return joined;
  }

  const Tables& t_;
  std::span<const module::DeclaredAttribute> declared_;
};

std::string Printer::Term(std::uint32_t index, schema::Action action) const {
  const module::TermRecord& term = t_.terms[index];
  const auto text = [&](std::uint32_t i) { return Quoted(t_.TextOf(t_.text_items[i])); };
  const auto integer = [&](std::uint32_t i) { return std::to_string(t_.integers[i]); };
  switch (term.kind) {
    case TermKind::Slot:
      return Slot(term.slot, action);
    case TermKind::Element:
      return "element";
    case TermKind::Integer:
      return integer(term.a);
    case TermKind::Text:
      return Quoted(t_.TextOf(term.a));
    case TermKind::TextSet:
      return fmt::format("{{{}}}", Joined(term.a, term.b, text));
    case TermKind::TextList:
      return fmt::format("[{}]", Joined(term.a, term.b, text));
    case TermKind::IntegerSet:
      return fmt::format("{{{}}}", Joined(term.a, term.b, integer));
    case TermKind::IntegerList:
      return fmt::format("[{}]", Joined(term.a, term.b, integer));
    case TermKind::Count:
      return fmt::format("count({})", Term(term.a, action));
    case TermKind::Sum:
      return fmt::format("sum({})", Joined(term.a, term.b, [&](std::uint32_t i) {
                           const module::AddendRecord& addend = t_.addends[i];
                           return (addend.sign < 0 ? "-" : "+") + Term(addend.term, action);
                         }));
  }
  CURFEW_UNREACHABLE("every kind has its form");
}

std::string Printer::Node(std::uint32_t index, schema::Action action) const {
  const module::NodeRecord& node = t_.nodes[index];
  const auto word = WordOf(node.op);
  const auto pattern = [&](std::uint32_t i) {
    const module::PatternRecord& record = t_.patterns[i];
    return fmt::format("{}:{}", record.mode, Quoted(t_.TextOf(record.text)));
  };
  const auto block = [&](std::uint32_t i) {
    values::Cidr cidr;
    std::ranges::copy(t_.addresses[i].base, cidr.base.bytes.begin());
    cidr.prefix = static_cast<std::uint8_t>(t_.addresses[i].prefix);
    return values::ToString(cidr);
  };
  switch (node.op) {
    case NodeOp::False:
    case NodeOp::True:
      return std::string(word);
    case NodeOp::Not:
      return fmt::format("not({})", Node(node.a, action));
    case NodeOp::And:
    case NodeOp::Or:
      return fmt::format("{}({})", word, Joined(node.a, node.b, [&](std::uint32_t i) {
                           return Node(t_.children[i], action);
                         }));
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
      return fmt::format("{}({}, {})", word, Term(node.a, action), Node(node.b, action));
    case NodeOp::Has:
      return fmt::format("has({})", Slot(static_cast<schema::Slot>(node.a), action));
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
      return fmt::format("{}({}, {})", word, Term(node.a, action), Term(node.b, action));
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::QueryIn:
      return fmt::format("{}({}, [{}])", word, Term(node.a, action),
                         Joined(node.b, node.c, pattern));
    case NodeOp::AddressIn:
      return fmt::format("{}({}, [{}])", word, Term(node.a, action), Joined(node.b, node.c, block));
  }
  CURFEW_UNREACHABLE("every op has its form");
}

std::string Printer::Block(std::string_view of, std::size_t place, schema::Action action) const {
  const module::BlockRecord& block = t_.blocks[place];
  std::string text;
  const auto lines = [&](std::string_view word, Range range) {
    for (const auto& entry : t_.entries.subspan(range.first, range.count)) {
      text += fmt::format("  {} {}\n", word, Entry(entry, action));
    }
  };
  lines("check", block.checks);
  for (const auto& record : t_.defaults.subspan(block.defaults.first, block.defaults.count)) {
    const std::string value =
        record.kind == module::DefaultRecord::Kind::Integer ? std::to_string(record.integer)
        : record.kind == module::DefaultRecord::Kind::Text  ? Quoted(t_.TextOf(record.text))
                                                            : "{}";
    text += fmt::format("  default {} = {}", Slot(record.slot, action), value);
    if (record.when_slot != module::NoIndex) {
      text +=
          fmt::format(" where {} = {}", Slot(static_cast<schema::Slot>(record.when_slot), action),
                      record.when_value);
    }
    text += '\n';
  }
  lines("deny", block.denials);
  for (const auto& group : t_.groups.subspan(block.groups.first, block.groups.count)) {
    text += fmt::format("  group else {} beyond {}\n", t_.NameOf(t_.rules[group.default_denial].id),
                        t_.NameOf(t_.rules[group.beyond_denial].id));
    lines("  allow", group.entries);
  }
  lines("trial", block.trials);
  if (text.empty()) return {};
  return fmt::format("{} {}\n{}", of, schema::WordOf(action), text);
}

}  // namespace

std::string Print(const Tables& tables, NodeId node, schema::Action action) {
  return Printer(tables, {}).Node(node, action);
}

std::string Print(const DecisionIr& ir) {
  const Tables tables = View(ir);
  const Printer printer(tables, ir.declared);
  std::string text = fmt::format("policy {} language {}\n", ToString(ir.policy), ir.language);
  for (const module::RuleRecord& rule : tables.rules) {
    text += fmt::format("rule {} {} \"{}\"\n", WordOf(rule), tables.NameOf(rule.id),
                        tables.NameOf(rule.message));
  }
  for (const module::ClassRecord& record : tables.classes) {
    text += fmt::format("class {}{} when {}\n", tables.NameOf(record.name),
                        record.by_name != 0 ? " by name" : "",
                        printer.Condition(record.when, schema::Action::Create));
  }
  const std::size_t classes = tables.classes.size();
  for (std::size_t i = 0; i < tables.blocks.size(); ++i) {
    const std::size_t place = i / schema::ActionCount;
    const std::string_view of = place < classes    ? tables.NameOf(tables.classes[place].name)
                                : place == classes ? "set"
                                                   : "gone";
    text += printer.Block(of, i, static_cast<schema::Action>(i % schema::ActionCount));
  }
  return text;
}

}  // namespace curfew::ir
