#include "compiler/codegen/shape.h"

#include "compiler/base/check.h"
#include "compiler/values/host.h"
#include "compiler/values/path.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace curfew::codegen {
namespace {

using module::NodeOp;
using module::NodeRecord;
using module::Tables;
using module::TermKind;
using module::TermRecord;
using module::ValueClass;
using native::RangeWord;

// Alike conditions that stand together are run in a loop from this many on.
constexpr std::size_t kRunMin = 4;
// A list of this many constants is compared one by one, without a search.
constexpr std::uint32_t kFewMax = 8;
// Nodes that share parts would be taken apart again and again.
constexpr std::size_t kDescribedMax = 8'000'000;

constexpr auto kOneLabel = static_cast<std::uint32_t>(values::HostReach::OneLabel);

// Thrown and caught in this file only.
struct TooLarge {};

// A condition taken apart: its node, and its constants in the order of the node's words.
struct Part {
  ShapeNode node;
  std::vector<std::uint64_t> words;
  std::size_t nodes = 1;
};

// ---- Keys: equal shapes have equal bytes --------------------------------------------------------

template <typename T>
void Append(std::string& key, T value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void AppendKey(std::string& key, const ShapeTerm& term) {
  Append(key, term.kind);
  Append(key, term.value);
  Append(key, term.slot);
  Append(key, static_cast<std::uint32_t>(term.parts.size()));
  for (const std::int32_t sign : term.signs) Append(key, sign);
  for (const ShapeTerm& part : term.parts) AppendKey(key, part);
}

// Places of words follow from the rest.
void AppendKey(std::string& key, const ShapeNode& node) {
  Append(key, node.form);
  Append(key, node.op);
  Append(key, node.mode);
  Append(key, node.shape);
  for (const ShapeTerm& term : node.terms) AppendKey(key, term);
  Append(key, static_cast<std::uint32_t>(node.parts.size()));
  for (const ShapeNode& part : node.parts) AppendKey(key, part);
}

std::string KeyOf(const ShapeNode& node) {
  std::string key;
  AppendKey(key, node);
  return key;
}

void MoveWords(ShapeTerm& term, std::uint32_t by) {
  term.word += by;
  for (ShapeTerm& part : term.parts) MoveWords(part, by);
}
void MoveWords(ShapeNode& node, std::uint32_t by) {
  node.word += by;
  for (ShapeTerm& term : node.terms) MoveWords(term, by);
  for (ShapeNode& part : node.parts) MoveWords(part, by);
}

// ---- Taking apart -------------------------------------------------------------------------------

class Shaper {
 public:
  explicit Shaper(const Tables& tables) : t_(tables) {}

  ShapedTables Run() &&;

 private:
  ShapedCondition Condition(std::uint32_t node);
  std::uint32_t Intern(const Part& part);

  Part Describe(std::uint32_t index);
  Part DescribeJunction(Form form, std::span<const std::uint32_t> nodes);
  ShapedCondition GuardOf(const std::vector<std::uint32_t>& conditions);
  ShapedGuards Guard(std::size_t block);
  Part DescribeMembership(const NodeRecord& node);
  Part DescribePaths(const NodeRecord& node);
  ShapeTerm Term(std::uint32_t index, std::vector<std::uint64_t>& words);
  std::uint64_t TextWord(std::uint32_t text) const {
    return RangeWord(t_.texts[text].offset, t_.texts[text].size);
  }
  std::uint64_t Blocks(std::uint32_t first, std::uint32_t count);
  std::uint32_t Place(const std::vector<std::uint64_t>& words);

  static void Add(Part& whole, Part part) {
    MoveWords(part.node, static_cast<std::uint32_t>(whole.words.size()));
    whole.words.insert(whole.words.end(), part.words.begin(), part.words.end());
    whole.nodes += part.nodes;
    if (whole.nodes > ConditionNodesMax) throw TooLarge{};
    whole.node.parts.push_back(std::move(part.node));
  }

  const Tables& t_;
  ShapedTables made_;
  std::size_t shape_nodes_ = 0;
  std::size_t described_ = 0;
  std::size_t guard_nodes_ = 0;
  std::unordered_map<std::string, std::uint32_t> shapes_;
  std::unordered_map<std::uint32_t, ShapedCondition> conditions_;  // by node
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> blocks_;
};

// Appends words to those of the image.
std::uint32_t Shaper::Place(const std::vector<std::uint64_t>& words) {
  if (made_.words.size() + words.size() > WordsMax) throw TooLarge{};
  const auto place = static_cast<std::uint32_t>(made_.words.size());
  made_.words.insert(made_.words.end(), words.begin(), words.end());
  return place;
}

ShapeTerm Shaper::Term(std::uint32_t index, std::vector<std::uint64_t>& words) {
  const TermRecord& record = t_.terms[index];
  ShapeTerm term{
      .kind = record.kind, .value = record.value, .word = static_cast<std::uint32_t>(words.size())};
  switch (record.kind) {
    case TermKind::Slot:
      term.slot = record.slot;
      break;
    case TermKind::Element:
      break;
    case TermKind::Integer:
      words.push_back(static_cast<std::uint64_t>(t_.integers[record.a]));
      break;
    case TermKind::Text:
      words.push_back(TextWord(record.a));
      break;
    case TermKind::TextSet:
    case TermKind::TextList:
    case TermKind::IntegerSet:
    case TermKind::IntegerList:
      words.push_back(RangeWord(record.a, record.b));
      break;
    case TermKind::Count:
      term.parts.push_back(Term(record.a, words));
      break;
    case TermKind::Sum:
      for (const module::AddendRecord& addend : t_.addends.subspan(record.a, record.b)) {
        term.signs.push_back(addend.sign);
        term.parts.push_back(Term(addend.term, words));
      }
      break;
  }
  return term;
}

Part Shaper::DescribeJunction(Form form, std::span<const std::uint32_t> nodes) {
  std::vector<Part> children;
  std::vector<std::string> keys;
  for (const std::uint32_t child : nodes) {
    children.push_back(Describe(child));
    keys.push_back(KeyOf(children.back().node));
  }
  Part part;
  part.node.form = form;
  for (std::size_t i = 0; i < children.size();) {
    std::size_t end = i + 1;
    while (end < children.size() && keys[end] == keys[i]) ++end;
    if (end - i < kRunMin) {
      Add(part, std::move(children[i++]));
      continue;
    }
    std::vector<std::uint64_t> words;
    for (std::size_t child = i; child < end; ++child) {
      words.insert(words.end(), children[child].words.begin(), children[child].words.end());
    }
    Part run;
    run.node.form = Form::Run;
    run.node.shape = Intern(children[i]);
    run.words.push_back(RangeWord(Place(words), static_cast<std::uint32_t>(end - i)));
    Add(part, std::move(run));
    i = end;
  }
  return part;
}

Part Shaper::DescribeMembership(const NodeRecord& node) {
  Part part;
  part.node.terms.push_back(Term(node.a, part.words));
  const TermRecord& items = t_.terms[node.b];
  if (items.kind == TermKind::Slot || items.b > kFewMax) {
    part.node.form = Form::In;
    part.node.terms.push_back(Term(node.b, part.words));
    return part;
  }
  part.node.form = Form::InFew;
  part.node.mode = items.b;
  part.node.word = static_cast<std::uint32_t>(part.words.size());
  for (std::uint32_t i = items.a; i < items.a + items.b; ++i) {
    part.words.push_back(items.value == ValueClass::TextItems
                             ? TextWord(t_.text_items[i])
                             : static_cast<std::uint64_t>(t_.integers[i]));
  }
  return part;
}

// Whether each segment is text without a star, or a lone star; and there is one that says
// something.
bool IsPlainTail(std::string_view tail) {
  if (tail.size() < 2 || tail.find('\\') != tail.npos) return false;
  for (std::size_t star = tail.find('*'); star != tail.npos; star = tail.find('*', star + 1)) {
    const bool is_alone =
        tail[star - 1] == '/' && (star + 1 == tail.size() || tail[star + 1] == '/');
    if (!is_alone) return false;
  }
  return true;
}

// The globs that people write are a path, what lies below a path, or how a path ends.
Part Shaper::DescribePaths(const NodeRecord& node) {
  Part part;
  part.node.form = Form::PathIn;
  part.node.terms.push_back(Term(node.a, part.words));
  part.node.word = static_cast<std::uint32_t>(part.words.size());
  part.words.push_back(RangeWord(node.b, node.c));
  if (node.c != 1) return part;
  const module::PatternRecord& pattern = t_.patterns[node.b];
  if (pattern.mode != static_cast<std::uint32_t>(values::Reading::Exact)) return part;
  const std::string_view glob = t_.TextOf(pattern.text);
  const std::uint32_t offset = t_.texts[pattern.text].offset;
  constexpr std::string_view kBelow = "/**";
  const auto is_literal = [](std::string_view text) {
    return text.find_first_of("*\\") == text.npos;
  };
  const std::string_view above = glob.substr(0, glob.size() - std::min(glob.size(), kBelow.size()));
  if (is_literal(glob)) {
    part.node.form = Form::PathEqual;
    part.words.back() = RangeWord(offset, static_cast<std::uint32_t>(glob.size()));
  } else if (glob.ends_with(kBelow) && is_literal(above)) {
    part.node.form = Form::PathBelow;
    part.words.back() = RangeWord(offset, static_cast<std::uint32_t>(above.size()));
  } else if (glob.starts_with("/**/") && IsPlainTail(glob.substr(kBelow.size()))) {
    part.node.form = Form::PathEndsIn;
    part.words.back() = RangeWord(offset + static_cast<std::uint32_t>(kBelow.size()),
                                  static_cast<std::uint32_t>(glob.size() - kBelow.size()));
  }
  return part;
}

Part Shaper::Describe(std::uint32_t index) {
  if (++described_ > kDescribedMax) throw TooLarge{};
  const NodeRecord& node = t_.nodes[index];
  Part part;
  const auto one = [&](Form form, std::uint64_t word) {
    part.node.form = form;
    part.node.terms.push_back(Term(node.a, part.words));
    part.node.word = static_cast<std::uint32_t>(part.words.size());
    part.words.push_back(word);
  };
  switch (node.op) {
    case NodeOp::False:
    case NodeOp::True:
      part.node.mode = node.op == NodeOp::True ? 1 : 0;
      return part;
    case NodeOp::Not:
      part.node.form = Form::Not;
      Add(part, Describe(node.a));
      return part;
    case NodeOp::And:
    case NodeOp::Or:
      return DescribeJunction(node.op == NodeOp::And ? Form::And : Form::Or,
                              t_.children.subspan(node.a, node.b));
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
      part.node.form = node.op == NodeOp::AnyOf   ? Form::AnyOf
                       : node.op == NodeOp::AllOf ? Form::AllOf
                                                  : Form::NoneOf;
      part.node.terms.push_back(Term(node.a, part.words));
      Add(part, Describe(node.b));
      return part;
    case NodeOp::Has:
      part.node.form = Form::Has;
      part.node.terms.push_back(
          {.kind = TermKind::Slot, .slot = static_cast<schema::Slot>(node.a)});
      return part;
    case NodeOp::Equal:
    case NodeOp::NotEqual:
    case NodeOp::Less:
    case NodeOp::LessEqual:
    case NodeOp::Greater:
    case NodeOp::GreaterEqual:
      part.node.form = Form::Compare;
      part.node.op = node.op;
      part.node.terms.push_back(Term(node.a, part.words));
      part.node.terms.push_back(Term(node.b, part.words));
      return part;
    case NodeOp::In:
      return DescribeMembership(node);
    case NodeOp::HostIn:
      if (node.c == 1 && t_.patterns[node.b].mode != kOneLabel) {
        one(Form::HostOne, TextWord(t_.patterns[node.b].text));
        part.node.mode = t_.patterns[node.b].mode;
      } else {
        one(Form::HostIn, RangeWord(node.b, node.c));
      }
      return part;
    case NodeOp::PathIn:
      return DescribePaths(node);
    case NodeOp::TextIn:
      one(Form::TextMatches, RangeWord(node.b, node.c));
      return part;
    case NodeOp::AddressIn:
      one(Form::AddressIn, Blocks(node.b, node.c));
      return part;
    case NodeOp::SubsetOf:
    case NodeOp::Intersects:
    case NodeOp::SameItems:
    case NodeOp::Starts:
    case NodeOp::AddressInItems:
    case NodeOp::QueryIn:
      part.node.form = Form::Judge;
      part.words.push_back(index);
      return part;
  }
  CURFEW_UNREACHABLE("the verifier let no other op in");
}

// ---- Addresses ----------------------------------------------------------------------------------

struct Interval {
  std::pair<std::uint64_t, std::uint64_t> first;
  std::pair<std::uint64_t, std::uint64_t> last;
  friend auto operator<=>(const Interval&, const Interval&) = default;
};

std::uint64_t BigEndian(const std::uint8_t* bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | bytes[i];
  return number;
}

Interval IntervalOf(const module::BlockOfAddresses& block) {
  // The bits behind the prefix, in each half.
  const auto behind = [](std::uint32_t prefix) {
    return prefix >= 64 ? 0 : ~std::uint64_t{0} >> prefix;
  };
  const std::uint64_t high = behind(block.prefix);
  const std::uint64_t low = block.prefix <= 64 ? ~std::uint64_t{0} : behind(block.prefix - 64);
  const std::uint64_t base_high = BigEndian(block.base);
  const std::uint64_t base_low = BigEndian(block.base + 8);
  return {{base_high & ~high, base_low & ~low}, {base_high | high, base_low | low}};
}

// A bit for each first byte that an IPv4 address in one of the intervals can have.
std::array<std::uint64_t, 4> FirstBytesOf(const std::vector<Interval>& intervals) {
  std::array<std::uint64_t, 4> bits{};
  for (std::uint64_t byte = 0; byte < 256; ++byte) {
    constexpr std::uint64_t kMapped = 0xffff'0000'0000;  // RFC 4291, 2.5.5.2
    const Interval all{{0, kMapped | byte << 24}, {0, kMapped | byte << 24 | 0xff'ffff}};
    const bool meets = std::ranges::any_of(intervals, [&](const Interval& interval) {
      return interval.first <= all.last && all.first <= interval.last;
    });
    if (meets) bits[byte / 64] |= std::uint64_t{1} << (byte % 64);
  }
  return bits;
}

std::uint64_t Shaper::Blocks(std::uint32_t first, std::uint32_t count) {
  const auto [place, is_new] = blocks_.try_emplace({first, count}, 0);
  if (!is_new) return place->second;
  std::vector<Interval> intervals;
  for (const module::BlockOfAddresses& block : t_.addresses.subspan(first, count)) {
    intervals.push_back(IntervalOf(block));
  }
  std::sort(intervals.begin(), intervals.end());
  std::vector<Interval> apart;
  for (const Interval& interval : intervals) {
    if (!apart.empty() && interval.first <= apart.back().last) {
      apart.back().last = std::max(apart.back().last, interval.last);
    } else {
      apart.push_back(interval);
    }
  }
  const std::array<std::uint64_t, 4> first_bytes = FirstBytesOf(apart);
  std::vector<std::uint64_t> words(first_bytes.begin(), first_bytes.end());
  for (const Interval& interval : apart) {
    words.insert(words.end(), {interval.first.first, interval.first.second, interval.last.first,
                               interval.last.second});
  }
  place->second = RangeWord(Place(words) + static_cast<std::uint32_t>(first_bytes.size()),
                            static_cast<std::uint32_t>(apart.size()));
  return place->second;
}

// ---- The whole ----------------------------------------------------------------------------------

std::uint32_t Shaper::Intern(const Part& part) {
  const auto [place, is_new] =
      shapes_.try_emplace(KeyOf(part.node), static_cast<std::uint32_t>(made_.shapes.size()));
  if (is_new) {
    shape_nodes_ += part.nodes;
    if (shape_nodes_ > ShapeNodesMax) throw TooLarge{};
    made_.shapes.push_back({part.node, static_cast<std::uint32_t>(part.words.size())});
  }
  return place->second;
}

ShapedCondition Shaper::Condition(std::uint32_t node) {
  if (node == module::NoIndex) return {};
  const auto [place, is_new] = conditions_.try_emplace(node);
  if (is_new) {
    const Part part = Describe(node);
    place->second.shape = Intern(part);
    place->second.words = Place(part.words);
  }
  return place->second;
}

// Their `or`.
ShapedCondition Shaper::GuardOf(const std::vector<std::uint32_t>& conditions) {
  const bool denies_always =
      std::find(conditions.begin(), conditions.end(), module::NoIndex) != conditions.end();
  if (conditions.size() < 2 || denies_always) return {};
  try {
    const Part part = DescribeJunction(Form::Or, conditions);
    guard_nodes_ += part.nodes;
    if (guard_nodes_ > GuardNodesMax) return {};
    return {Intern(part), Place(part.words)};
  } catch (const TooLarge&) {
    return {};  // they are looked at one by one
  }
}

// Of what is looked at whatever is asked.
ShapedGuards Shaper::Guard(std::size_t block) {
  const auto conditions_of = [&](module::Range range) {
    std::vector<std::uint32_t> conditions;
    for (const auto& entry : t_.entries.subspan(range.first, range.count)) {
      conditions.push_back(entry.condition);
    }
    return conditions;
  };
  const ShapedCondition checks = GuardOf(conditions_of(t_.blocks[block].checks));
  const std::uint32_t index = t_.block_indexes[block];
  if (index == module::NoIndex) return {checks, GuardOf(conditions_of(t_.blocks[block].denials))};
  std::vector<std::uint32_t> unkeyed;
  const module::Range others = t_.indexes[index].unkeyed;
  for (const std::uint32_t entry : t_.unkeyed.subspan(others.first, others.count)) {
    unkeyed.push_back(t_.entries[entry].condition);
  }
  return {checks, GuardOf(unkeyed)};
}

ShapedTables Shaper::Run() && {
  made_.conditions.resize(t_.entries.size());
  made_.withins.resize(t_.entries.size());
  // Entries that no block reaches were not proven.
  const auto shape = [&](module::Range range) {
    for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
      made_.conditions[i] = Condition(t_.entries[i].condition);
      made_.withins[i] = Condition(t_.entries[i].within);
    }
  };
  for (const module::BlockRecord& block : t_.blocks) {
    shape(block.checks);
    shape(block.denials);
    shape(block.trials);
    for (std::uint32_t g = block.groups.first; g < block.groups.first + block.groups.count; ++g) {
      shape(t_.groups[g].entries);
    }
  }
  for (const module::ClassRecord& record : t_.classes) {
    made_.classes.push_back(Condition(record.when));
  }
  for (std::size_t block = 0; block < t_.blocks.size(); ++block) {
    // Only what is asked for each request is worth the time that compiling them takes.
    const auto action = static_cast<schema::Action>(block % schema::ActionCount);
    made_.guards.push_back(action == schema::Action::Egress ? Guard(block) : ShapedGuards());
  }
  return std::move(made_);
}

}  // namespace

Result<ShapedTables> TakeShapes(const Tables& tables) {
  try {
    return Shaper(tables).Run();
  } catch (const TooLarge&) {
    return Failure(FailureCode::TooLarge,
                   "the policy set's conditions are of more kinds, or larger, than is worth "
                   "compiling; they are interpreted");
  }
}

}  // namespace curfew::codegen
