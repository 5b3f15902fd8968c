#include "compiler/module/guards.h"

#include "compiler/module/entry_index.h"
#include "compiler/module/mark.h"
#include "compiler/values/host.h"
#include "compiler/values/path.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

namespace curfew::module {
namespace {

constexpr auto kExact = static_cast<std::uint32_t>(values::HostReach::Exact);
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
// Lowered conditions are flat; deeper ones have no keys.
constexpr std::size_t kDepthMax = 8;
// Any range of ports has at most thirty blocks.
constexpr std::size_t kBlocksMax = 64;
constexpr std::uint32_t kSegmentsMax = 32;

std::uint32_t LabelsOf(std::string_view name) {
  return static_cast<std::uint32_t>(std::count(name.begin(), name.end(), '.')) + 1;
}

// The segments that a glob begins with and that stand for themselves: without a star or an escape
// of either kind.
struct Literal {
  std::size_t bytes = 0;
  std::uint32_t segments = 0;
};
Literal LiteralOf(std::string_view glob) {
  Literal literal;
  while (literal.segments < kSegmentsMax && literal.bytes < glob.size()) {
    const std::size_t end = std::min(glob.find('/', literal.bytes + 1), glob.size());
    const std::string_view segment = glob.substr(literal.bytes, end - literal.bytes);
    if (segment.find_first_of("*\\%") != segment.npos) break;
    literal = {end, literal.segments + 1};
  }
  return literal;
}

// In order, and none beside another.
void Join(std::vector<Interval>& intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::vector<Interval> joined;
  for (const Interval& interval : intervals) {
    if (!joined.empty() &&
        (joined.back().last == kMost || interval.first <= joined.back().last + 1)) {
      joined.back().last = std::max(joined.back().last, interval.last);
    } else {
      joined.push_back(interval);
    }
  }
  intervals = std::move(joined);
}

// What is in both, which are joined.
std::vector<Interval> Common(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> common;
  for (auto left = a.begin(), right = b.begin(); left != a.end() && right != b.end();) {
    const Interval both{std::max(left->first, right->first), std::min(left->last, right->last)};
    if (both.first <= both.last) common.push_back(both);
    left->last < right->last ? ++left : ++right;
  }
  return common;
}

// The operator with its operands in the other order.
NodeOp Turned(NodeOp op) {
  switch (op) {
    case NodeOp::Less:
      return NodeOp::Greater;
    case NodeOp::LessEqual:
      return NodeOp::GreaterEqual;
    case NodeOp::Greater:
      return NodeOp::Less;
    case NodeOp::GreaterEqual:
      return NodeOp::LessEqual;
    default:
      return op;
  }
}

// The integers of which `op` with the constant holds.
std::vector<Interval> IntervalsOf(NodeOp op, std::int64_t constant) {
  if (op == NodeOp::Equal) return {{constant, constant}};
  if (op == NodeOp::LessEqual) return {{kLeast, constant}};
  if (op == NodeOp::GreaterEqual) return {{constant, kMost}};
  if (op == NodeOp::Less && constant != kLeast) return {{kLeast, constant - 1}};
  if (op == NodeOp::Greater && constant != kMost) return {{constant + 1, kMost}};
  return {};
}

}  // namespace

GuardFinder::GuardFinder(const Tables& tables)
    : t_(tables),
      work_left_(4096 + tables.data.size() / 16 +
                 32 * (tables.nodes.size() + tables.children.size() + tables.patterns.size() +
                       tables.text_items.size() + tables.integers.size() + tables.addresses.size() +
                       tables.entries.size())) {}

Guards GuardFinder::OfTexts(std::uint32_t node, std::uint32_t term, std::vector<Key> keys) const {
  Guards guards;
  Guard& guard = guards[{IndexKind::Text, t_.terms[term].slot}];
  guard.keys = std::move(keys);
  guard.implied = node;
  return guards;
}

Guards GuardFinder::OfIntegers(std::uint32_t term, std::vector<Interval> intervals) const {
  Guards guards;
  guards[{IndexKind::Integer, t_.terms[term].slot}].intervals = std::move(intervals);
  return guards;
}

Guards GuardFinder::OfComparison(std::uint32_t condition) {
  const NodeRecord& node = t_.nodes[condition];
  for (const auto& [fact, constant, op] :
       {std::tuple{node.a, node.b, node.op}, std::tuple{node.b, node.a, Turned(node.op)}}) {
    const TermRecord& term = t_.terms[constant];
    if (IsFact(fact, ValueClass::Text) && term.kind == TermKind::Text && op == NodeOp::Equal) {
      return OfTexts(condition, fact, {{term.a, kExact}});
    }
    if (IsFact(fact, ValueClass::Integer) && term.kind == TermKind::Integer && !only_texts_) {
      return OfIntegers(fact, IntervalsOf(op, t_.integers[term.a]));
    }
  }
  return {};
}

Guards GuardFinder::OfMembership(std::uint32_t condition) {
  const NodeRecord& node = t_.nodes[condition];
  const TermRecord& items = t_.terms[node.b];
  const bool of_texts = items.kind == TermKind::TextSet || items.kind == TermKind::TextList;
  const bool of_integers =
      items.kind == TermKind::IntegerSet || items.kind == TermKind::IntegerList;
  if (of_texts && IsFact(node.a, ValueClass::Text) && Spend(items.b)) {
    std::vector<Key> keys;
    for (const std::uint32_t text : t_.text_items.subspan(items.a, items.b)) {
      keys.push_back({text, kExact});
    }
    return OfTexts(condition, node.a, std::move(keys));
  }
  if (of_integers && !only_texts_ && IsFact(node.a, ValueClass::Integer) && Spend(items.b)) {
    std::vector<Interval> intervals;
    for (const std::int64_t integer : t_.integers.subspan(items.a, items.b)) {
      intervals.push_back({integer, integer});
    }
    return OfIntegers(node.a, std::move(intervals));
  }
  return {};
}

Guards GuardFinder::OfHosts(std::uint32_t condition) {
  const NodeRecord& node = t_.nodes[condition];
  if (!IsFact(node.a, ValueClass::Text) || !Spend(node.c)) return {};
  std::vector<Key> keys;
  for (const PatternRecord& pattern : t_.patterns.subspan(node.b, node.c)) {
    const std::uint32_t length =
        pattern.mode == kExact ? NoLength : DepthOf(LabelsOf(t_.TextOf(pattern.text)));
    keys.push_back({pattern.text, pattern.mode, length});
  }
  Guards guards = OfTexts(condition, node.a, std::move(keys));
  for (auto& [way, guard] : guards) guard.of_hosts = true;
  return guards;
}

// A path that meets a glob begins with the segments that the glob begins with, up to its first `*`.
Guards GuardFinder::OfPaths(const NodeRecord& node) {
  if (only_texts_ || !IsFact(node.a, ValueClass::Text)) return {};
  Guard guard;
  for (const PatternRecord& pattern : t_.patterns.subspan(node.b, node.c)) {
    const std::string_view glob = t_.TextOf(pattern.text);
    if (!Spend(1 + glob.size() / 64)) return {};
    const Literal literal = LiteralOf(glob);
    if (literal.segments == 0) return {};  // any path may meet it
    guard.keys.push_back({MarkOfSegments(glob.substr(0, literal.bytes)), 0, literal.segments - 1});
    if (static_cast<values::Reading>(pattern.mode) == values::Reading::Wide) {
      guard.is_wide = true;
    }
  }
  Guards guards;
  guards.emplace(Way{IndexKind::Path, t_.terms[node.a].slot}, std::move(guard));
  return guards;
}

Guards GuardFinder::OfAddresses(const NodeRecord& node) {
  if (only_texts_ || !IsFact(node.a, ValueClass::Text) || !Spend(node.c)) return {};
  Guard guard;
  for (const BlockOfAddresses& block : t_.addresses.subspan(node.b, node.c)) {
    const auto* base = reinterpret_cast<const char*>(block.base);
    guard.keys.push_back({MarkOfAddresses(base, block.prefix), 0, block.prefix});
  }
  Guards guards;
  guards.emplace(Way{IndexKind::Address, t_.terms[node.a].slot}, std::move(guard));
  return guards;
}

Guards GuardFinder::OfJunction(const NodeRecord& node, std::size_t depth) {
  Guards all;
  bool is_first = true;
  for (const std::uint32_t child : t_.children.subspan(node.a, node.b)) {
    Guards part = OfNode(child, depth + 1);
    if (node.op == NodeOp::And) {
      // Each part guards the whole. Of two the one with fewer keys does it better, and of integers
      // both do it together.
      for (auto& [way, guard] : part) {
        Join(guard.intervals);
        const auto [place, is_new] = all.try_emplace(way, std::move(guard));
        if (is_new) continue;
        if (way.kind == IndexKind::Integer) {
          place->second.intervals = Common(place->second.intervals, guard.intervals);
        } else if (guard.keys.size() < place->second.keys.size()) {
          place->second = std::move(guard);
        }
      }
      continue;
    }
    if (is_first) {
      all = std::move(part);
    } else {
      std::erase_if(all, [&](const auto& guard) { return !part.contains(guard.first); });
      for (auto& [way, guard] : all) {
        const Guard& more = part[way];
        guard.keys.insert(guard.keys.end(), more.keys.begin(), more.keys.end());
        guard.intervals.insert(guard.intervals.end(), more.intervals.begin(), more.intervals.end());
        guard.of_hosts = guard.of_hosts || more.of_hosts;
        guard.is_wide = guard.is_wide || more.is_wide;
        guard.implied = NoIndex;  // one of several parts
      }
    }
    if (all.empty()) return all;
    is_first = false;
  }
  return all;
}

// What is not here guards nothing. A negation least of all: what is not one of some values is
// nearly every value, and so would be its keys; it stays with what is left to judge of the entry.
Guards GuardFinder::OfNode(std::uint32_t condition, std::size_t depth) {
  if (depth > kDepthMax || !Spend(1)) return {};
  const NodeRecord& node = t_.nodes[condition];
  switch (node.op) {
    case NodeOp::And:
    case NodeOp::Or:
      return OfJunction(node, depth);
    case NodeOp::Equal:
    case NodeOp::Less:
    case NodeOp::LessEqual:
    case NodeOp::Greater:
    case NodeOp::GreaterEqual:
      return OfComparison(condition);
    case NodeOp::In:
      return OfMembership(condition);
    case NodeOp::HostIn:
      return OfHosts(condition);
    case NodeOp::PathIn:
      return OfPaths(node);
    case NodeOp::AddressIn:
      return OfAddresses(node);
    case NodeOp::False:
    case NodeOp::True:
    case NodeOp::Not:
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
    case NodeOp::QueryIn:
    case NodeOp::AddressInItems:
      return {};
  }
  return {};
}

// The fewest blocks whose union is the interval, each found by the bits above it.
bool GuardFinder::AddBlocks(Interval interval, std::vector<Key>& keys) {
  std::uint64_t place = PlaceOf(interval.first);
  const std::uint64_t last = PlaceOf(interval.last);
  for (std::size_t blocks = 0; blocks < kBlocksMax && Spend(1); ++blocks) {
    const int whole = std::countr_zero(place);
    const int fitting = 63 - std::countl_zero(last - place + 1);
    const auto free = static_cast<std::uint32_t>(std::min(whole, fitting));
    keys.push_back({MarkOfIntegers(place, free), 0, free});
    const std::uint64_t end = place + ((std::uint64_t{1} << free) - 1);
    if (end == last) return true;
    place = end + 1;
  }
  return false;
}

Guards GuardFinder::Of(std::uint32_t condition, bool only_texts) {
  only_texts_ = only_texts;
  if (condition == NoIndex) return {};
  Guards guards = OfNode(condition, 0);
  for (auto place = guards.begin(); place != guards.end();) {
    Guard& guard = place->second;
    Join(guard.intervals);
    // What has no end tells nothing apart.
    const bool is_good = std::ranges::all_of(guard.intervals, [&](const Interval& interval) {
      return interval.first != kLeast && interval.last != kMost && AddBlocks(interval, guard.keys);
    });
    std::sort(guard.keys.begin(), guard.keys.end());
    guard.keys.erase(std::unique(guard.keys.begin(), guard.keys.end()), guard.keys.end());
    place = is_good ? std::next(place) : guards.erase(place);
  }
  return guards;
}

}  // namespace curfew::module
