#include "compiler/base/crypto.h"

#include "compiler/base/check.h"

#include <openssl/evp.h>

namespace curfew {

std::string ToString(const Digest& digest) { return "sha256:" + Hex(digest.bytes); }

std::optional<Digest> ParseDigest(std::string_view text) {
  constexpr std::string_view kPrefix = "sha256:";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  const std::optional<Bytes> bytes = FromHex(text.substr(kPrefix.size()));
  Digest digest;
  if (!bytes || bytes->size() != digest.bytes.size()) return std::nullopt;
  std::copy(bytes->begin(), bytes->end(), digest.bytes.begin());
  return digest;
}

struct Sha256Stream::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {
  CURFEW_CHECK(state_->context != nullptr, "OpenSSL has memory for a digest");
  CURFEW_CHECK(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1,
               "OpenSSL offers SHA-256");
}
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;
Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::Update(ByteView bytes) {
  CURFEW_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1,
               "SHA-256 takes any bytes");
}

Digest Sha256Stream::Finish() {
  Digest digest;
  unsigned size = 0;
  CURFEW_CHECK(EVP_DigestFinal_ex(state_->context, digest.bytes.data(), &size) == 1,
               "SHA-256 ends");
  CURFEW_CHECK(size == digest.bytes.size(), "SHA-256 has 32 bytes");
  return digest;
}

Digest Sha256(ByteView bytes) {
  Sha256Stream stream;
  stream.Update(bytes);
  return stream.Finish();
}

bool VerifyEd25519(const Ed25519PublicKey& key, ByteView message,
                   const Ed25519Signature& signature) {
  EVP_PKEY* public_key =
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size());
  if (public_key == nullptr) return false;
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  const bool valid = context != nullptr &&
                     EVP_DigestVerifyInit(context, nullptr, nullptr, nullptr, public_key) == 1 &&
                     EVP_DigestVerify(context, signature.data(), signature.size(), message.data(),
                                      message.size()) == 1;
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(public_key);
  return valid;
}

}  // namespace curfew
