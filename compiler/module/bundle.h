// A bundle: a compiled policy set as one file that can be carried elsewhere. It holds the module's
// bytes and every text that they were made of, and may be signed. Equal texts under equal names
// have equal bundles: no time, no machine and no order of arguments is in them. Making and reading;
// keys are the caller's affair, and so is what a module means (policy_module.h).
//
//   bundle  := header payload
//   header  := "CURFEWB\n"  u32 version  u32 signed (0 or 1)  u64 bytes of payload
//              SHA-256 of payload (32)  public key (32)  signature (64)  u64 zero
//   payload := u32 bytes of manifest  u32 zero  manifest  zeros to a multiple of 16  module  texts
//
// Numbers are little-endian. Without a signature its fields are zeros. The signature is Ed25519
// (RFC 8032) over "curfew bundle 1\n" and the header up to the signature, so over all the rest. The
// manifest is JSON in one form: {"version", "language", "compiler", "packages", "policy",
// "module": {"bytes", "digest"}, "files": [{"name", "bytes", "digest"}]}, files by name.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/base/result.h"
#include "compiler/base/text.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::module {

struct BundleFile {
  std::string name;  // as the module's reasons name it
  std::string text;
};

struct BundleContent {
  std::uint32_t language = 0;
  std::string compiler;               // version of the compiler that made it
  std::vector<std::string> packages;  // provenance only
  Digest policy;                      // of the set's canonical declarations
  Bytes module;
  std::vector<BundleFile> files;  // in any order; no name twice
};

// Whether a file begins as a bundle.
bool BeginsBundle(ByteView bytes);
inline constexpr std::size_t BundleBeginBytes = 8;

struct BundleSigner {
  Ed25519PublicKey key{};
  std::function<Ed25519Signature(ByteView message)> sign;
};
Bytes WriteBundle(BundleContent content, const std::optional<BundleSigner>& signer = {});

struct Bundle {
  BundleContent content;
  std::optional<Ed25519PublicKey> signer;  // whose signature holds
};
// Proves digest and signature before anything else is read. With `trusted` keys only a bundle that
// one of them signed is read (Denied); without, also one that nobody signed. Malformed, TooLarge or
// Tampered is what is no whole bundle.
Result<Bundle> ReadBundle(ByteView bytes, std::span<const Ed25519PublicKey> trusted);

// Above it is no bundle: a set and its module, and what names them.
inline constexpr std::size_t BundleBytesMax = (std::size_t{1} << 30) + (std::size_t{128} << 20);

}  // namespace curfew::module
