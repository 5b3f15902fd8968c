#include "compiler/base/check.h"
#include "compiler/codegen/shaper.h"
#include "compiler/values/host.h"
#include "compiler/values/path.h"

#include <algorithm>

namespace curfew::codegen {

using module::NodeOp;
using module::NodeRecord;
using module::TermKind;
using module::TermRecord;
using module::ValueClass;
using native::RangeWord;

namespace {

// Alike conditions that stand together are run in a loop from this many on.
constexpr std::size_t kRunMin = 4;
// A list of this many constants is compared one by one, without a search.
constexpr std::uint32_t kFewMax = 8;
constexpr auto kOneLabel = static_cast<std::uint32_t>(values::HostReach::OneLabel);

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

}  // namespace

std::string KeyOf(const ShapeNode& node) {
  std::string key;
  AppendKey(key, node);
  return key;
}

namespace {

void MoveWords(ShapeTerm& term, std::uint32_t by) {
  term.word += by;
  for (ShapeTerm& part : term.parts) MoveWords(part, by);
}
}  // namespace

void MoveWords(ShapeNode& node, std::uint32_t by) {
  node.word += by;
  for (ShapeTerm& term : node.terms) MoveWords(term, by);
  for (ShapeNode& part : node.parts) MoveWords(part, by);
}

namespace {

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

}  // namespace

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

namespace {

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

}  // namespace

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
  if (++described_ > DescribedMax) throw TooLarge{};
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

}  // namespace curfew::codegen
