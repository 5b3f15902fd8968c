#include "compiler/ir/decision_ir.h"

#include "compiler/base/check.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace curfew::ir {

using module::NodeRecord;
using module::TermKind;
using module::TermRecord;
using module::ValueClass;

namespace {

template <typename T>
std::uint32_t SizeOf(const T& container) {
  CURFEW_CHECK(container.size() < NoIndex, "a table has fewer than 2^32 records");
  return static_cast<std::uint32_t>(container.size());
}

// The bytes of a row as a key: equal rows are one.
template <typename T>
std::string KeyOf(std::span<const T> row) {
  static_assert(std::has_unique_object_representations_v<T>);
  return std::string(reinterpret_cast<const char*>(row.data()), row.size_bytes());
}

// Appends `row` to `table` where it is not there yet.
template <typename T>
Range Intern(std::vector<T>& table, std::unordered_map<std::string, std::uint32_t>& known,
             std::span<const T> row) {
  const auto [place, is_new] = known.try_emplace(KeyOf(row), SizeOf(table));
  if (is_new) table.insert(table.end(), row.begin(), row.end());
  return {place->second, SizeOf(row)};
}

}  // namespace

module::Tables View(const DecisionIr& ir) {
  module::Tables tables;
  tables.rules = ir.rules;
  tables.classes = ir.classes;
  tables.class_links = ir.class_links;
  tables.blocks = ir.blocks;
  tables.groups = ir.groups;
  tables.entries = ir.entries;
  tables.defaults = ir.defaults;
  tables.nodes = ir.nodes;
  tables.children = ir.children;
  tables.terms = ir.terms;
  tables.addends = ir.addends;
  tables.integers = ir.integers;
  tables.texts = ir.texts;
  tables.text_items = ir.text_items;
  tables.patterns = ir.patterns;
  tables.addresses = ir.addresses;
  ir.index.PointTo(tables);
  tables.names = ir.names;
  tables.data = ir.data;
  tables.selection = ir.selection;
  return tables;
}

RuleIndex Builder::Rule(const RuleText& rule) {
  const auto [place, is_new] = rules_.try_emplace(rule, SizeOf(rule_texts_));
  if (is_new) rule_texts_.push_back(rule);
  return place->second;
}

// ---- Terms --------------------------------------------------------------------------------------

std::uint32_t Builder::Term(TermRecord record) {
  return Intern(ir_.terms, terms_, std::span<const TermRecord>(&record, 1)).first;
}

TermId Builder::SlotTerm(Slot slot, ValueClass value) {
  return Term({.kind = TermKind::Slot, .value = value, .slot = slot});
}
TermId Builder::ElementTerm(ValueClass value) {
  return Term({.kind = TermKind::Element, .value = value});
}
TermId Builder::IntegerTerm(std::int64_t value) {
  return Term({.kind = TermKind::Integer, .a = Integers(std::span(&value, 1)).first});
}
TermId Builder::TextTerm(std::string_view text) {
  return Term({.kind = TermKind::Text, .value = ValueClass::Text, .a = Text(text)});
}

TermId Builder::TextSetTerm(std::span<const std::string> texts) {
  std::vector<std::string> sorted(texts.begin(), texts.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const Range range = Items(sorted);
  return Term({.kind = TermKind::TextSet,
               .value = ValueClass::TextItems,
               .a = range.first,
               .b = range.count});
}

TermId Builder::TextListTerm(std::span<const std::string> texts) {
  const Range range = Items(texts);
  return Term({.kind = TermKind::TextList,
               .value = ValueClass::TextItems,
               .a = range.first,
               .b = range.count});
}

TermId Builder::IntegerSetTerm(std::span<const std::int64_t> integers) {
  std::vector<std::int64_t> sorted(integers.begin(), integers.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const Range range = Integers(sorted);
  return Term({.kind = TermKind::IntegerSet,
               .value = ValueClass::IntegerItems,
               .a = range.first,
               .b = range.count});
}

TermId Builder::IntegerListTerm(std::span<const std::int64_t> integers) {
  const Range range = Integers(integers);
  return Term({.kind = TermKind::IntegerList,
               .value = ValueClass::IntegerItems,
               .a = range.first,
               .b = range.count});
}

TermId Builder::CountTerm(TermId items) { return Term({.kind = TermKind::Count, .a = items}); }

TermId Builder::SumTerm(std::span<const module::AddendRecord> addends) {
  const Range range{SizeOf(ir_.addends), SizeOf(addends)};
  ir_.addends.insert(ir_.addends.end(), addends.begin(), addends.end());
  return Term({.kind = TermKind::Sum, .a = range.first, .b = range.count});
}

Range Builder::Integers(std::span<const std::int64_t> integers) {
  return Intern(ir_.integers, integer_runs_, integers);
}

Range Builder::Items(std::span<const std::string> texts) {
  std::vector<std::uint32_t> ids;
  ids.reserve(texts.size());
  for (const std::string& text : texts) ids.push_back(Text(text));
  return Intern(ir_.text_items, item_runs_, std::span<const std::uint32_t>(ids));
}

std::uint32_t Builder::Text(std::string_view text) {
  const auto [place, is_new] = text_ids_.try_emplace(std::string(text), SizeOf(texts_));
  if (is_new) texts_.emplace_back(text);
  return place->second;
}

// ---- Conditions ---------------------------------------------------------------------------------

NodeId Builder::Node(NodeRecord record) {
  return Intern(ir_.nodes, nodes_, std::span<const NodeRecord>(&record, 1)).first;
}

NodeId Builder::Constant(bool value) { return Node({.op = value ? NodeOp::True : NodeOp::False}); }

NodeId Builder::Not(NodeId node) {
  const NodeRecord inner = ir_.nodes[node];
  if (inner.op == NodeOp::Not) return inner.a;
  if (inner.op == NodeOp::True) return Constant(false);
  if (inner.op == NodeOp::False) return Constant(true);
  return Node({.op = NodeOp::Not, .a = node});
}

NodeId Builder::Junction(NodeOp op, std::span<const NodeId> nodes) {
  // True decides an Or and changes nothing in an And; False the other way round.
  const NodeOp deciding = op == NodeOp::And ? NodeOp::False : NodeOp::True;
  const NodeOp neutral = op == NodeOp::And ? NodeOp::True : NodeOp::False;
  // Looking for doubles costs the square of the parts, which are few but in a generated list.
  constexpr std::size_t kDoublesLookedForMax = 64;
  std::vector<NodeId> parts;
  const auto add = [&](NodeId part) {
    const bool is_double = parts.size() < kDoublesLookedForMax &&
                           std::find(parts.begin(), parts.end(), part) != parts.end();
    if (!is_double) parts.push_back(part);
  };
  for (const NodeId node : nodes) {
    const NodeRecord record = ir_.nodes[node];
    if (record.op == deciding) return node;
    if (record.op == neutral) continue;
    if (record.op == op) {
      for (std::uint32_t i = 0; i < record.b; ++i) add(ir_.children[record.a + i]);
    } else {
      add(node);
    }
  }
  if (parts.empty()) return Constant(op == NodeOp::And);
  if (parts.size() == 1) return parts.front();
  std::vector<std::uint32_t> key{static_cast<std::uint32_t>(op)};
  key.insert(key.end(), parts.begin(), parts.end());
  const auto [place, is_new] =
      junctions_.try_emplace(KeyOf(std::span<const std::uint32_t>(key)), SizeOf(ir_.nodes));
  if (is_new) {
    ir_.nodes.push_back({.op = op, .a = SizeOf(ir_.children), .b = SizeOf(parts)});
    ir_.children.insert(ir_.children.end(), parts.begin(), parts.end());
  }
  return place->second;
}

NodeId Builder::Quantify(NodeOp op, TermId items, NodeId condition) {
  return Node({.op = op, .a = items, .b = condition});
}
NodeId Builder::Has(Slot slot) { return Node({.op = NodeOp::Has, .a = slot}); }
NodeId Builder::Compare(NodeOp op, TermId left, TermId right) {
  return Node({.op = op, .a = left, .b = right});
}

NodeId Builder::PatternsIn(NodeOp op, TermId text, std::span<const Pattern> patterns) {
  std::vector<module::PatternRecord> records;
  records.reserve(patterns.size());
  // Which of the patterns is met says nothing, so that an order is free to help finding one.
  std::vector<Pattern> ordered(patterns.begin(), patterns.end());
  std::sort(ordered.begin(), ordered.end());
  ordered.erase(std::unique(ordered.begin(), ordered.end()), ordered.end());
  for (const Pattern& pattern : ordered) records.push_back({Text(pattern.text), pattern.mode});
  const Range range =
      Intern(ir_.patterns, pattern_runs_, std::span<const module::PatternRecord>(records));
  return Node({.op = op, .a = text, .b = range.first, .c = range.count});
}

NodeId Builder::AddressIn(TermId address, std::span<const module::BlockOfAddresses> blocks) {
  const Range range = Intern(ir_.addresses, address_runs_, blocks);
  return Node({.op = NodeOp::AddressIn, .a = address, .b = range.first, .c = range.count});
}

// ---- Blocks and classes -------------------------------------------------------------------------

Range Builder::Entries(std::span<const Entry> entries) {
  const Range range{SizeOf(ir_.entries), SizeOf(entries)};
  for (const Entry& entry : entries) {
    ir_.entries.push_back({entry.rule, entry.condition, entry.within});
  }
  return range;
}

void Builder::SetBlock(std::size_t place, const Block& block) {
  if (place >= ir_.blocks.size()) ir_.blocks.resize(place + 1);
  module::BlockRecord& record = ir_.blocks[place];
  record.checks = Entries(block.checks);
  record.defaults = {SizeOf(ir_.defaults), SizeOf(block.defaults)};
  ir_.defaults.insert(ir_.defaults.end(), block.defaults.begin(), block.defaults.end());
  record.denials = Entries(block.denials);
  record.groups = {SizeOf(ir_.groups), SizeOf(block.groups)};
  for (const Group& group : block.groups) {
    ir_.groups.push_back({Entries(group.entries), group.default_denial, group.beyond_denial});
  }
  record.trials = Entries(block.trials);
}

void Builder::AddClass(std::string_view name, RuleIndex rule, NodeId when, bool by_name,
                       std::span<const module::ClassIndex> narrowed_by) {
  const Range links{SizeOf(ir_.class_links), SizeOf(narrowed_by)};
  ir_.class_links.insert(ir_.class_links.end(), narrowed_by.begin(), narrowed_by.end());
  ir_.classes.push_back({Name(name), rule, when, links, by_name ? 1u : 0u});
}

void Builder::Written(RuleIndex rule, NodeId node) {
  const module::NodeRecord record = ir_.nodes[node];
  switch (record.op) {
    case NodeOp::True:
    case NodeOp::False:
      return;
    case NodeOp::Not:
      return Written(rule, record.a);
    case NodeOp::And:
    case NodeOp::Or:
      for (std::uint32_t i = 0; i < record.b; ++i) Written(rule, ir_.children[record.a + i]);
      return;
    default:
      ir_.written.push_back({rule, node});
  }
}

module::NameRef Builder::Name(std::string_view name) {
  const auto [place, is_new] = names_.try_emplace(std::string(name), SizeOf(ir_.names));
  if (is_new) ir_.names += name;
  return {place->second, SizeOf(name)};
}

// ---- Finish -------------------------------------------------------------------------------------

// The map has the rows in order; their places become their indexes.
void Builder::SortRules() {
  std::vector<RuleIndex> index_of(rule_texts_.size());
  for (const auto& [rule, number] : rules_) {
    index_of[number] = SizeOf(ir_.rules);
    module::RuleRecord record;
    record.id = Name(rule.id);
    record.message = Name(rule.message);
    record.file = Name(rule.file);
    record.line = rule.line;
    record.column = rule.column;
    record.effect = rule.effect;
    record.never = rule.never ? 1 : 0;
    ir_.rules.push_back(record);
  }
  for (module::EntryRecord& entry : ir_.entries) entry.rule = index_of[entry.rule];
  for (module::GroupRecord& group : ir_.groups) {
    group.default_denial = index_of[group.default_denial];
    group.beyond_denial = index_of[group.beyond_denial];
  }
  for (module::ClassRecord& record : ir_.classes) record.rule = index_of[record.rule];
  for (module::WrittenClause& clause : ir_.written) clause.rule = index_of[clause.rule];
  std::sort(ir_.written.begin(), ir_.written.end());
  ir_.written.erase(std::unique(ir_.written.begin(), ir_.written.end()), ir_.written.end());
  module::SelectionRules& selection = ir_.selection;
  for (RuleIndex* rule : {&selection.none, &selection.ambiguous, &selection.not_selected,
                          &selection.gone, &selection.invalid}) {
    *rule = index_of[*rule];
  }
}

void Builder::SortTexts() {
  std::vector<std::uint32_t> order(texts_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return texts_[a] < texts_[b]; });
  std::vector<std::uint32_t> index_of(texts_.size());
  for (const std::uint32_t number : order) {
    index_of[number] = SizeOf(ir_.texts);
    ir_.texts.push_back({SizeOf(ir_.data), SizeOf(texts_[number])});
    ir_.data += texts_[number];
  }
  for (std::uint32_t& item : ir_.text_items) item = index_of[item];
  for (module::PatternRecord& pattern : ir_.patterns) pattern.text = index_of[pattern.text];
  for (module::DefaultRecord& record : ir_.defaults) {
    if (record.kind == module::DefaultRecord::Kind::Text) record.text = index_of[record.text];
  }
  for (TermRecord& term : ir_.terms) {
    if (term.kind == TermKind::Text) term.a = index_of[term.a];
  }
}

DecisionIr Builder::Finish() && {
  ir_.blocks.resize(module::BlockCount(ir_.classes.size()));
  SortRules();
  SortTexts();
  ir_.index = module::DeriveIndex(View(ir_));
  return std::move(ir_);
}

}  // namespace curfew::ir
