// A text that its owner asks about again and again (a host, a path of a client that repeats
// itself), with what the index of one module says about it: a decision that meets it does not
// search. To any other module it is a text like all others.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/module/request.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace curfew::module {

// A row of the module's keys that some end of a text is: what stands behind the dot at `dot`, or
// the whole. Has no initialisers, so that room for them costs nothing.
struct KeyHit {
  static constexpr std::uint32_t Whole = ~std::uint32_t{0};
  static constexpr std::size_t Most = 16;
  std::uint32_t row;
  std::uint32_t dot;
};

struct KeyHits {
  Digest content;  // of the module
  std::uint32_t count = 0;
  std::uint32_t first_dot = KeyHit::Whole;
  std::uint32_t too_many = 0;  // 1: there were more than there is room for, and they say nothing
  std::array<KeyHit, KeyHit::Most> hits = {};
};

class InternedText {
 public:
  // Engines make them: DecisionEngine::Intern.
  InternedText(std::string_view text, const KeyHits& hits);

  // The text as a fact, for as long as this lives. Moving it moves nothing.
  [[nodiscard]] Value value() const;

 private:
  std::unique_ptr<std::uint64_t[]> room_;  // KeyHits, and the text behind them
  std::uint32_t size_ = 0;
};

// Of a value that an InternedText gave; null for any other.
inline const KeyHits* KeyHitsOf(const Value& value) {
  if (value.interned == 0) return nullptr;
  return reinterpret_cast<const KeyHits*>(value.data - sizeof(KeyHits));
}

}  // namespace curfew::module
