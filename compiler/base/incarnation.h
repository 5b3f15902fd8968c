// An incarnation: one life of one sandbox. Every operation names it, never a mutable name, and the
// names of all that a sandbox acquires on the host derive from its id, so that a search finds them.
#pragma once

#include "compiler/base/text.h"

#include <string>
#include <string_view>

namespace curfew {

struct Incarnation {
  std::string id;     // "cf-" and 16 characters of [a-z2-7]; never used again
  std::string nonce;  // 32 lower-case hexadecimal digits
  friend auto operator<=>(const Incarnation&, const Incarnation&) = default;
};

inline constexpr std::string_view SandboxIdPrefix = "cf-";
inline constexpr std::size_t SandboxIdBytes = 19;
inline constexpr std::size_t IncarnationRandomBytes = 26;

bool IsSandboxId(std::string_view text);
bool IsNonce(std::string_view text);

// A new incarnation out of exactly IncarnationRandomBytes random bytes.
Incarnation NewIncarnation(ByteView random);

// "id/nonce".
std::string ToString(const Incarnation& incarnation);

}  // namespace curfew
