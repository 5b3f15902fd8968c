// The hash of a text, label by label from its end, so that one walk over a host gives the hash of
// every name above it. Not secret: keys are the policy's own, and a search is bounded
// (entry_index.h). Inline, since every decision on a host computes a few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace curfew::module {

class KeyHash {
 public:
  void AddLabel(std::string_view label) {
    constexpr std::uint64_t kMore = 0xe7037ed1a0b428db;
    constexpr std::uint64_t kLast = 0x8ebc6af09c88c6e3;
    constexpr std::uint64_t kSize = 0xa0761d6478bd642f;
    const char* bytes = label.data();
    std::size_t size = label.size();
    state_ ^= (size + 1) * kSize;
    for (; size > 8; bytes += 8, size -= 8) {
      state_ = Fold(state_ ^ Load<std::uint64_t>(bytes), kMore);
    }
    state_ = Fold(state_ ^ LoadFew(bytes, size), kLast);
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

  static std::uint64_t Of(std::string_view text) {
    KeyHash hash;
    for (;;) {
      const std::size_t dot = text.rfind('.');
      hash.AddLabel(dot == text.npos ? text : text.substr(dot + 1));
      if (dot == text.npos) return hash.value();
      text = text.substr(0, dot);
    }
  }

 private:
  __extension__ using Product = unsigned __int128;

  static std::uint64_t Fold(std::uint64_t a, std::uint64_t b) {
    const Product product = Product{a} * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  template <typename T>
  static std::uint64_t Load(const char* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  // Up to 8 bytes as one word, without reading beyond them.
  static std::uint64_t LoadFew(const char* bytes, std::size_t size) {
    if (size == 8) return Load<std::uint64_t>(bytes);
    if (size >= 4) {
      return Load<std::uint32_t>(bytes) | Load<std::uint32_t>(bytes + size - 4) << 32;
    }
    if (size == 0) return 0;
    const auto at = [&](std::size_t i) {
      return std::uint64_t{static_cast<std::uint8_t>(bytes[i])};
    };
    return at(0) | at(size / 2) << 8 | at(size - 1) << 16;
  }

  std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

}  // namespace curfew::module
