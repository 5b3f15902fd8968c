#include "compiler/codegen/shape.h"

#include "compiler/base/check.h"
#include "compiler/module/entry_index.h"
#include "compiler/native/services.h"
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
  std::uint32_t of = module::NoIndex;  // the module's node
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

// Of the quantifier around it, which the function of a run does not know.
bool ReadsElement(const ShapeTerm& term) {
  return term.kind == TermKind::Element ||
         std::ranges::any_of(term.parts, [](const ShapeTerm& part) { return ReadsElement(part); });
}
bool ReadsElement(const ShapeNode& node) {
  return node.form == Form::Judge ||
         std::ranges::any_of(node.terms,
                             [](const ShapeTerm& term) { return ReadsElement(term); }) ||
         std::ranges::any_of(node.parts, [](const ShapeNode& part) { return ReadsElement(part); });
}

// ---- Taking apart -------------------------------------------------------------------------------

class Shaper {
 public:
  explicit Shaper(const Tables& tables) : t_(tables) {}

  ShapedTables Run() &&;

 private:
  struct Both {
    ShapedCondition whole;
    ShapedCondition keyed;
  };
  Both Conditions(std::uint32_t node, std::uint32_t implied);
  Both Compiled(std::uint32_t node, std::uint32_t implied);
  ShapedCondition Condition(std::uint32_t node) { return Conditions(node, module::NoIndex).whole; }
  ShapedEntry Entry(std::uint32_t entry);
  [[nodiscard]] ShapedEntry InterpretedEntry(std::uint32_t entry) const;
  std::uint32_t Intern(const Part& part);
  static void PutNodeFirst(Part& part);

  Part Describe(std::uint32_t index);
  // Where the part of one child stands, and how many words it has.
  struct Place {
    std::size_t part = ~std::size_t{0};
    std::uint32_t words = 0;
  };
  Part DescribeJunction(Form form, std::span<const std::uint32_t> nodes,
                        std::uint32_t looked_for = module::NoIndex, Place* found = nullptr);
  void MergeEnds(std::vector<Part>& children);
  std::uint64_t PutEnds(const std::vector<std::uint64_t>& ends);
  ShapedCondition GuardOf(const std::vector<std::uint32_t>& conditions);
  ShapedGuards Guard(std::size_t block);
  bool Lasts(std::uint32_t condition, schema::Action action);
  bool ReadsOnlyLasting(const ShapeNode& node, schema::Action action) const;
  Part DescribeEqual(const NodeRecord& node);
  Part DescribeTexts(const NodeRecord& node);
  [[nodiscard]] bool IsShortText(std::uint32_t text) const {
    return t_.texts[text].size <= native::ShortTextBytesMax;
  }
  [[nodiscard]] std::uint64_t ShortWord(std::uint32_t text) const {
    const std::string_view bytes = t_.TextOf(text);
    return native::PackShortText(bytes.data(), bytes.size());
  }
  Part DescribeMembership(const NodeRecord& node);
  Part DescribePaths(const NodeRecord& node);
  ShapeTerm Term(std::uint32_t index, std::vector<std::uint64_t>& words);
  std::uint64_t TextWord(std::uint32_t text) const {
    return RangeWord(t_.texts[text].offset, t_.texts[text].size);
  }
  std::uint64_t Blocks(std::uint32_t first, std::uint32_t count);
  std::uint32_t PutWords(const std::vector<std::uint64_t>& words);

  static void Add(Part& whole, Part part) {
    MoveWords(part.node, static_cast<std::uint32_t>(whole.words.size()));
    whole.words.insert(whole.words.end(), part.words.begin(), part.words.end());
    whole.nodes += part.nodes;
    if (whole.nodes > ConditionNodesMax) throw TooLarge{};
    whole.node.parts.push_back(std::move(part.node));
  }

  const Tables& t_;
  ShapedTables made_;
  std::size_t described_ = 0;
  std::size_t guard_nodes_ = 0;
  std::unordered_map<std::string, std::uint32_t> shapes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Both> conditions_;  // by node, and the implied
  std::vector<std::uint32_t> implied_;                                  // by entry
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> blocks_;
};

// Appends words to those of the image.
std::uint32_t Shaper::PutWords(const std::vector<std::uint64_t>& words) {
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

// What begins with a mark (`.git`, `_private`) is mostly seen to be absent at once.
std::uint64_t Shaper::PutEnds(const std::vector<std::uint64_t>& ends) {
  char mark = 0;
  for (const std::uint64_t end : ends) {
    const char first = t_.data[native::RangeOf(end).first + 1];
    const bool is_mark = (first < '0' || first > '9') && (first < 'A' || first > 'Z') &&
                         (first < 'a' || first > 'z') && first != '*';
    if (!is_mark || (mark != 0 && mark != first)) {
      mark = 0;
      break;
    }
    mark = first;
  }
  std::vector<std::uint64_t> words = {static_cast<std::uint8_t>(mark)};
  words.insert(words.end(), ends.begin(), ends.end());
  return RangeWord(PutWords(words) + 1, static_cast<std::uint32_t>(ends.size()));
}

// Neighbours that ask how the same path ends are asked at once.
void Shaper::MergeEnds(std::vector<Part>& children) {
  std::vector<Part> merged;
  std::vector<std::uint64_t> ends;
  for (Part& child : children) {
    const bool goes_on = !merged.empty() && child.node.form == Form::PathEndsIn &&
                         merged.back().node.form == Form::PathEndsIn &&
                         KeyOf(child.node) == KeyOf(merged.back().node);
    if (!goes_on) {
      ends.clear();
      merged.push_back(std::move(child));
      continue;
    }
    if (ends.empty()) ends.push_back(made_.words[native::RangeOf(merged.back().words[0]).first]);
    ends.push_back(made_.words[native::RangeOf(child.words[0]).first]);
    merged.back().words[0] = PutEnds(ends);
  }
  children = std::move(merged);
}

Part Shaper::DescribeJunction(Form form, std::span<const std::uint32_t> nodes,
                              std::uint32_t looked_for, Place* found) {
  std::vector<Part> children;
  std::size_t place = ~std::size_t{0};
  for (const std::uint32_t child : nodes) {
    if (child == looked_for) place = children.size();
    children.push_back(Describe(child));
    children.back().of = child;
  }
  if (form == Form::Or) MergeEnds(children);
  std::vector<std::string> keys;
  for (const Part& child : children) keys.push_back(KeyOf(child.node));
  Part part;
  part.node.form = form;
  for (std::size_t i = 0; i < children.size();) {
    std::size_t end = i + 1;
    while (end < children.size() && keys[end] == keys[i]) ++end;
    if (end - i < kRunMin || ReadsElement(children[i].node)) {
      end = i + 1;
      if (i == place && found != nullptr) {
        *found = {part.node.parts.size(), static_cast<std::uint32_t>(children[i].words.size())};
      }
      Add(part, std::move(children[i++]));
      continue;
    }
    std::vector<std::uint64_t> words;
    for (std::size_t child = i; child < end; ++child) {
      PutNodeFirst(children[child]);
      words.insert(words.end(), children[child].words.begin(), children[child].words.end());
    }
    Part run;
    run.node.form = Form::Run;
    run.node.shape = Intern(children[i]);
    run.words.push_back(RangeWord(PutWords(words), static_cast<std::uint32_t>(end - i)));
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
  const bool is_text = items.value == ValueClass::TextItems;
  const auto texts = t_.text_items.subspan(is_text ? items.a : 0, is_text ? items.b : 0);
  const bool is_short =
      is_text && std::ranges::all_of(texts, [&](std::uint32_t text) { return IsShortText(text); });
  part.node.form = is_short ? Form::InFewShort : Form::InFew;
  part.node.mode = items.b;
  part.node.word = static_cast<std::uint32_t>(part.words.size());
  for (std::uint32_t i = items.a; i < items.a + items.b; ++i) {
    part.words.push_back(!is_text   ? static_cast<std::uint64_t>(t_.integers[i])
                         : is_short ? ShortWord(t_.text_items[i])
                                    : TextWord(t_.text_items[i]));
  }
  return part;
}

// A short constant is a word.
Part Shaper::DescribeEqual(const NodeRecord& node) {
  Part part;
  for (const auto& [fact, text] : {std::pair{node.a, node.b}, std::pair{node.b, node.a}}) {
    const TermRecord& constant = t_.terms[text];
    const TermKind kind = t_.terms[fact].kind;
    const bool is_fact = kind == TermKind::Slot || kind == TermKind::Element;
    if (!is_fact || constant.kind != TermKind::Text || !IsShortText(constant.a)) continue;
    part.node.form = Form::InFewShort;
    part.node.mode = 1;
    part.node.terms.push_back(Term(fact, part.words));
    part.node.word = static_cast<std::uint32_t>(part.words.size());
    part.words.push_back(ShortWord(constant.a));
    return part;
  }
  part.node.form = Form::Compare;
  part.node.op = node.op;
  part.node.terms.push_back(Term(node.a, part.words));
  part.node.terms.push_back(Term(node.b, part.words));
  return part;
}

// A glob that asks for a text anywhere is a search for it.
Part Shaper::DescribeTexts(const NodeRecord& node) {
  Part part;
  part.node.form = Form::TextMatches;
  part.node.terms.push_back(Term(node.a, part.words));
  part.node.word = static_cast<std::uint32_t>(part.words.size());
  part.words.push_back(RangeWord(node.b, node.c));
  if (node.c != 1) return part;
  const std::uint32_t text = t_.patterns[node.b].text;
  const std::string_view glob = t_.TextOf(text);
  const bool is_search = glob.size() > 2 && glob.starts_with('*') && glob.ends_with('*') &&
                         glob.substr(1, glob.size() - 2).find_first_of("*\\") == glob.npos;
  if (!is_search) return part;
  part.node.form = Form::TextContains;
  part.words.back() =
      RangeWord(t_.texts[text].offset + 1, static_cast<std::uint32_t>(glob.size()) - 2);
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
    const std::uint64_t end = RangeWord(offset + static_cast<std::uint32_t>(kBelow.size()),
                                        static_cast<std::uint32_t>(glob.size() - kBelow.size()));
    part.words.back() = PutEnds({end});
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
      return DescribeEqual(node);
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
      return DescribeTexts(node);
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
std::array<std::uint64_t, native::FirstByteWords> FirstBytesOf(
    const std::vector<Interval>& intervals) {
  std::array<std::uint64_t, native::FirstByteWords> bits{};
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
  const auto first_bytes = FirstBytesOf(apart);
  std::vector<std::uint64_t> words(first_bytes.begin(), first_bytes.end());
  for (const Interval& interval : apart) {
    words.insert(words.end(), {interval.first.first, interval.first.second, interval.last.first,
                               interval.last.second});
  }
  place->second = RangeWord(PutWords(words) + static_cast<std::uint32_t>(first_bytes.size()),
                            static_cast<std::uint32_t>(apart.size()));
  return place->second;
}

// ---- The whole ----------------------------------------------------------------------------------

void Shaper::PutNodeFirst(Part& part) {
  MoveWords(part.node, 1);
  part.words.insert(part.words.begin(), part.of);
}

std::uint32_t Shaper::Intern(const Part& part) {
  const auto [place, is_new] =
      shapes_.try_emplace(KeyOf(part.node) + (part.of != module::NoIndex ? "n" : "g"),
                          static_cast<std::uint32_t>(made_.shapes.size()));
  if (is_new) {
    if (made_.nodes + part.nodes > ShapeNodesMax) throw TooLarge{};
    made_.nodes += part.nodes;
    made_.shapes.push_back(
        {part.node, static_cast<std::uint32_t>(part.words.size()), part.of != module::NoIndex});
  }
  return place->second;
}

// Of a condition, and of what is left of it where its child `implied` is known to hold; both read
// the same words.
Shaper::Both Shaper::Compiled(std::uint32_t node, std::uint32_t implied) {
  Both both;
  if (node == implied) {
    both = {Condition(node), {}};
  } else if (implied != module::NoIndex && t_.nodes[node].op == NodeOp::And) {
    if (++described_ > kDescribedMax) throw TooLarge{};
    Place part_of_key;
    Part part = DescribeJunction(Form::And, t_.children.subspan(t_.nodes[node].a, t_.nodes[node].b),
                                 implied, &part_of_key);
    part.of = node;
    PutNodeFirst(part);
    both.whole = {Intern(part), PutWords(part.words)};
    both.keyed = both.whole;
    if (part_of_key.part < part.node.parts.size()) {
      ShapeNode holds;
      holds.mode = 1;
      holds.shape = part_of_key.words;
      part.node.parts[part_of_key.part] = holds;
      both.keyed.shape = Intern(part);
    }
  } else {
    Part part = Describe(node);
    part.of = node;
    PutNodeFirst(part);
    both.whole = {Intern(part), PutWords(part.words)};
    both.keyed = both.whole;
  }
  return both;
}

Shaper::Both Shaper::Conditions(std::uint32_t node, std::uint32_t implied) {
  if (node == module::NoIndex) return {};
  const auto place = conditions_.find({node, implied});
  if (place != conditions_.end()) return place->second;
  Both both;
  try {
    both = Compiled(node, implied);
  } catch (const TooLarge&) {
    both.whole = both.keyed = {ShapedCondition::Interpreted, node};
  }
  conditions_.emplace(std::pair{node, implied}, both);
  return both;
}

ShapedEntry Shaper::Entry(std::uint32_t entry) {
  const auto [whole, keyed] = Conditions(t_.entries[entry].condition, implied_[entry]);
  return {whole, keyed, Condition(t_.entries[entry].within)};
}

ShapedEntry Shaper::InterpretedEntry(std::uint32_t entry) const {
  const auto interpreted = [](std::uint32_t node) -> ShapedCondition {
    if (node == module::NoIndex) return {};
    return {ShapedCondition::Interpreted, node};
  };
  const module::EntryRecord& record = t_.entries[entry];
  return {interpreted(record.condition), interpreted(record.condition), interpreted(record.within)};
}

// Their `or`.
ShapedCondition Shaper::GuardOf(const std::vector<std::uint32_t>& conditions) {
  if (conditions.empty()) return {ShapedCondition::Never, 0};
  const bool denies_always =
      std::find(conditions.begin(), conditions.end(), module::NoIndex) != conditions.end();
  if (denies_always) return {};
  try {
    const Part part = DescribeJunction(Form::Or, conditions);
    if (part.nodes > GuardNodesEachMax) return {};
    guard_nodes_ += part.nodes;
    if (guard_nodes_ > GuardNodesMax) return {};
    return {Intern(part), PutWords(part.words)};
  } catch (const TooLarge&) {
    return {};  // they are looked at one by one
  }
}

bool Shaper::ReadsOnlyLasting(const ShapeNode& node, schema::Action action) const {
  if (node.form == Form::Judge) return false;
  if (node.form == Form::Run) return ReadsOnlyLasting(made_.shapes[node.shape].root, action);
  const auto lasts = [&](const auto& self, const ShapeTerm& term) -> bool {
    if (term.kind == TermKind::Slot && !schema::LastsWithSandbox(action, term.slot)) return false;
    return std::ranges::all_of(term.parts, [&](const ShapeTerm& part) { return self(self, part); });
  };
  return std::ranges::all_of(node.terms,
                             [&](const ShapeTerm& term) { return lasts(lasts, term); }) &&
         std::ranges::all_of(node.parts,
                             [&](const ShapeNode& part) { return ReadsOnlyLasting(part, action); });
}

bool Shaper::Lasts(std::uint32_t condition, schema::Action action) {
  if (condition == module::NoIndex) return false;
  try {
    return ReadsOnlyLasting(Describe(condition).node, action);
  } catch (const TooLarge&) {
    return false;
  }
}

ShapedGuards Shaper::Guard(std::size_t block) {
  const auto action = static_cast<schema::Action>(block % schema::ActionCount);
  const std::size_t set = module::SetBlock(t_.classes.size(), action);
  const auto add = [&](std::vector<std::uint32_t>& conditions, module::Range range) {
    for (const auto& entry : t_.entries.subspan(range.first, range.count)) {
      conditions.push_back(entry.condition);
    }
  };
  const auto add_denials = [&](std::vector<std::uint32_t>& conditions, std::size_t of) {
    const std::uint32_t index = t_.block_indexes[of];
    if (index == module::NoIndex) return add(conditions, t_.blocks[of].denials);
    const module::Range others = t_.indexes[index].unkeyed;
    for (const std::uint32_t entry : t_.unkeyed.subspan(others.first, others.count)) {
      conditions.push_back(t_.entries[entry].condition);
    }
  };
  std::vector<std::uint32_t> before;
  std::vector<std::uint32_t> behind;
  add(before, t_.blocks[block].checks);
  if (block == set) return {GuardOf(before), {}, {}};
  if (t_.blocks[block].defaults.count == 0) {
    add(before, t_.blocks[set].checks);
    behind = std::exchange(before, {});
  }
  for (const std::size_t of : {set, block}) {
    add_denials(behind, of);
    add(behind, t_.blocks[of].trials);
  }
  std::vector<std::uint32_t> lasting;
  std::vector<std::uint32_t> varying;
  for (const std::uint32_t condition : behind) {
    (Lasts(condition, action) ? lasting : varying).push_back(condition);
  }
  return {GuardOf(before), GuardOf(lasting), GuardOf(varying)};
}

ShapedTables Shaper::Run() && {
  implied_ = module::DeriveIndex(t_).implied;
  made_.entries.resize(t_.entries.size());
  // Only what is asked often is worth the time that compiling takes.
  const auto is_often = [](std::size_t block) {
    const auto action = static_cast<schema::Action>(block % schema::ActionCount);
    return action == schema::Action::Egress || action == schema::Action::Create ||
           action == schema::Action::Exec;
  };
  // Entries that no block reaches were not proven.
  for (std::size_t place = 0; place < t_.blocks.size(); ++place) {
    const auto shape = [&](module::Range range) {
      for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
        made_.entries[i] = is_often(place) ? Entry(i) : InterpretedEntry(i);
      }
    };
    const module::BlockRecord& block = t_.blocks[place];
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
    made_.guards.push_back(is_often(block) ? Guard(block) : ShapedGuards());
  }
  return std::move(made_);
}

}  // namespace

ShapedTables TakeShapes(const Tables& tables) { return Shaper(tables).Run(); }

}  // namespace curfew::codegen
