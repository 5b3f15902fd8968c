// Marks: a number for each key of an index that is no text (tables.h, IndexKind): a block of
// integers, a block of addresses, the first segments of a path. Two keys may have one mark by
// chance. An index then leads to an entry too many and never to one too few, so that whoever is led
// by a mark judges the whole condition.
#pragma once

#include "compiler/base/short_text.h"
#include "compiler/module/key_hash.h"
#include "compiler/module/tables.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace curfew::module {

// Integers in their order, from 0 on, so that a block is the numbers that agree above some bits.
inline std::uint64_t PlaceOf(std::int64_t integer) {
  return static_cast<std::uint64_t>(integer) ^ std::uint64_t{1} << 63;
}

// Of the block of 2 to the `free` integers around the one at `place`; `free` is below 64.
inline std::uint64_t MarkOfIntegers(std::uint64_t place, std::uint32_t free) {
  return Fold(place >> free, free);
}

// Of the block around an address of 16 bytes whose first `prefix` bits are the block's.
inline std::uint64_t MarkOfAddresses(const char* address, std::uint32_t prefix) {
  const auto half = [&](std::size_t at, std::uint32_t bits) -> std::uint64_t {
    if (bits == 0) return 0;
    const auto word = __builtin_bswap64(LoadWord<std::uint64_t>(address + at));
    return bits < 64 ? word >> (64 - bits) << (64 - bits) : word;
  };
  const std::uint64_t high = half(0, prefix < 64 ? prefix : 64);
  return Fold(Fold(high, half(8, prefix < 64 ? 0 : prefix - 64)), prefix);
}

// Eight bytes with every ASCII capital made small.
inline std::uint64_t Small(std::uint64_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  const std::uint64_t low = bytes & 0x7f * kOnes;
  const std::uint64_t from_a = low + (0x80 - 'A') * kOnes;
  const std::uint64_t behind_z = low + (0x7f - 'Z') * kOnes;
  return bytes | ((from_a ^ behind_z) & ~bytes & 0x80 * kOnes) >> 2;
}

// Of the first segments of a path: a slash and what follows up to another one. Without regard to
// ASCII case, since wide readings have none.
inline std::uint64_t MarkOfSegments(std::string_view segments) {
  std::uint64_t state = segments.size();
  for (; segments.size() > 8; segments.remove_prefix(8)) {
    state = Fold(state, Small(LoadWord<std::uint64_t>(segments.data())));
  }
  return Fold(state, Small(PackFew(segments.data(), segments.size())));
}

// The row of a mark; null where there is none.
inline const MarkRecord* FindMark(const Tables& tables, std::uint64_t mark) {
  if (tables.marks.empty()) return nullptr;
  const std::size_t mask = tables.marks.size() - 1;
  for (std::size_t place = mark & mask;; place = (place + 1) & mask) {
    const MarkRecord& row = tables.marks[place];
    if (row.postings.count == 0) return nullptr;
    if (row.mark == mark) return &row;
  }
}

}  // namespace curfew::module
