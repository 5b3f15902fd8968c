// Short texts as machine words, for code that meets millions of them: hashing, comparing, packing.
// Never reads outside of what it is given. Little-endian machines only (module/layout.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace curfew {

template <typename Word>
Word LoadWord(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Up to 8 bytes as one word, the first lowest, with zeros above.
inline std::uint64_t PackFew(const char* bytes, std::size_t size) {
  if (size >= 4) {
    if (size == 8) return LoadWord<std::uint64_t>(bytes);
    const std::uint64_t low = LoadWord<std::uint32_t>(bytes);
    const std::uint64_t high = LoadWord<std::uint32_t>(bytes + size - 4);
    return low | high << (8 * (size - 4));
  }
  if (size == 0) return 0;
  const auto at = [&](std::size_t i) {
    return std::uint64_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
  };
  return at(0) | at(size / 2) | at(size - 1);
}

// Most texts are short: words that may overlap are quicker than a call.
inline bool SameBytes(const char* a, const char* b, std::size_t size) {
  if (size >= 8) {
    if (size > 32) return std::memcmp(a, b, size) == 0;
    const auto differ = [&](std::size_t at) {
      return LoadWord<std::uint64_t>(a + at) ^ LoadWord<std::uint64_t>(b + at);
    };
    std::uint64_t difference = differ(0) | differ(size - 8);
    if (size > 16) difference |= differ(8) | differ(size - 16);
    return difference == 0;
  }
  if (size >= 4) {
    const auto differ = [&](std::size_t at) {
      return LoadWord<std::uint32_t>(a + at) ^ LoadWord<std::uint32_t>(b + at);
    };
    return (differ(0) | differ(size - 4)) == 0;
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace curfew
