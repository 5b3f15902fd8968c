#include "compiler/module/verify_tables.h"

#include "compiler/base/limits.h"
#include "compiler/base/text.h"
#include "compiler/module/entry_index.h"
#include "compiler/values/host.h"
#include "compiler/values/path.h"
#include "compiler/values/query.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace curfew::module {
namespace {

constexpr std::uint64_t kTooManySteps = limits::DecisionOpsMax + 1;

// Steps, with everything beyond the limit being equally too many.
std::uint64_t Plus(std::uint64_t a, std::uint64_t b) { return std::min(a + b, kTooManySteps); }
std::uint64_t Times(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0) return 0;
  return a > kTooManySteps / b ? kTooManySteps : std::min(a * b, kTooManySteps);
}

bool IsItems(ValueClass value) {
  return value == ValueClass::IntegerItems || value == ValueClass::TextItems;
}
ValueClass ElementOf(ValueClass items) {
  return items == ValueClass::IntegerItems ? ValueClass::Integer : ValueClass::Text;
}

// Whether the text is what the canonicaliser makes of it: matching relies on that.
bool IsPattern(NodeOp op, std::string_view text) {
  if (op == NodeOp::HostIn) {
    const auto host = values::ParseHost(text);
    return host && *host == text;
  }
  if (op == NodeOp::QueryIn) return values::IsQueryTerm(text);
  if (op == NodeOp::TextIn) {
    const auto glob = values::ParseTextGlob(text);
    return glob && glob->text == text;
  }
  const auto file = values::ParseFileGlob(text);
  if (file && file->text == text) return true;
  const auto url = values::ParseUrlGlob(text, values::EscapedSlashes::Kept);
  return url && url->text == text;
}

// The class of every slot of one action.
using SlotClasses = std::vector<ValueClass>;

SlotClasses SlotClassesOf(schema::Action action, std::span<const DeclaredAttribute> declared) {
  SlotClasses classes;
  for (const schema::Attribute& attribute : schema::AttributesOf(action)) {
    classes.push_back(ClassOf(attribute.type.kind, attribute.type.collection));
  }
  for (const DeclaredAttribute& attribute : declared) {
    classes.push_back(ClassOf(attribute.kind, attribute.collection));
  }
  return classes;
}

class Verifier {
 public:
  Verifier(const Tables& tables, std::span<const DeclaredAttribute> declared)
      : t_(tables), declared_(declared) {}

  Result<std::uint64_t> Run() {
    if (!Names() || !Texts() || !Rules() || !Terms() || !Nodes() || !Patterns() || !Classes() ||
        !Blocks() || !Types()) {
      return Failure(code_, problem_);
    }
    if (!HasItsIndex(t_)) {
      return Failure(FailureCode::Malformed,
                     "its index is not the one that follows from its rules");
    }
    longest_search_ = LongestSearch(t_);
    const std::uint64_t steps = StepsMax();
    if (steps >= kTooManySteps) {
      return Failure(FailureCode::TooLarge,
                     fmt::format("a decision could take more than {} steps; split the policy set "
                                 "or shorten its lists and quantifiers",
                                 limits::DecisionOpsMax));
    }
    return steps;
  }

 private:
  bool Fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool FailTooLarge(std::string problem) {
    code_ = FailureCode::TooLarge;
    return Fail(std::move(problem));
  }
  template <typename T>
  static bool IsWithin(Range range, const T& table) {
    return range.first <= table.size() && range.count <= table.size() - range.first;
  }
  template <typename T>
  static bool IsIn(std::uint32_t index, const T& table) {
    return index < table.size();
  }
  bool IsName(NameRef ref) const {
    const auto is_boundary = [&](std::size_t at) {
      return at == t_.names.size() || (static_cast<unsigned char>(t_.names[at]) & 0xc0) != 0x80;
    };
    return ref.offset <= t_.names.size() && ref.size <= t_.names.size() - ref.offset &&
           is_boundary(ref.offset) && is_boundary(std::size_t{ref.offset} + ref.size);
  }

  bool Names();
  bool Texts();
  bool Rules();
  bool Terms();
  bool Nodes();
  bool Patterns();
  bool Classes();
  bool Blocks();
  bool Types();

  bool NodeShape(std::uint32_t index);
  // Only the denials of a block may be marked never.
  enum class Never : std::uint8_t { Refused, Fine };
  bool IsEntry(const EntryRecord& entry, Effect effect, Never never) const;
  bool IsRule(RuleIndex rule, Effect effect, Never never = Never::Refused) const {
    return IsIn(rule, t_.rules) && t_.rules[rule].effect == effect &&
           (never == Never::Fine || t_.rules[rule].never == 0);
  }
  std::uint64_t ItemsMax(std::uint32_t term) const;
  std::uint64_t StepsOf(const NodeRecord& node) const;

  // What the term is made of; nothing where it is not what its record says.
  std::optional<ValueClass> TermClass(std::uint32_t term, std::optional<ValueClass> element) const {
    const auto found = FoundClass(term, element);
    return found == t_.terms[term].value ? found : std::nullopt;
  }
  std::optional<ValueClass> FoundClass(std::uint32_t term, std::optional<ValueClass> element) const;
  bool NodeTypes(std::uint32_t node, std::optional<ValueClass> element);
  bool ConditionTypes(std::uint32_t condition) {
    return condition == NoIndex || NodeTypes(condition, std::nullopt);
  }
  bool BlockTypes(const BlockRecord& block);

  std::uint64_t StepsOfCondition(std::uint32_t condition) const {
    return condition == NoIndex ? 1 : Plus(1, steps_[condition]);
  }
  std::uint64_t StepsOfEntries(Range range) const;
  std::uint64_t StepsOfSearch(std::uint32_t index) const {
    return Times(SearchesMax(t_, index), longest_search_);
  }
  std::uint64_t StepsOfBlock(std::size_t place) const;
  std::uint64_t StepsMax() const;

  const Tables& t_;
  std::span<const DeclaredAttribute> declared_;
  FailureCode code_ = FailureCode::Malformed;
  std::string problem_;
  std::vector<std::uint16_t> depth_;  // by node
  std::vector<std::uint64_t> steps_;  // by node
  std::vector<std::uint32_t> seen_;   // by node: a bit for each action and class of element
  std::size_t longest_search_ = 0;
  schema::Action action_ = schema::Action::Create;
  SlotClasses slots_;  // of action_
};

bool Verifier::Names() {
  std::string_view rest = t_.names;
  while (!rest.empty()) {
    const auto point = DecodeUtf8(rest);
    if (!point) return Fail("a name is not UTF-8");
    rest.remove_prefix(point->bytes);
  }
  return true;
}

bool Verifier::Texts() {
  std::size_t end = 0;
  std::string_view before;
  for (std::size_t i = 0; i < t_.texts.size(); ++i) {
    const NameRef text = t_.texts[i];
    if (text.offset != end || text.size > t_.data.size() - end) return Fail("a text out of place");
    if (text.size > limits::StringLiteralBytesMax) return FailTooLarge("a text is too long");
    const std::string_view now = t_.data.substr(text.offset, text.size);
    if (i > 0 && !(before < now)) return Fail("texts out of order");
    before = now;
    end += text.size;
  }
  return end == t_.data.size() || Fail("bytes that no text has");
}

bool Verifier::Rules() {
  if (t_.rules.size() > limits::RulesMax) {
    return FailTooLarge(fmt::format("more than {} rules", limits::RulesMax));
  }
  std::string_view before;
  for (const RuleRecord& rule : t_.rules) {
    if (!IsName(rule.id) || !IsName(rule.message) || !IsName(rule.file)) {
      return Fail("a rule's text out of range");
    }
    if (rule.effect != Effect::Deny && rule.effect != Effect::Allow) return Fail("a rule's effect");
    if (rule.never > 1 || (rule.never == 1 && rule.effect != Effect::Deny)) {
      return Fail("a rule's mark");
    }
    const std::string_view id = t_.NameOf(rule.id);
    if (id.empty() || id.size() > limits::RuleIdBytesMax) return Fail("a rule's id");
    if (id < before) return Fail("rules out of order");
    before = id;
  }
  return true;
}

bool Verifier::Terms() {
  std::uint64_t runs = 0;
  for (const TermRecord& term : t_.terms) {
    if (static_cast<std::size_t>(term.kind) >= TermKindCount ||
        term.value > ValueClass::TextItems) {
      return Fail("a term of no kind");
    }
    const Range range{term.a, term.b};
    bool good = true;
    switch (term.kind) {
      case TermKind::Slot:
        good = term.slot < limits::AttributesPerActionMax;
        break;
      case TermKind::Element:
        break;
      case TermKind::Integer:
        good = IsIn(term.a, t_.integers);
        break;
      case TermKind::Text:
        good = IsIn(term.a, t_.texts);
        break;
      case TermKind::TextSet:
      case TermKind::TextList:
        good = IsWithin(range, t_.text_items);
        break;
      case TermKind::IntegerSet:
      case TermKind::IntegerList:
        good = IsWithin(range, t_.integers);
        break;
      case TermKind::Count:
        good = IsIn(term.a, t_.terms);
        break;
      case TermKind::Sum:
        good = IsWithin(range, t_.addends) && range.count <= limits::SetElementsMax;
        break;
    }
    // Work on runs stays linear in the bytes, also where bytes lie that runs overlap.
    runs += term.b;
    if (!good || runs > 2 * (t_.text_items.size() + t_.integers.size() + t_.addends.size())) {
      return Fail("a term's operands out of range");
    }
    if (term.kind == TermKind::TextSet &&
        !std::ranges::is_sorted(t_.text_items.subspan(term.a, term.b), std::less_equal{})) {
      return Fail("a set out of order");
    }
    if (term.kind == TermKind::IntegerSet &&
        !std::ranges::is_sorted(t_.integers.subspan(term.a, term.b), std::less_equal{})) {
      return Fail("a set out of order");
    }
  }
  for (const AddendRecord& addend : t_.addends) {
    if ((addend.sign != 1 && addend.sign != -1) || !IsIn(addend.term, t_.terms)) {
      return Fail("an addend out of range");
    }
  }
  for (const std::uint32_t text : t_.text_items) {
    if (!IsIn(text, t_.texts)) return Fail("an item out of range");
  }
  return true;
}

// How many elements the term can have at most.
std::uint64_t Verifier::ItemsMax(std::uint32_t term) const {
  const TermRecord& record = t_.terms[term];
  return record.kind == TermKind::Slot ? limits::SetElementsMax : std::max(record.b, 1u);
}

std::uint64_t Verifier::StepsOf(const NodeRecord& node) const {
  constexpr std::uint64_t kLookUp = 24;  // a binary search
  const auto look_up = [&](std::uint32_t items) {
    const TermKind kind = t_.terms[items].kind;
    return kind == TermKind::TextSet || kind == TermKind::IntegerSet ? kLookUp : ItemsMax(items);
  };
  std::uint64_t steps = 1;
  switch (node.op) {
    case NodeOp::And:
    case NodeOp::Or:
      for (std::uint32_t i = 0; i < node.b; ++i) {
        steps = Plus(steps, steps_[t_.children[node.a + i]]);
      }
      return steps;
    case NodeOp::Not:
      return Plus(1, steps_[node.a]);
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
      return Plus(1, Times(ItemsMax(node.a), steps_[node.b]));
    case NodeOp::In:
      return Plus(1, look_up(node.b));
    case NodeOp::SubsetOf:
    case NodeOp::Intersects:
      return Plus(1, Times(ItemsMax(node.a), look_up(node.b)));
    case NodeOp::SameItems:
    case NodeOp::Starts:
    case NodeOp::AddressInItems:
      return Plus(1, ItemsMax(node.b));
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::QueryIn:
    case NodeOp::AddressIn:
      return Plus(1, node.c);
    case NodeOp::False:
    case NodeOp::True:
    case NodeOp::Has:
    case NodeOp::Equal:
    case NodeOp::NotEqual:
    case NodeOp::Less:
    case NodeOp::LessEqual:
    case NodeOp::Greater:
    case NodeOp::GreaterEqual:
      return steps;
  }
  CURFEW_UNREACHABLE("the op was checked");
}

// Indexes of the node, and that its children come before it.
bool Verifier::NodeShape(std::uint32_t index) {
  const NodeRecord& node = t_.nodes[index];
  switch (node.op) {
    case NodeOp::False:
    case NodeOp::True:
    case NodeOp::And:
    case NodeOp::Or:
      return true;  // whose children Nodes looks at
    case NodeOp::Not:
      return node.a < index;
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
      return IsIn(node.a, t_.terms) && node.b < index;
    case NodeOp::Has:
      return node.a < limits::AttributesPerActionMax;
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
      return IsIn(node.a, t_.terms) && IsIn(node.b, t_.terms);
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::QueryIn:
      return IsIn(node.a, t_.terms) && IsWithin({node.b, node.c}, t_.patterns);
    case NodeOp::AddressIn:
      return IsIn(node.a, t_.terms) && IsWithin({node.b, node.c}, t_.addresses);
  }
  CURFEW_UNREACHABLE("the op was checked");
}

bool Verifier::Nodes() {
  depth_.assign(t_.nodes.size(), 1);
  steps_.assign(t_.nodes.size(), 1);
  std::uint64_t child_end = 0;
  for (std::uint32_t i = 0; i < t_.nodes.size(); ++i) {
    const NodeRecord& node = t_.nodes[i];
    if (static_cast<std::size_t>(node.op) >= NodeOpCount) return Fail("a node of no kind");
    if (!NodeShape(i)) return Fail("a node's operands out of range");
    std::uint16_t below = 0;
    if (node.op == NodeOp::And || node.op == NodeOp::Or) {
      // Every junction has children of its own, so that looking at all of them is linear.
      if (node.a != child_end || !IsWithin({node.a, node.b}, t_.children)) {
        return Fail("a node's children out of place");
      }
      child_end += node.b;
      for (const std::uint32_t child : t_.children.subspan(node.a, node.b)) {
        if (child >= i) return Fail("a node before its child");
        below = std::max(below, depth_[child]);
      }
    } else if (node.op == NodeOp::Not) {
      below = depth_[node.a];
    } else if (node.op == NodeOp::AnyOf || node.op == NodeOp::AllOf || node.op == NodeOp::NoneOf) {
      below = depth_[node.b];
    }
    if (below >= limits::ConditionDepthMax) {
      return FailTooLarge(
          fmt::format("a condition nests deeper than {}", limits::ConditionDepthMax));
    }
    depth_[i] = static_cast<std::uint16_t>(below + 1);
    steps_[i] = StepsOf(node);
  }
  return child_end == t_.children.size() || Fail("children of no node");
}

// Each pattern must be canonical for every operator that reads it.
bool Verifier::Patterns() {
  constexpr std::array kOps = {NodeOp::HostIn, NodeOp::PathIn, NodeOp::TextIn, NodeOp::QueryIn};
  for (const PatternRecord& pattern : t_.patterns) {
    if (!IsIn(pattern.text, t_.texts)) return Fail("a pattern out of range");
  }
  for (const NodeOp op : kOps) {
    // How many readers begin and end at each place.
    std::vector<std::int64_t> change(t_.patterns.size() + 1, 0);
    for (const NodeRecord& node : t_.nodes) {
      if (node.op != op) continue;
      ++change[node.b];
      --change[std::size_t{node.b} + node.c];
    }
    std::int64_t readers = 0;
    for (std::size_t i = 0; i < t_.patterns.size(); ++i) {
      readers += change[i];
      if (readers == 0) continue;
      const auto [text, mode] = t_.patterns[i];
      const std::uint32_t mode_max =
          op == NodeOp::HostIn    ? static_cast<std::uint32_t>(values::HostReach::AnyDepth)
          : op == NodeOp::PathIn  ? static_cast<std::uint32_t>(values::Reading::Wide)
          : op == NodeOp::QueryIn ? static_cast<std::uint32_t>(values::QueryReading::Wide)
                                  : 0u;
      if (mode > mode_max) return Fail("a pattern of no mode");
      if (!IsPattern(op, t_.TextOf(text))) return Fail("a pattern that is not canonical");
    }
  }
  // By place: how many patterns from there on are in order.
  std::vector<std::uint32_t> ordered(t_.patterns.size(), 1);
  for (std::size_t i = t_.patterns.size(); i-- > 1;) {
    if (t_.patterns[i - 1] < t_.patterns[i]) ordered[i - 1] = ordered[i] + 1;
  }
  for (const NodeRecord& node : t_.nodes) {
    if (node.op == NodeOp::HostIn && node.c > 1 && node.c > ordered[node.b]) {
      return Fail("hosts out of order");
    }
  }
  for (const BlockOfAddresses& block : t_.addresses) {
    if (block.prefix > 128) return Fail("a block's prefix");
  }
  return true;
}

bool Verifier::Classes() {
  std::uint64_t links = 0;
  std::string_view before;
  for (const ClassRecord& record : t_.classes) {
    if (!IsName(record.name)) return Fail("a class's name out of range");
    const std::string_view name = t_.NameOf(record.name);
    if (name.size() > limits::RuleIdBytesMax || name.empty()) return Fail("a class's name");
    if (!before.empty() && name <= before) return Fail("classes out of order");
    before = name;
    if (!IsRule(record.rule, Effect::Allow)) return Fail("a class's rule");
    if (record.when != NoIndex && !IsIn(record.when, t_.nodes)) return Fail("a class's condition");
    if (record.by_name > 1) return Fail("a class's mark");
    links += record.narrowed_by.count;
    if (!IsWithin(record.narrowed_by, t_.class_links) || links > t_.class_links.size()) {
      return Fail("a class's links out of range");
    }
  }
  for (const std::uint32_t link : t_.class_links) {
    if (!IsIn(link, t_.classes)) return Fail("a link to no class");
  }
  return true;
}

bool Verifier::IsEntry(const EntryRecord& entry, Effect effect, Never never) const {
  const auto is_condition = [&](std::uint32_t node) {
    return node == NoIndex || IsIn(node, t_.nodes);
  };
  return IsRule(entry.rule, effect, never) && is_condition(entry.condition) &&
         is_condition(entry.within) && (effect == Effect::Allow || entry.within == NoIndex);
}

bool Verifier::Blocks() {
  if (t_.blocks.size() != BlockCount(t_.classes.size())) return Fail("blocks missing");
  const SelectionRules& selection = t_.selection;
  for (const RuleIndex rule : {selection.none, selection.ambiguous, selection.not_selected,
                               selection.gone, selection.invalid}) {
    if (!IsRule(rule, Effect::Deny)) return Fail("a built-in rule missing");
  }
  std::uint64_t entries = 0;
  std::uint64_t groups = 0;
  std::uint64_t defaults = 0;
  const auto are_entries = [&](Range range, Effect effect, Never never = Never::Refused) {
    entries += range.count;
    return IsWithin(range, t_.entries) && entries <= t_.entries.size() &&
           std::ranges::all_of(
               t_.entries.subspan(range.first, range.count),
               [&](const EntryRecord& entry) { return IsEntry(entry, effect, never); });
  };
  for (const BlockRecord& block : t_.blocks) {
    groups += block.groups.count;
    defaults += block.defaults.count;
    if (!are_entries(block.checks, Effect::Deny) ||
        !are_entries(block.denials, Effect::Deny, Never::Fine) ||
        !are_entries(block.trials, Effect::Deny) || !IsWithin(block.groups, t_.groups) ||
        groups > t_.groups.size() || !IsWithin(block.defaults, t_.defaults) ||
        defaults > t_.defaults.size()) {
      return Fail("a block's rules out of range");
    }
    for (const GroupRecord& group : t_.groups.subspan(block.groups.first, block.groups.count)) {
      if (!are_entries(group.entries, Effect::Allow) ||
          !IsRule(group.default_denial, Effect::Deny) ||
          !IsRule(group.beyond_denial, Effect::Deny)) {
        return Fail("a group's rules out of range");
      }
    }
  }
  // A block without groups grants by nothing, so it must deny whatever is asked; the set's blocks
  // stand beside another and grant nothing at all.
  const std::size_t set_begin = SetBlock(t_.classes.size(), schema::Action::Create);
  for (std::size_t place = 0; place < t_.blocks.size(); ++place) {
    const BlockRecord& block = t_.blocks[place];
    const bool of_set = place >= set_begin && place < set_begin + schema::ActionCount;
    const auto denials = t_.entries.subspan(block.denials.first, block.denials.count);
    const bool denies_all = std::ranges::any_of(
        denials, [](const EntryRecord& entry) { return entry.condition == NoIndex; });
    if (of_set ? block.groups.count != 0 : block.groups.count == 0 && !denies_all) {
      return Fail("a block that grants by silence");
    }
  }
  return true;
}

// ---- Types --------------------------------------------------------------------------------------

std::optional<ValueClass> Verifier::FoundClass(std::uint32_t index,
                                               std::optional<ValueClass> element) const {
  const TermRecord& term = t_.terms[index];
  switch (term.kind) {
    case TermKind::Slot:
      if (term.slot >= slots_.size()) return std::nullopt;
      return slots_[term.slot];
    case TermKind::Element:
      return element;
    case TermKind::Integer:
      return ValueClass::Integer;
    case TermKind::Text:
      return ValueClass::Text;
    case TermKind::TextSet:
    case TermKind::TextList:
      return ValueClass::TextItems;
    case TermKind::IntegerSet:
    case TermKind::IntegerList:
      return ValueClass::IntegerItems;
    case TermKind::Count: {
      const TermKind counted = t_.terms[term.a].kind;
      if (counted == TermKind::Count || counted == TermKind::Sum) return std::nullopt;
      const auto items = TermClass(term.a, element);
      if (!items || !IsItems(*items)) return std::nullopt;
      return ValueClass::Integer;
    }
    case TermKind::Sum:
      for (const AddendRecord& addend : t_.addends.subspan(term.a, term.b)) {
        if (t_.terms[addend.term].kind == TermKind::Sum) return std::nullopt;
        if (TermClass(addend.term, element) != ValueClass::Integer) return std::nullopt;
      }
      return ValueClass::Integer;
  }
  CURFEW_UNREACHABLE("the kind was checked");
}

// That the node and all below it compare like with like in requests of action_. Depth is bounded by
// what Nodes found.
bool Verifier::NodeTypes(std::uint32_t index, std::optional<ValueClass> element) {
  const std::uint32_t element_kind = !element ? 0 : *element == ValueClass::Integer ? 1 : 2;
  const std::uint32_t bit = 1u << (static_cast<std::uint32_t>(action_) * 3 + element_kind);
  if ((seen_[index] & bit) != 0) return true;
  seen_[index] |= bit;

  const NodeRecord& node = t_.nodes[index];
  const auto left = [&] { return TermClass(node.a, element); };
  const auto right = [&] { return TermClass(node.b, element); };
  switch (node.op) {
    case NodeOp::False:
    case NodeOp::True:
      return true;
    case NodeOp::Not:
      return NodeTypes(node.a, element);
    case NodeOp::And:
    case NodeOp::Or:
      return std::ranges::all_of(t_.children.subspan(node.a, node.b),
                                 [&](std::uint32_t child) { return NodeTypes(child, element); });
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf: {
      const auto items = left();
      return !element && items && IsItems(*items) && NodeTypes(node.b, ElementOf(*items));
    }
    case NodeOp::Has:
      return node.a < slots_.size();
    case NodeOp::Equal:
    case NodeOp::NotEqual:
    case NodeOp::Less:
    case NodeOp::LessEqual:
    case NodeOp::Greater:
    case NodeOp::GreaterEqual:
      return left() && !IsItems(*left()) && left() == right();
    case NodeOp::In:
      return left() && right() && IsItems(*right()) && *left() == ElementOf(*right());
    case NodeOp::SubsetOf:
    case NodeOp::Intersects:
    case NodeOp::SameItems:
    case NodeOp::Starts:
      return left() && IsItems(*left()) && left() == right();
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::QueryIn:
    case NodeOp::AddressIn:
      return left() == ValueClass::Text;
    case NodeOp::AddressInItems:
      return left() == ValueClass::Text && right() == ValueClass::TextItems;
  }
  CURFEW_UNREACHABLE("the op was checked");
}

bool Verifier::BlockTypes(const BlockRecord& block) {
  const auto entry_types = [&](Range range) {
    return std::ranges::all_of(
        t_.entries.subspan(range.first, range.count), [&](const EntryRecord& entry) {
          return ConditionTypes(entry.condition) && ConditionTypes(entry.within);
        });
  };
  for (const DefaultRecord& record :
       t_.defaults.subspan(block.defaults.first, block.defaults.count)) {
    if (record.slot >= slots_.size()) return Fail("a default's slot");
    if (record.when_slot != NoIndex &&
        (record.when_slot >= slots_.size() || slots_[record.when_slot] != ValueClass::Integer)) {
      return Fail("a default that rests on no number");
    }
    const ValueClass value = slots_[record.slot];
    bool good = false;
    switch (record.kind) {
      case DefaultRecord::Kind::Integer:
        good = value == ValueClass::Integer;
        break;
      case DefaultRecord::Kind::Text:
        good = value == ValueClass::Text && IsIn(record.text, t_.texts);
        break;
      case DefaultRecord::Kind::NoItems:
        good = IsItems(value);
        break;
    }
    if (!good) return Fail("a default of another type than its slot");
  }
  bool good = entry_types(block.checks) && entry_types(block.denials) && entry_types(block.trials);
  for (const GroupRecord& group : t_.groups.subspan(block.groups.first, block.groups.count)) {
    good = good && entry_types(group.entries);
  }
  return good || Fail("a condition compares unlike values");
}

bool Verifier::Types() {
  seen_.assign(t_.nodes.size(), 0);
  static_assert(schema::ActionCount * 3 <= 32, "an action has three bits of a word");
  if (declared_.size() > limits::AttributesPerActionMax) return FailTooLarge("declared attributes");
  for (std::size_t i = 0; i < schema::ActionCount; ++i) {
    action_ = static_cast<schema::Action>(i);
    slots_ = SlotClassesOf(action_, declared_);
    if (slots_.size() > limits::AttributesPerActionMax) {
      return FailTooLarge(fmt::format("more than {} attributes of `{}`",
                                      limits::AttributesPerActionMax, schema::WordOf(action_)));
    }
    for (std::size_t place = i; place < t_.blocks.size(); place += schema::ActionCount) {
      if (!BlockTypes(t_.blocks[place])) return false;
    }
    if (action_ != schema::Action::Create) continue;
    for (const ClassRecord& record : t_.classes) {
      if (!ConditionTypes(record.when)) return Fail("a class's condition compares unlike values");
    }
  }
  return true;
}

// ---- Steps --------------------------------------------------------------------------------------

std::uint64_t Verifier::StepsOfEntries(Range range) const {
  std::uint64_t steps = 0;
  for (const EntryRecord& entry : t_.entries.subspan(range.first, range.count)) {
    steps = Plus(steps, StepsOfCondition(entry.condition));
    steps = Plus(steps, StepsOfCondition(entry.within));
  }
  return steps;
}

std::uint64_t Verifier::StepsOfBlock(std::size_t place) const {
  const BlockRecord& block = t_.blocks[place];
  std::uint64_t steps = Plus(StepsOfEntries(block.checks), StepsOfEntries(block.denials));
  steps = Plus(steps, StepsOfEntries(block.trials));
  steps = Plus(steps, block.defaults.count);
  steps = Plus(steps, StepsOfSearch(t_.block_indexes[place]));
  for (std::uint32_t g = block.groups.first; g < block.groups.first + block.groups.count; ++g) {
    steps = Plus(steps, StepsOfEntries(t_.groups[g].entries));
    steps = Plus(steps, StepsOfSearch(t_.group_indexes[g]));
  }
  return steps;
}

std::uint64_t Verifier::StepsMax() const {
  std::uint64_t selection = StepsOfSearch(t_.class_index[0]);
  for (const ClassRecord& record : t_.classes) {
    selection = Plus(selection, StepsOfCondition(record.when));
    for (const std::uint32_t link :
         t_.class_links.subspan(record.narrowed_by.first, record.narrowed_by.count)) {
      selection = Plus(selection, StepsOfCondition(t_.classes[link].when));
    }
  }
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < schema::ActionCount; ++i) {
    const auto action = static_cast<schema::Action>(i);
    const std::size_t set = SetBlock(t_.classes.size(), action);
    std::uint64_t worst = 0;
    for (std::size_t place = i; place < t_.blocks.size(); place += schema::ActionCount) {
      if (place != set) worst = std::max(worst, StepsOfBlock(place));
    }
    std::uint64_t steps = Plus(worst, StepsOfBlock(set));
    if (action == schema::Action::Create) steps = Plus(steps, selection);
    most = std::max(most, steps);
  }
  return most;
}

}  // namespace

Result<std::uint64_t> VerifyTables(const Tables& tables,
                                   std::span<const DeclaredAttribute> declared) {
  return Verifier(tables, declared).Run();
}

}  // namespace curfew::module
