// The index of a module: for each long range of entries the few facts by which they can be told
// apart, and for each value of one the entries that it may make hold. Derived from the tables and
// from nothing else, in one way only: the compiler writes it into the module's bytes so that no
// keeper has to make it, and the verifier derives it again, so that bytes which leave an entry out
// are refused. What guards an entry: guards.h; by which of its guards it goes: way_choice.h; how a
// decision uses it: compiler/interpret/candidates.h.
#pragma once

#include "compiler/module/key_hash.h"
#include "compiler/module/tables.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace curfew::module {

// Owns the rows that Tables shows.
struct EntryIndex {
  std::vector<std::uint32_t> class_index;  // one: of the conditions of classes
  std::vector<std::uint32_t> block_indexes;
  std::vector<std::uint32_t> group_indexes;
  std::vector<IndexRecord> indexes;
  std::vector<std::uint32_t> listed;
  std::vector<KeyRecord> keys;
  std::vector<MarkRecord> marks;
  std::vector<PostingRecord> postings;

  // By entry: the part of its condition, a child of its `and` or the whole, that says no more than
  // that a key of the entry's index was met. Not in the bytes; NoIndex where there is none.
  std::vector<std::uint32_t> implied;

  void PointTo(Tables& tables) const;
};

// Of tables whose indexes are in range and whose texts are in order. Takes time and space linear in
// the tables: an entry whose keys were too much work has none, and is looked at always.
EntryIndex DeriveIndex(const Tables& tables);

// Whether the tables' index is the one that follows from them.
bool HasItsIndex(const Tables& tables);

// The most rows that the search for one text or mark looks at.
std::size_t LongestSearch(const Tables& tables);

// How many searches a decision makes at most to find the entries of a range by its indexes, of
// which `index` is the first, or NoIndex.
std::size_t SearchesMax(const Tables& tables, std::uint32_t index);

// A range whose entries know fewer texts than this is not worth a search; nor are a few entries,
// unless they ask for hosts or their lists are long.
inline constexpr std::size_t KeysMin = 4;
inline constexpr std::size_t EntriesMin = 4;
inline constexpr std::size_t KeysOfFewMin = 16;

// The row of the last `size` bytes of `text`, whose hash is `hash`; null where they are no key.
inline const KeyRecord* FindKey(const Tables& tables, std::string_view text, std::size_t size,
                                std::uint64_t hash) {
  if (tables.keys.empty()) return nullptr;
  const std::size_t mask = tables.keys.size() - 1;
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  for (std::size_t place = hash & mask;; place = (place + 1) & mask) {
    const KeyRecord& key = tables.keys[place];
    if (key.text.offset == NoIndex) return nullptr;
    if (key.tag == tag && key.text.size == size &&
        SameBytes(tables.data.data() + key.text.offset, text.data() + text.size() - size, size)) {
      return &key;
    }
  }
}

// Which bit of the lengths of IndexKind::Text stands for a name of so many labels, at least one.
// The last one of a word stands for all longer ones too.
inline std::uint32_t DepthOf(std::uint32_t labels) {
  constexpr std::uint32_t kMost = 32;
  return (labels < kMost ? labels : kMost) - 1;
}

}  // namespace curfew::module
