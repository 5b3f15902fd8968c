#include "compiler/prove/box.h"

#include "compiler/values/path.h"

#include <algorithm>
#include <cstring>

namespace curfew::prove {
namespace {

using module::NodeOp;
using module::NodeRecord;
using module::TermKind;
using module::TermRecord;
using module::ValueClass;

// Past this many pairs looking is dearer than asking.
constexpr std::size_t kPairsMost = 4096;

template <typename T, typename Meets>
std::vector<T> ThoseThatMeet(const std::vector<T>& a, const std::vector<T>& b, Meets meets) {
  if (a.size() * b.size() > kPairsMost) return a;
  std::vector<T> kept;
  for (const T& one : a) {
    if (std::any_of(b.begin(), b.end(), [&](const T& other) { return meets(one, other); })) {
      kept.push_back(one);
    }
  }
  return kept;
}

template <typename T, typename Meets>
bool SomeMeet(const std::vector<T>& a, const std::vector<T>& b, Meets meets) {
  if (a.size() * b.size() > kPairsMost) return true;
  return !ThoseThatMeet(a, b, meets).empty();
}

template <typename T, typename Covers>
bool AllCovered(const std::vector<T>& inner, const std::vector<T>& outer, Covers covers) {
  if (inner.size() * outer.size() > kPairsMost) return false;
  return std::all_of(inner.begin(), inner.end(), [&](const T& one) {
    return std::any_of(outer.begin(), outer.end(),
                       [&](const T& other) { return covers(other, one); });
  });
}

bool HostsMeet(const values::HostPattern& a, const values::HostPattern& b) {
  return values::Meet(a, b);
}
bool BlocksMeet(const values::Cidr& a, const values::Cidr& b) { return values::Meet(a, b); }

}  // namespace

std::optional<FactId> Box::FactOf(Side side, std::uint32_t term) const {
  const TermRecord& record = space_.tables(side).terms[term];
  if (record.kind != TermKind::Slot) return std::nullopt;
  const auto fact = space_.FactAt(side, record.slot);
  // What a left-out wish is differs from block to block.
  return fact && space_.fact(*fact).origin != schema::Origin::Wish ? fact : std::nullopt;
}

std::vector<values::HostPattern> Box::HostsOf(Side side, const NodeRecord& node) const {
  const module::Tables& t = space_.tables(side);
  std::vector<values::HostPattern> hosts;
  for (const module::PatternRecord& pattern : t.patterns.subspan(node.b, node.c)) {
    hosts.push_back(
        {static_cast<values::HostReach>(pattern.mode), std::string(t.TextOf(pattern.text))});
  }
  return hosts;
}

std::vector<values::Cidr> Box::BlocksOf(Side side, const NodeRecord& node) const {
  std::vector<values::Cidr> blocks;
  for (const module::BlockOfAddresses& record :
       space_.tables(side).addresses.subspan(node.b, node.c)) {
    values::Cidr block;
    std::memcpy(block.base.bytes.data(), record.base, sizeof(record.base));
    block.prefix = static_cast<std::uint8_t>(record.prefix);
    blocks.push_back(block);
  }
  return blocks;
}

// ---- Narrowing ----------------------------------------------------------------------------------

void Box::NarrowUnlessFalse(Side side, std::uint32_t index) {
  may_lack_ = true;
  Narrow(side, index);
  may_lack_ = false;
  there_.clear();
}

std::optional<FactId> Box::BoundBy(Side side, std::uint32_t term) const {
  const auto fact = FactOf(side, term);
  if (!fact || !may_lack_) return fact;
  const bool is_there = !space_.fact(*fact).may_be_absent || there_.contains(*fact);
  return is_there ? fact : std::nullopt;
}

void Box::Narrow(Side side, std::uint32_t index) {
  if (index == module::NoIndex || is_empty_) return;
  const module::Tables& t = space_.tables(side);
  const NodeRecord& node = t.nodes[index];
  if (node.op == NodeOp::And) {
    for (const std::uint32_t child : t.children.subspan(node.a, node.b)) {
      if (t.nodes[child].op != NodeOp::Has) continue;
      const auto fact = space_.FactAt(side, static_cast<schema::Slot>(t.nodes[child].a));
      if (fact) there_.insert(*fact);
    }
    for (const std::uint32_t child : t.children.subspan(node.a, node.b)) Narrow(side, child);
    return;
  }
  if (node.op != NodeOp::Or) return NarrowLeaf(side, node);
  std::optional<Bounds> joined;
  constexpr std::uint32_t kPartsMost = 64;
  if (node.b > kPartsMost) return;
  for (const std::uint32_t child : t.children.subspan(node.a, node.b)) {
    Box part(space_);
    part.may_lack_ = may_lack_;
    part.there_ = there_;
    part.Narrow(side, child);
    if (part.is_empty_) continue;
    joined = joined ? Join(*joined, part.bounds_) : part.bounds_;
  }
  if (joined) Meet(*joined);
}

void Box::NarrowLeaf(Side side, const NodeRecord& node) {
  if (node.op == NodeOp::False) is_empty_ = true;
  const module::Tables& t = space_.tables(side);
  Bounds bounds;
  switch (node.op) {
    case NodeOp::Equal:
    case NodeOp::Less:
    case NodeOp::LessEqual:
    case NodeOp::Greater:
    case NodeOp::GreaterEqual:
      if (const auto fact = BoundBy(side, node.a)) NarrowByComparison(side, node, *fact);
      return;
    case NodeOp::In:
      if (const auto fact = BoundBy(side, node.a)) NarrowByMembership(side, node, *fact);
      return;
    case NodeOp::HostIn:
      if (const auto fact = BoundBy(side, node.a)) bounds.hosts[*fact] = HostsOf(side, node);
      break;
    case NodeOp::AddressIn:
      if (const auto fact = BoundBy(side, node.a)) bounds.blocks[*fact] = BlocksOf(side, node);
      break;
    case NodeOp::PathIn:
      if (const auto fact = BoundBy(side, node.a)) {
        for (const module::PatternRecord& pattern : t.patterns.subspan(node.b, node.c)) {
          // What is read widely meets more than a glob says.
          if (static_cast<values::Reading>(pattern.mode) == values::Reading::Wide) return;
          bounds.paths[*fact].emplace_back(t.TextOf(pattern.text));
        }
      }
      break;
    case NodeOp::False:
    case NodeOp::True:
    case NodeOp::Not:
    case NodeOp::And:
    case NodeOp::Or:
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
    case NodeOp::Has:
    case NodeOp::NotEqual:
    case NodeOp::SubsetOf:
    case NodeOp::Intersects:
    case NodeOp::SameItems:
    case NodeOp::Starts:
    case NodeOp::TextIn:
    case NodeOp::AddressInItems:
    case NodeOp::QueryIn:
      return;
  }
  Meet(bounds);
}

void Box::NarrowByComparison(Side side, const NodeRecord& node, FactId fact) {
  const module::Tables& t = space_.tables(side);
  const TermRecord& other = t.terms[node.b];
  Bounds bounds;
  if (other.kind == TermKind::Text && node.op == NodeOp::Equal) {
    bounds.texts[fact] = {std::string(t.TextOf(other.a))};
  } else if (other.kind == TermKind::Integer) {
    const std::int64_t number = t.integers[other.a];
    Interval interval{INT64_MIN, INT64_MAX};
    if (node.op == NodeOp::Equal) interval = {number, number};
    if (node.op == NodeOp::LessEqual) interval.most = number;
    if (node.op == NodeOp::GreaterEqual) interval.least = number;
    if (node.op == NodeOp::Less && number > INT64_MIN) interval.most = number - 1;
    if (node.op == NodeOp::Greater && number < INT64_MAX) interval.least = number + 1;
    bounds.numbers[fact] = interval;
  }
  Meet(bounds);
}

void Box::NarrowByMembership(Side side, const NodeRecord& node, FactId fact) {
  const module::Tables& t = space_.tables(side);
  const TermRecord& items = t.terms[node.b];
  Bounds bounds;
  if (items.kind == TermKind::TextSet) {
    for (const auto text : t.text_items.subspan(items.a, items.b)) {
      bounds.texts[fact].emplace(t.TextOf(text));
    }
  } else if (items.kind == TermKind::IntegerSet && items.b > 0) {
    const auto numbers = t.integers.subspan(items.a, items.b);
    bounds.numbers[fact] = {numbers.front(), numbers.back()};
  }
  Meet(bounds);
}

void Box::Meet(const Bounds& other) {
  for (const auto& [fact, interval] : other.numbers) {
    const auto [place, is_new] = bounds_.numbers.emplace(fact, interval);
    if (is_new) continue;
    place->second.least = std::max(place->second.least, interval.least);
    place->second.most = std::min(place->second.most, interval.most);
    is_empty_ = is_empty_ || place->second.least > place->second.most;
  }
  for (const auto& [fact, texts] : other.texts) {
    const auto [place, is_new] = bounds_.texts.emplace(fact, texts);
    if (is_new) continue;
    std::erase_if(place->second, [&](const std::string& text) { return !texts.contains(text); });
    is_empty_ = is_empty_ || place->second.empty();
  }
  for (const auto& [fact, hosts] : other.hosts) {
    const auto [place, is_new] = bounds_.hosts.emplace(fact, hosts);
    if (is_new) continue;
    place->second = ThoseThatMeet(place->second, hosts, HostsMeet);
    is_empty_ = is_empty_ || place->second.empty();
  }
  for (const auto& [fact, blocks] : other.blocks) {
    const auto [place, is_new] = bounds_.blocks.emplace(fact, blocks);
    if (is_new) continue;
    place->second = ThoseThatMeet(place->second, blocks, BlocksMeet);
    is_empty_ = is_empty_ || place->second.empty();
  }
  for (const auto& [fact, paths] : other.paths) {
    const auto [place, is_new] = bounds_.paths.emplace(fact, paths);
    if (is_new) continue;
    place->second = ThoseThatMeet(place->second, paths, [](const auto& a, const auto& b) {
      return values::Meet(values::PathGlob{a}, values::PathGlob{b});
    });
    is_empty_ = is_empty_ || place->second.empty();
  }
}

// What is bounded on both sides.
Box::Bounds Box::Join(const Bounds& a, const Bounds& b) {
  Bounds joined;
  for (const auto& [fact, interval] : a.numbers) {
    const auto other = b.numbers.find(fact);
    if (other == b.numbers.end()) continue;
    joined.numbers[fact] = {std::min(interval.least, other->second.least),
                            std::max(interval.most, other->second.most)};
  }
  const auto unite = [](const auto& one, const auto& other, auto& into) {
    for (const auto& [fact, values] : one) {
      const auto found = other.find(fact);
      if (found == other.end()) continue;
      auto all = values;
      all.insert(all.end(), found->second.begin(), found->second.end());
      into[fact] = std::move(all);
    }
  };
  unite(a.hosts, b.hosts, joined.hosts);
  unite(a.blocks, b.blocks, joined.blocks);
  unite(a.paths, b.paths, joined.paths);
  for (const auto& [fact, texts] : a.texts) {
    const auto other = b.texts.find(fact);
    if (other == b.texts.end()) continue;
    joined.texts[fact] = texts;
    joined.texts[fact].insert(other->second.begin(), other->second.end());
  }
  return joined;
}

// ---- Judging ------------------------------------------------------------------------------------

bool Box::MayBeTrue(Side side, std::uint32_t index) const {
  if (index == module::NoIndex) return true;
  const module::Tables& t = space_.tables(side);
  const NodeRecord& node = t.nodes[index];
  const auto may = [&](std::uint32_t child) { return MayBeTrue(side, child); };
  const auto children = [&] { return t.children.subspan(node.a, node.b); };
  switch (node.op) {
    case NodeOp::False:
      return false;
    case NodeOp::Not:
      return MayBeFalse(side, node.a);
    case NodeOp::And:
      return std::ranges::all_of(children(), may);
    case NodeOp::Or:
      return std::ranges::any_of(children(), may);
    case NodeOp::True:
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
    case NodeOp::Has:
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
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::AddressIn:
    case NodeOp::AddressInItems:
    case NodeOp::QueryIn:
      return LeafMayBe(side, node, true);
  }
  CURFEW_UNREACHABLE("the switch names every operator");
}

bool Box::MayBeFalse(Side side, std::uint32_t index) const {
  if (index == module::NoIndex) return false;
  const module::Tables& t = space_.tables(side);
  const NodeRecord& node = t.nodes[index];
  const auto may = [&](std::uint32_t child) { return MayBeFalse(side, child); };
  const auto children = [&] { return t.children.subspan(node.a, node.b); };
  switch (node.op) {
    case NodeOp::True:
      return false;
    case NodeOp::Not:
      return MayBeTrue(side, node.a);
    case NodeOp::And:
      return std::ranges::any_of(children(), may);
    case NodeOp::Or:
      return std::ranges::all_of(children(), may);
    case NodeOp::False:
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
    case NodeOp::Has:
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
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::AddressIn:
    case NodeOp::AddressInItems:
    case NodeOp::QueryIn:
      return LeafMayBe(side, node, false);
  }
  CURFEW_UNREACHABLE("the switch names every operator");
}

bool Box::LeafMayBe(Side side, const NodeRecord& node, bool value) const {
  switch (node.op) {
    case NodeOp::HostIn:
    case NodeOp::AddressIn:
    case NodeOp::PathIn:
    case NodeOp::Equal:
    case NodeOp::NotEqual:
    case NodeOp::Less:
    case NodeOp::LessEqual:
    case NodeOp::Greater:
    case NodeOp::GreaterEqual:
    case NodeOp::In:
      break;
    case NodeOp::False:
    case NodeOp::True:
    case NodeOp::Not:
    case NodeOp::And:
    case NodeOp::Or:
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
    case NodeOp::Has:
    case NodeOp::SubsetOf:
    case NodeOp::Intersects:
    case NodeOp::SameItems:
    case NodeOp::Starts:
    case NodeOp::TextIn:
    case NodeOp::AddressInItems:
    case NodeOp::QueryIn:
      return true;
  }
  const auto fact = FactOf(side, node.a);
  if (!fact) return true;
  if (node.op == NodeOp::HostIn) {
    const auto bound = bounds_.hosts.find(*fact);
    if (bound == bounds_.hosts.end()) return true;
    const auto hosts = HostsOf(side, node);
    if (value) return SomeMeet(bound->second, hosts, HostsMeet);
    return !AllCovered(bound->second, hosts,
                       [](const auto& a, const auto& b) { return values::Covers(a, b); });
  }
  if (node.op == NodeOp::AddressIn) {
    const auto bound = bounds_.blocks.find(*fact);
    if (bound == bounds_.blocks.end()) return true;
    const auto blocks = BlocksOf(side, node);
    if (value) return SomeMeet(bound->second, blocks, BlocksMeet);
    return !AllCovered(bound->second, blocks,
                       [](const auto& a, const auto& b) { return values::Covers(a, b); });
  }
  if (node.op == NodeOp::PathIn) {
    const auto bound = bounds_.paths.find(*fact);
    if (bound == bounds_.paths.end() || !value) return true;
    const module::Tables& t = space_.tables(side);
    std::vector<std::string> globs;
    for (const module::PatternRecord& pattern : t.patterns.subspan(node.b, node.c)) {
      if (static_cast<values::Reading>(pattern.mode) == values::Reading::Wide) return true;
      globs.emplace_back(t.TextOf(pattern.text));
    }
    return SomeMeet(bound->second, globs, [](const auto& a, const auto& b) {
      return values::Meet(values::PathGlob{a}, values::PathGlob{b});
    });
  }
  if (space_.fact(*fact).is_number()) return NumberMayBe(side, node, *fact, value);
  return TextMayBe(side, node, *fact, value);
}

bool Box::NumberMayBe(Side side, const NodeRecord& node, FactId fact, bool value) const {
  const module::Tables& t = space_.tables(side);
  const auto bound = bounds_.numbers.find(fact);
  if (bound == bounds_.numbers.end()) return true;
  const auto [least, most] = bound->second;
  const TermRecord& other = t.terms[node.b];
  if (node.op == NodeOp::In) {
    if (other.kind != TermKind::IntegerSet) return true;
    const auto numbers = t.integers.subspan(other.a, other.b);
    const auto first = std::ranges::lower_bound(numbers, least);
    const bool some = first != numbers.end() && *first <= most;
    return value ? some : least != most || !some;
  }
  if (other.kind != TermKind::Integer) return true;
  const std::int64_t number = t.integers[other.a];
  const bool is_one = least == most && least == number;
  const bool has_it = least <= number && number <= most;
  switch (node.op) {
    case NodeOp::Equal:
      return value ? has_it : !is_one;
    case NodeOp::NotEqual:
      return value ? !is_one : has_it;
    case NodeOp::Less:
      return value ? least < number : most >= number;
    case NodeOp::LessEqual:
      return value ? least <= number : most > number;
    case NodeOp::Greater:
      return value ? most > number : least <= number;
    case NodeOp::GreaterEqual:
      return value ? most >= number : least < number;
    case NodeOp::False:
    case NodeOp::True:
    case NodeOp::Not:
    case NodeOp::And:
    case NodeOp::Or:
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
    case NodeOp::Has:
    case NodeOp::In:
    case NodeOp::SubsetOf:
    case NodeOp::Intersects:
    case NodeOp::SameItems:
    case NodeOp::Starts:
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::AddressIn:
    case NodeOp::AddressInItems:
    case NodeOp::QueryIn:
      return true;
  }
  CURFEW_UNREACHABLE("the switch names every operator");
}

bool Box::TextMayBe(Side side, const NodeRecord& node, FactId fact, bool value) const {
  const module::Tables& t = space_.tables(side);
  const auto bound = bounds_.texts.find(fact);
  if (bound == bounds_.texts.end()) return true;
  const std::set<std::string>& texts = bound->second;
  const TermRecord& other = t.terms[node.b];
  if (other.kind == TermKind::Text && (node.op == NodeOp::Equal || node.op == NodeOp::NotEqual)) {
    const bool has_it = texts.contains(std::string(t.TextOf(other.a)));
    const bool equal = (node.op == NodeOp::Equal) == value;
    return equal ? has_it : texts.size() > 1 || !has_it;
  }
  if (node.op != NodeOp::In || other.kind != TermKind::TextSet || other.b > 64) return true;
  std::size_t shared = 0;
  for (const std::uint32_t text : t.text_items.subspan(other.a, other.b)) {
    shared += texts.contains(std::string(t.TextOf(text))) ? 1 : 0;
  }
  return value ? shared > 0 : shared < texts.size();
}

}  // namespace curfew::prove
