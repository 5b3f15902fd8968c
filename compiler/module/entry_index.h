// The index of a module: for each long range of entries the fact by whose text most of them can be
// told apart, and for each text the entries that it may make hold. Derived from the tables and from
// nothing else, in one way only: the compiler writes it into the module's bytes so that no keeper
// has to make it, and the verifier derives it again, so that bytes which leave an entry out are
// refused. How a decision uses it: compiler/interpret/candidates.h.
#pragma once

#include "compiler/module/tables.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace curfew::module {

// Owns the rows that Tables shows.
struct EntryIndex {
  std::vector<std::uint32_t> block_indexes;
  std::vector<std::uint32_t> group_indexes;
  std::vector<IndexRecord> indexes;
  std::vector<std::uint32_t> unkeyed;
  std::vector<KeyRecord> keys;
  std::vector<PostingRecord> postings;

  void PointTo(Tables& tables) const;
};

// Of tables whose indexes are in range and whose texts are in order. Takes time and space linear in
// the tables: an entry with more keys than that has none, and is looked at always.
EntryIndex DeriveIndex(const Tables& tables);

// Whether the tables' index is the one that follows from them.
bool HasItsIndex(const Tables& tables);

// The most rows that the search for one text looks at.
std::size_t LongestSearch(const Tables& tables);

// A range with fewer keyed entries than this is not worth a search.
inline constexpr std::size_t KeyedEntriesMin = 4;

// The hash of a text, label by label from its end, so that one walk over a host gives the hash of
// every name above it. Not secret: keys are the policy's own, and a search is bounded.
class KeyHash {
 public:
  void AddLabel(std::string_view label);
  [[nodiscard]] std::uint64_t value() const { return state_; }

  static std::uint64_t Of(std::string_view text);

 private:
  std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

// The row of `text`, whose hash is `hash`; null where it is no key.
const KeyRecord* FindKey(const Tables& tables, std::string_view text, std::uint64_t hash);

}  // namespace curfew::module
