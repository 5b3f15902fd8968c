#include "compiler/module/entry_index.h"

#include "compiler/values/host.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace curfew::module {
namespace {

// One text that lets an entry hold.
struct Key {
  std::uint32_t text = 0;
  std::uint32_t reach = 0;
  friend auto operator<=>(const Key&, const Key&) = default;
};

// By slot: the only texts with which a condition can hold. With any other text of that slot it is
// false whatever else is unknown, since one false part makes an `and` false, and an `or` is false
// when all its parts are.
struct Guard {
  std::vector<Key> keys;
  std::uint32_t implied = NoIndex;  // the node that a key's meeting the fact makes true
  bool of_hosts = false;            // patterns, which cost more to meet one by one
};
using Guards = std::map<std::uint32_t, Guard>;

// While implied parts are being found: none was.
constexpr std::uint32_t NoSuch = NoIndex - 1;
constexpr auto kExact = static_cast<std::uint32_t>(values::HostReach::Exact);
// Lowered conditions are flat; deeper ones have no keys.
constexpr std::size_t kDepthMax = 8;

class Derivation {
 public:
  explicit Derivation(const Tables& tables)
      : t_(tables),
        work_left_(4096 + 16 * (t_.nodes.size() + t_.children.size() + t_.patterns.size() +
                                t_.text_items.size() + t_.entries.size())) {}

  EntryIndex Run() &&;

 private:
  bool Spend(std::size_t work) {
    if (work > work_left_) return false;
    work_left_ -= work;
    return true;
  }
  [[nodiscard]] bool IsFact(std::uint32_t term) const {
    return t_.terms[term].kind == TermKind::Slot && t_.terms[term].value == ValueClass::Text;
  }
  Guards OfFact(std::uint32_t node, std::uint32_t term, std::vector<Key> keys) const;
  Guards OfEqual(std::uint32_t condition) const;
  Guards OfMembership(std::uint32_t condition);
  Guards OfPatterns(std::uint32_t condition);
  Guards OfJunction(const NodeRecord& node, std::size_t depth);
  Guards Of(std::uint32_t condition, std::size_t depth);
  std::uint32_t IndexOf(Range range);
  std::uint32_t IndexOf(Range range, std::vector<Guards> guards);
  std::uint32_t IndexOfClasses();
  Guards OfEntry(std::uint32_t condition);
  void ShareDepths();
  void MakeKeys();

  const Tables& t_;
  std::size_t work_left_;
  EntryIndex made_;
  std::vector<std::pair<std::uint32_t, PostingRecord>> postings_;  // by text
};

Guards Derivation::OfFact(std::uint32_t node, std::uint32_t term, std::vector<Key> keys) const {
  Guards guards;
  guards.emplace(t_.terms[term].slot, Guard{std::move(keys), node});
  return guards;
}

Guards Derivation::OfEqual(std::uint32_t condition) const {
  const NodeRecord& node = t_.nodes[condition];
  for (const auto& [fact, text] : {std::pair{node.a, node.b}, std::pair{node.b, node.a}}) {
    if (!IsFact(fact) || t_.terms[text].kind != TermKind::Text) continue;
    return OfFact(condition, fact, {{t_.terms[text].a, kExact}});
  }
  return {};
}

Guards Derivation::OfMembership(std::uint32_t condition) {
  const NodeRecord& node = t_.nodes[condition];
  const TermRecord& items = t_.terms[node.b];
  const bool listed = items.kind == TermKind::TextSet || items.kind == TermKind::TextList;
  if (!IsFact(node.a) || !listed || !Spend(items.b)) return {};
  std::vector<Key> keys;
  for (const std::uint32_t text : t_.text_items.subspan(items.a, items.b)) {
    keys.push_back({text, kExact});
  }
  return OfFact(condition, node.a, std::move(keys));
}

Guards Derivation::OfPatterns(std::uint32_t condition) {
  const NodeRecord& node = t_.nodes[condition];
  if (!IsFact(node.a) || !Spend(node.c)) return {};
  std::vector<Key> keys;
  for (const PatternRecord& pattern : t_.patterns.subspan(node.b, node.c)) {
    keys.push_back({pattern.text, pattern.mode});
  }
  Guards guards = OfFact(condition, node.a, std::move(keys));
  for (auto& [slot, guard] : guards) guard.of_hosts = true;
  return guards;
}

Guards Derivation::OfJunction(const NodeRecord& node, std::size_t depth) {
  Guards all;
  bool is_first = true;
  for (const std::uint32_t child : t_.children.subspan(node.a, node.b)) {
    Guards part = Of(child, depth + 1);
    if (node.op == NodeOp::And) {
      // Each part guards the whole; the one with the fewest keys does it best.
      for (auto& [slot, guard] : part) {
        const auto [place, is_new] = all.try_emplace(slot, std::move(guard));
        if (!is_new && guard.keys.size() < place->second.keys.size()) {
          place->second = std::move(guard);
        }
      }
      continue;
    }
    if (is_first) {
      all = std::move(part);
    } else {
      std::erase_if(all, [&](const auto& guard) { return !part.contains(guard.first); });
      for (auto& [slot, guard] : all) {
        const std::vector<Key>& more = part[slot].keys;
        guard.keys.insert(guard.keys.end(), more.begin(), more.end());
        guard.of_hosts = guard.of_hosts || part[slot].of_hosts;
        guard.implied = NoIndex;  // one of several parts
      }
    }
    if (all.empty()) return all;
    is_first = false;
  }
  return all;
}

Guards Derivation::Of(std::uint32_t condition, std::size_t depth) {
  if (depth > kDepthMax || !Spend(1)) return {};
  const NodeRecord& node = t_.nodes[condition];
  switch (node.op) {
    case NodeOp::And:
    case NodeOp::Or:
      return OfJunction(node, depth);
    case NodeOp::Equal:
      return OfEqual(condition);
    case NodeOp::In:
      return OfMembership(condition);
    case NodeOp::HostIn:
      return OfPatterns(condition);
    case NodeOp::False:
    case NodeOp::True:
    case NodeOp::Not:
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
    case NodeOp::Has:
    case NodeOp::NotEqual:
    case NodeOp::Less:
    case NodeOp::LessEqual:
    case NodeOp::Greater:
    case NodeOp::GreaterEqual:
    case NodeOp::SubsetOf:
    case NodeOp::Intersects:
    case NodeOp::SameItems:
    case NodeOp::Starts:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::QueryIn:
    case NodeOp::AddressIn:
    case NodeOp::AddressInItems:
      return {};
  }
  return {};
}

std::size_t LabelsOf(std::string_view name) {
  return static_cast<std::size_t>(std::count(name.begin(), name.end(), '.')) + 1;
}

// The index of a range, or NoIndex where none is worth its search. It goes by the fact that tells
// most texts apart.
std::uint32_t Derivation::IndexOf(Range range, std::vector<Guards> guards) {
  struct Merit {
    std::vector<std::uint32_t> texts;
    std::size_t entries = 0;
    bool of_hosts = false;
  };
  std::map<std::uint32_t, Merit> merits;
  for (const Guards& of_entry : guards) {
    for (const auto& [slot, guard] : of_entry) {
      Merit& merit = merits[slot];
      ++merit.entries;
      merit.of_hosts = merit.of_hosts || guard.of_hosts;
      for (const Key& key : guard.keys) merit.texts.push_back(key.text);
    }
  }
  std::uint32_t slot = NoIndex;
  std::pair<std::size_t, std::size_t> best{KeysMin - 1, ~std::size_t{0}};
  for (auto& [candidate, merit] : merits) {
    std::sort(merit.texts.begin(), merit.texts.end());
    const auto end = std::unique(merit.texts.begin(), merit.texts.end());
    const std::pair found{static_cast<std::size_t>(end - merit.texts.begin()), merit.entries};
    const bool is_worth_it =
        merit.of_hosts || merit.entries >= EntriesMin || found.first >= KeysOfFewMin;
    if (!is_worth_it || found <= best) continue;
    best = found;
    slot = candidate;
  }
  if (slot == NoIndex) return NoIndex;

  const auto index = static_cast<std::uint32_t>(made_.indexes.size());
  const auto unkeyed_begin = static_cast<std::uint32_t>(made_.unkeyed.size());
  std::uint32_t depths = 0;
  for (std::uint32_t i = 0; i < range.count; ++i) {
    const auto keys = guards[i].find(slot);
    if (keys == guards[i].end()) {
      made_.unkeyed.push_back(range.first + i);
      continue;
    }
    for (const Key& key : keys->second.keys) {
      if (key.reach != kExact) depths |= DepthBit(LabelsOf(t_.TextOf(key.text)));
      postings_.push_back({key.text, {index, range.first + i, key.reach}});
    }
  }
  const auto unkeyed_end = static_cast<std::uint32_t>(made_.unkeyed.size());
  made_.indexes.push_back({range, {unkeyed_begin, unkeyed_end - unkeyed_begin}, slot, depths});
  return index;
}

Guards Derivation::OfEntry(std::uint32_t condition) {
  Guards guards = condition == NoIndex ? Guards() : Of(condition, 0);
  for (auto& [slot, guard] : guards) {
    std::sort(guard.keys.begin(), guard.keys.end());
    guard.keys.erase(std::unique(guard.keys.begin(), guard.keys.end()), guard.keys.end());
  }
  return guards;
}

std::uint32_t Derivation::IndexOf(Range range) {
  std::vector<Guards> guards;
  for (const EntryRecord& entry : t_.entries.subspan(range.first, range.count)) {
    guards.push_back(OfEntry(entry.condition));
  }
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> implied;
  for (const Guards& of_entry : guards) {
    auto& of = implied.emplace_back();
    for (const auto& [slot, guard] : of_entry) of.emplace_back(slot, guard.implied);
  }
  const std::uint32_t index = IndexOf(range, std::move(guards));
  if (index == NoIndex) return index;
  for (std::uint32_t i = 0; i < range.count; ++i) {
    for (const auto& [slot, node] : implied[i]) {
      if (slot != made_.indexes[index].slot) continue;
      std::uint32_t& known = made_.implied[range.first + i];
      // An entry of two ranges is led to in two ways.
      known = known == NoSuch || known == node ? node : NoIndex;
    }
  }
  return index;
}

// Classes are told apart as entries are: entry i is class i.
std::uint32_t Derivation::IndexOfClasses() {
  std::vector<Guards> guards;
  for (const ClassRecord& record : t_.classes) guards.push_back(OfEntry(record.when));
  return IndexOf({0, static_cast<std::uint32_t>(t_.classes.size())}, std::move(guards));
}

void Derivation::ShareDepths() {
  std::map<std::uint32_t, std::uint32_t> depths;
  for (const IndexRecord& index : made_.indexes) depths[index.slot] |= index.depths;
  for (IndexRecord& index : made_.indexes) index.depths = depths[index.slot];
}

void Derivation::MakeKeys() {
  if (postings_.empty()) return;
  std::sort(postings_.begin(), postings_.end());
  std::size_t distinct = 1;
  for (std::size_t i = 1; i < postings_.size(); ++i) {
    if (postings_[i].first != postings_[i - 1].first) ++distinct;
  }
  made_.keys.resize(std::bit_ceil(2 * distinct));
  const std::size_t mask = made_.keys.size() - 1;
  for (std::size_t begin = 0; begin < postings_.size();) {
    const std::uint32_t text = postings_[begin].first;
    const auto first = static_cast<std::uint32_t>(made_.postings.size());
    for (; begin < postings_.size() && postings_[begin].first == text; ++begin) {
      made_.postings.push_back(postings_[begin].second);
    }
    const std::uint64_t hash = HashOf(t_.TextOf(text));
    std::size_t place = hash & mask;
    while (made_.keys[place].text.offset != NoIndex) place = (place + 1) & mask;
    made_.keys[place] = {t_.texts[text],
                         static_cast<std::uint32_t>(hash >> 32),
                         {first, static_cast<std::uint32_t>(made_.postings.size()) - first},
                         made_.postings[first]};
  }
}

EntryIndex Derivation::Run() && {
  made_.implied.assign(t_.entries.size(), NoSuch);
  made_.class_index = {IndexOfClasses()};
  made_.block_indexes.assign(t_.blocks.size(), NoIndex);
  made_.group_indexes.assign(t_.groups.size(), NoIndex);
  std::vector<bool> seen(t_.groups.size());
  for (std::size_t place = 0; place < t_.blocks.size(); ++place) {
    const BlockRecord& block = t_.blocks[place];
    made_.block_indexes[place] = IndexOf(block.denials);
    for (std::uint32_t g = block.groups.first; g < block.groups.first + block.groups.count; ++g) {
      if (seen[g]) continue;
      seen[g] = true;
      made_.group_indexes[g] = IndexOf(t_.groups[g].entries);
    }
  }
  std::ranges::replace(made_.implied, NoSuch, NoIndex);
  ShareDepths();
  MakeKeys();
  return std::move(made_);
}

}  // namespace

void EntryIndex::PointTo(Tables& tables) const {
  tables.class_index = class_index;
  tables.block_indexes = block_indexes;
  tables.group_indexes = group_indexes;
  tables.indexes = indexes;
  tables.unkeyed = unkeyed;
  tables.keys = keys;
  tables.postings = postings;
}

EntryIndex DeriveIndex(const Tables& tables) { return Derivation(tables).Run(); }

bool HasItsIndex(const Tables& tables) {
  const EntryIndex derived = DeriveIndex(tables);
  return std::ranges::equal(derived.class_index, tables.class_index) &&
         std::ranges::equal(derived.block_indexes, tables.block_indexes) &&
         std::ranges::equal(derived.group_indexes, tables.group_indexes) &&
         std::ranges::equal(derived.indexes, tables.indexes) &&
         std::ranges::equal(derived.unkeyed, tables.unkeyed) &&
         std::ranges::equal(derived.keys, tables.keys) &&
         std::ranges::equal(derived.postings, tables.postings);
}

std::size_t LongestSearch(const Tables& tables) {
  // Twice around, for a run that goes on from the last row to the first. Half of the rows are free.
  std::size_t longest = 0;
  std::size_t run = 0;
  for (int round = 0; round < 2; ++round) {
    for (const KeyRecord& key : tables.keys) {
      run = key.text.offset == NoIndex ? 0 : run + 1;
      longest = std::max(longest, run);
    }
  }
  return longest + 1;
}

}  // namespace curfew::module
