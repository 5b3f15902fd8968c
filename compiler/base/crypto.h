// The cryptography that both halves need: SHA-256 and Ed25519 verification, by OpenSSL. Signing
// lives where keys live (runtime/evidence, runtime/identity; for bundles compiler/tool).
#pragma once

#include "compiler/base/text.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace curfew {

struct Digest {
  std::array<std::uint8_t, 32> bytes{};
  friend auto operator<=>(const Digest&, const Digest&) = default;
};

// "sha256:" and 64 lower-case hexadecimal digits.
std::string ToString(const Digest& digest);
std::optional<Digest> ParseDigest(std::string_view text);

Digest Sha256(ByteView bytes);

// For what does not fit in memory at once.
class Sha256Stream {
 public:
  Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;
  ~Sha256Stream();
  void Update(ByteView bytes);
  // The digest of all bytes so far; the stream can then only be destroyed.
  Digest Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

using Ed25519PublicKey = std::array<std::uint8_t, 32>;
using Ed25519Signature = std::array<std::uint8_t, 64>;
bool VerifyEd25519(const Ed25519PublicKey& key, ByteView message,
                   const Ed25519Signature& signature);

}  // namespace curfew
