#include "compiler/base/incarnation.h"

#include "compiler/base/check.h"

#include <algorithm>

namespace curfew {

namespace {
constexpr std::string_view IdAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::size_t IdRandomBytes = 10;  // 80 bits, 16 characters of 5
}  // namespace

bool IsSandboxId(std::string_view text) {
  return text.size() == SandboxIdBytes && text.starts_with(SandboxIdPrefix) &&
         text.find_first_not_of(IdAlphabet, SandboxIdPrefix.size()) == std::string_view::npos;
}

bool IsNonce(std::string_view text) { return text.size() == 32 && FromHex(text).has_value(); }

Incarnation NewIncarnation(ByteView random) {
  CURFEW_CHECK(random.size() == IncarnationRandomBytes, "an incarnation has a fixed entropy");
  Incarnation incarnation{std::string(SandboxIdPrefix), Hex(random.subspan(IdRandomBytes))};
  unsigned bits = 0;
  unsigned count = 0;
  for (const std::uint8_t byte : random.first(IdRandomBytes)) {
    bits = (bits << 8) | byte;
    for (count += 8; count >= 5; count -= 5) {
      incarnation.id.push_back(IdAlphabet[(bits >> (count - 5)) & 31]);
    }
    bits &= (1U << count) - 1;
  }
  return incarnation;
}

std::string ToString(const Incarnation& incarnation) {
  return incarnation.id + "/" + incarnation.nonce;
}

}  // namespace curfew
