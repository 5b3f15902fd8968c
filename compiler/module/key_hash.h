// The hash of a text, or of the end of one: every name above a host is the host's own end, and is
// hashed where it stands. Not secret: keys are the policy's own, and a search is bounded
// (entry_index.h). Inline, since every decision on a host computes a few.
#pragma once

#include "compiler/base/short_text.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace curfew::module {

// Two words as one.
inline std::uint64_t Fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Product = unsigned __int128;
  constexpr std::uint64_t kFirst = 0xe7037ed1a0b428db;
  constexpr std::uint64_t kSecond = 0x8ebc6af09c88c6e3;
  const Product product = Product{a ^ kFirst} * (b ^ kSecond);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Of the last `size` bytes of `text`, which has as many.
inline std::uint64_t HashOfEnd(std::string_view text, std::size_t size) {
  constexpr std::uint64_t kSize = 0xa0761d6478bd642f;
  const char* const end = text.data() + text.size();
  const char* place = end - size;
  std::uint64_t state = (size + 1) * kSize;
  if (size < 8) {
    // Where eight bytes end there, one load has them all.
    const std::uint64_t word = text.size() >= 8 && size > 0
                                   ? LoadWord<std::uint64_t>(end - 8) >> (8 * (8 - size))
                                   : PackFew(place, size);
    return Fold(state ^ word, word);
  }
  if (size > 16) {
    for (; end - place > 16; place += 16) {
      state = Fold(state ^ LoadWord<std::uint64_t>(place), LoadWord<std::uint64_t>(place + 8));
    }
    place = end - 16;
  }
  return Fold(state ^ LoadWord<std::uint64_t>(place), LoadWord<std::uint64_t>(end - 8));
}

inline std::uint64_t HashOf(std::string_view text) { return HashOfEnd(text, text.size()); }

}  // namespace curfew::module
