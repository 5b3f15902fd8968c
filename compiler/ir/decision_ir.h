// DecisionIr: decision code while it is being built: the tables of a module (compiler/module/
// tables.h) in vectors that grow, with what a module says beside them. Equal values, terms and
// nodes are one. compiler/lower fills it; README.md says what it means.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/base/text.h"
#include "compiler/module/entry_index.h"
#include "compiler/module/plan_template.h"
#include "compiler/module/policy_module.h"
#include "compiler/module/tables.h"
#include "compiler/module/written_clause.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace curfew::ir {

using module::NodeOp;
using module::NoIndex;
using module::Range;
using module::RuleIndex;
using schema::Slot;

using TermId = std::uint32_t;
using NodeId = std::uint32_t;

// A finished set of tables. Owns what `View` shows.
struct DecisionIr {
  std::vector<module::RuleRecord> rules;
  std::vector<module::ClassRecord> classes;
  std::vector<std::uint32_t> class_links;
  std::vector<module::BlockRecord> blocks;
  std::vector<module::GroupRecord> groups;
  std::vector<module::EntryRecord> entries;
  std::vector<module::DefaultRecord> defaults;
  std::vector<module::NodeRecord> nodes;
  std::vector<std::uint32_t> children;
  std::vector<module::TermRecord> terms;
  std::vector<module::AddendRecord> addends;
  std::vector<std::int64_t> integers;
  std::vector<module::NameRef> texts;
  std::vector<std::uint32_t> text_items;
  std::vector<module::PatternRecord> patterns;
  std::vector<module::BlockOfAddresses> addresses;
  module::EntryIndex index;  // derived from all of the above by Finish
  std::string names;
  std::string data;
  module::SelectionRules selection;

  Digest policy;
  std::uint32_t language = 1;
  std::string compiler;
  std::vector<module::PlanTemplate> plans;  // one a class
  std::vector<module::DeclaredAttribute> declared;
  std::vector<module::WrittenClause> written;  // sorted, no doubles; beside the module
};

module::Tables View(const DecisionIr& ir);

// What an entry, a group or a block is before it has its place.
struct Entry {
  RuleIndex rule = 0;
  NodeId condition = NoIndex;
  NodeId within = NoIndex;
};
struct Group {
  std::vector<Entry> entries;
  RuleIndex default_denial = 0;
  RuleIndex beyond_denial = 0;
};
struct Block {
  std::vector<Entry> checks;
  std::vector<module::DefaultRecord> defaults;
  std::vector<Entry> denials;
  std::vector<Group> groups;
  std::vector<Entry> trials;
};
// The text that a rule row says.
struct RuleText {
  std::string id;
  module::Effect effect = module::Effect::Deny;
  std::string message;
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool never = false;
  friend auto operator<=>(const RuleText&, const RuleText&) = default;
};

// A pattern's text and its mode, as the node that reads it says.
struct Pattern {
  std::string text;
  std::uint32_t mode = 0;
  friend auto operator<=>(const Pattern&, const Pattern&) = default;
};

// Builds a DecisionIr. Rules and texts are numbered as they come and sorted by Finish.
class Builder {
 public:
  RuleIndex Rule(const RuleText& rule);

  TermId SlotTerm(Slot slot, module::ValueClass value);
  TermId ElementTerm(module::ValueClass value);
  TermId IntegerTerm(std::int64_t value);
  TermId TextTerm(std::string_view text);
  TermId TextSetTerm(std::span<const std::string> texts);  // any order, doubles allowed
  TermId TextListTerm(std::span<const std::string> texts);
  TermId IntegerSetTerm(std::span<const std::int64_t> integers);  // any order, doubles allowed
  TermId IntegerListTerm(std::span<const std::int64_t> integers);
  TermId CountTerm(TermId items);
  TermId SumTerm(std::span<const module::AddendRecord> addends);

  // And and Or flatten, drop what decides nothing and fold constants; Not undoes Not.
  NodeId Constant(bool value);
  NodeId Not(NodeId node);
  NodeId And(std::span<const NodeId> nodes) { return Junction(NodeOp::And, nodes); }
  NodeId Or(std::span<const NodeId> nodes) { return Junction(NodeOp::Or, nodes); }
  NodeId And(NodeId a, NodeId b) { return And(std::array{a, b}); }
  NodeId Or(NodeId a, NodeId b) { return Or(std::array{a, b}); }
  // AnyOf, AllOf, NoneOf.
  NodeId Quantify(NodeOp op, TermId items, NodeId condition);
  NodeId Has(Slot slot);
  // Every op on two terms.
  NodeId Compare(NodeOp op, TermId left, TermId right);
  // HostIn, PathIn, TextIn.
  NodeId PatternsIn(NodeOp op, TermId text, std::span<const Pattern> patterns);
  NodeId AddressIn(TermId address, std::span<const module::BlockOfAddresses> blocks);

  std::uint32_t Text(std::string_view text);  // for a DefaultRecord

  // At the place that module::BlockOf, SetBlock or GoneBlock says; a place that is never set stays
  // empty.
  void SetBlock(std::size_t place, const Block& block);
  // In the order of the class indexes. `narrowed_by`: the classes that narrow it.
  void AddClass(std::string_view name, RuleIndex rule, NodeId when, bool by_name,
                std::span<const module::ClassIndex> narrowed_by);
  // The clauses of a node are the author's, where this rule asks them.
  void Written(RuleIndex rule, NodeId node);
  void SetSelection(const module::SelectionRules& selection) { ir_.selection = selection; }

  // Everything but plans, declared attributes and provenance, which the caller adds.
  DecisionIr Finish() &&;

 private:
  using Interned = std::unordered_map<std::string, std::uint32_t>;

  std::uint32_t Term(module::TermRecord record);
  NodeId Node(module::NodeRecord record);
  NodeId Junction(NodeOp op, std::span<const NodeId> nodes);
  Range Integers(std::span<const std::int64_t> integers);
  Range Items(std::span<const std::string> texts);
  Range Entries(std::span<const Entry> entries);
  module::NameRef Name(std::string_view name);
  void SortRules();
  void SortTexts();

  DecisionIr ir_;
  std::vector<RuleText> rule_texts_;
  std::map<RuleText, RuleIndex> rules_;
  std::vector<std::string> texts_;
  Interned text_ids_;
  Interned names_;
  Interned terms_;
  Interned nodes_;
  Interned junctions_;
  Interned integer_runs_;
  Interned item_runs_;
  Interned pattern_runs_;
  Interned address_runs_;
};

}  // namespace curfew::ir
