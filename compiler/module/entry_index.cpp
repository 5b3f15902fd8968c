#include "compiler/module/entry_index.h"

#include "compiler/base/limits.h"
#include "compiler/module/guards.h"
#include "compiler/module/way_choice.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace curfew::module {
namespace {

// While implied parts are being found: none was.
constexpr std::uint32_t NoSuch = NoIndex - 1;

class Derivation {
 public:
  explicit Derivation(const Tables& tables) : t_(tables), finder_(tables) {}

  EntryIndex Run() &&;

 private:
  std::uint32_t IndexOf(Range range);
  std::uint32_t IndexOfClasses();
  std::uint32_t Put(Range range, const WayChoice& choice);
  Range List(Range range, const WayChoice& choice, std::uint32_t way);
  void ShareLengths();
  void MakeKeys();
  void MakeMarks();

  const Tables& t_;
  GuardFinder finder_;
  EntryIndex made_;
  std::vector<std::pair<std::uint64_t, PostingRecord>> texts_;  // by text
  std::vector<std::pair<std::uint64_t, PostingRecord>> marks_;  // by mark
};

// The entries of the range that go by the way, or by none.
Range Derivation::List(Range range, const WayChoice& choice, std::uint32_t way) {
  Range list{static_cast<std::uint32_t>(made_.listed.size()), 0};
  for (std::uint32_t i = 0; i < range.count; ++i) {
    if (choice.way_of[i] != way) continue;
    made_.listed.push_back(range.first + i);
    ++list.count;
  }
  return list;
}

// The indexes of a range, as many as its ways; the first of them, or NoIndex.
std::uint32_t Derivation::Put(Range range, const WayChoice& choice) {
  if (choice.ways.empty()) return NoIndex;
  const auto first = static_cast<std::uint32_t>(made_.indexes.size());
  const auto ways = static_cast<std::uint32_t>(choice.ways.size());
  const Range unkeyed = List(range, choice, NoIndex);
  for (std::uint32_t i = 0; i < ways; ++i) {
    IndexRecord index{.entries = range, .unkeyed = unkeyed, .keyed = List(range, choice, i)};
    index.slot = choice.ways[i].slot;
    index.kind = choice.ways[i].kind;
    index.beside = ways - 1 - i;
    made_.indexes.push_back(index);
  }
  for (std::uint32_t i = 0; i < range.count; ++i) {
    if (choice.way_of[i] == NoIndex) continue;
    const std::uint32_t number = first + choice.way_of[i];
    IndexRecord& index = made_.indexes[number];
    if (choice.guards[i].is_wide) index.kind = IndexKind::WidePath;
    auto& postings = index.kind == IndexKind::Text ? texts_ : marks_;
    for (const Key& key : choice.guards[i].keys) {
      if (key.length != NoLength) index.lengths[key.length / 32] |= 1u << key.length % 32;
      postings.push_back({key.word, {number, range.first + i, key.reach}});
    }
  }
  return first;
}

std::uint32_t Derivation::IndexOf(Range range) {
  const auto entries = t_.entries.subspan(range.first, range.count);
  const WayChoice choice = ChooseWays(range.count, [&](std::uint32_t i, bool only_texts) {
    return finder_.Of(entries[i].condition, only_texts);
  });
  const std::uint32_t index = Put(range, choice);
  for (std::uint32_t i = 0; i < range.count; ++i) {
    if (choice.way_of[i] == NoIndex) continue;
    // An entry of two ranges is led to in two ways.
    std::uint32_t& known = made_.implied[range.first + i];
    const std::uint32_t implied = choice.guards[i].implied;
    known = known == NoSuch || known == implied ? implied : NoIndex;
  }
  return index;
}

// Classes are told apart as entries are: entry i is class i.
std::uint32_t Derivation::IndexOfClasses() {
  const auto count = static_cast<std::uint32_t>(t_.classes.size());
  return Put({0, count}, ChooseWays(count, [&](std::uint32_t i, bool only_texts) {
               return finder_.Of(t_.classes[i].when, only_texts);
             }));
}

void Derivation::ShareLengths() {
  std::map<std::uint32_t, std::uint32_t> lengths;
  for (const IndexRecord& index : made_.indexes) {
    if (index.kind == IndexKind::Text) lengths[index.slot] |= index.lengths[0];
  }
  for (IndexRecord& index : made_.indexes) {
    if (index.kind == IndexKind::Text) index.lengths[0] = lengths[index.slot];
  }
}

std::size_t RowsFor(const std::vector<std::pair<std::uint64_t, PostingRecord>>& postings) {
  std::size_t distinct = 1;
  for (std::size_t i = 1; i < postings.size(); ++i) {
    if (postings[i].first != postings[i - 1].first) ++distinct;
  }
  return std::bit_ceil(2 * distinct);
}

void Derivation::MakeKeys() {
  if (texts_.empty()) return;
  std::sort(texts_.begin(), texts_.end());
  made_.keys.resize(RowsFor(texts_));
  const std::size_t mask = made_.keys.size() - 1;
  for (std::size_t begin = 0; begin < texts_.size();) {
    const auto text = static_cast<std::uint32_t>(texts_[begin].first);
    const auto first = static_cast<std::uint32_t>(made_.postings.size());
    for (; begin < texts_.size() && texts_[begin].first == text; ++begin) {
      made_.postings.push_back(texts_[begin].second);
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

void Derivation::MakeMarks() {
  if (marks_.empty()) return;
  std::sort(marks_.begin(), marks_.end());
  made_.marks.resize(RowsFor(marks_));
  const std::size_t mask = made_.marks.size() - 1;
  for (std::size_t begin = 0; begin < marks_.size();) {
    const std::uint64_t mark = marks_[begin].first;
    const auto first = static_cast<std::uint32_t>(made_.postings.size());
    for (; begin < marks_.size() && marks_[begin].first == mark; ++begin) {
      made_.postings.push_back(marks_[begin].second);
    }
    std::size_t place = mark & mask;
    while (made_.marks[place].postings.count != 0) place = (place + 1) & mask;
    made_.marks[place] = {mark, {first, static_cast<std::uint32_t>(made_.postings.size()) - first}};
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
  ShareLengths();
  MakeKeys();
  MakeMarks();
  return std::move(made_);
}

}  // namespace

void EntryIndex::PointTo(Tables& tables) const {
  tables.class_index = class_index;
  tables.block_indexes = block_indexes;
  tables.group_indexes = group_indexes;
  tables.indexes = indexes;
  tables.listed = listed;
  tables.keys = keys;
  tables.marks = marks;
  tables.postings = postings;
}

EntryIndex DeriveIndex(const Tables& tables) { return Derivation(tables).Run(); }

bool HasItsIndex(const Tables& tables) {
  const EntryIndex derived = DeriveIndex(tables);
  return std::ranges::equal(derived.class_index, tables.class_index) &&
         std::ranges::equal(derived.block_indexes, tables.block_indexes) &&
         std::ranges::equal(derived.group_indexes, tables.group_indexes) &&
         std::ranges::equal(derived.indexes, tables.indexes) &&
         std::ranges::equal(derived.listed, tables.listed) &&
         std::ranges::equal(derived.keys, tables.keys) &&
         std::ranges::equal(derived.marks, tables.marks) &&
         std::ranges::equal(derived.postings, tables.postings);
}

namespace {

// Twice around, for a run that goes on from the last row to the first. Half of the rows are free.
template <typename Row, typename IsFree>
std::size_t LongestRun(std::span<const Row> rows, IsFree is_free) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (int round = 0; round < 2; ++round) {
    for (const Row& row : rows) {
      run = is_free(row) ? 0 : run + 1;
      longest = std::max(longest, run);
    }
  }
  return longest;
}

}  // namespace

std::size_t LongestSearch(const Tables& tables) {
  const std::size_t of_keys =
      LongestRun(tables.keys, [](const KeyRecord& row) { return row.text.offset == NoIndex; });
  const std::size_t of_marks =
      LongestRun(tables.marks, [](const MarkRecord& row) { return row.postings.count == 0; });
  return std::max(of_keys, of_marks) + 1;
}

std::size_t SearchesMax(const Tables& tables, std::uint32_t index) {
  if (index == NoIndex) return 0;
  std::size_t searches = 0;
  for (const IndexRecord& record :
       tables.indexes.subspan(index, tables.indexes[index].beside + 1)) {
    if (record.kind == IndexKind::Text) {
      // The text, and each name above it.
      searches += record.lengths[0] == 0 ? 1 : limits::HostBytesMax;
      continue;
    }
    for (const std::uint32_t word : record.lengths) {
      searches += static_cast<std::size_t>(std::popcount(word));
    }
  }
  return searches;
}

}  // namespace curfew::module
