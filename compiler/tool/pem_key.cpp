#include "compiler/tool/pem_key.h"

#include "compiler/base/owned_fd.h"
#include "compiler/tool/read_input.h"

#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <utility>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

namespace curfew::tool {
namespace {

constexpr std::size_t PemBytesMax = 4096;

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using OwnedBio = std::unique_ptr<BIO, FreeBio>;
using OwnedKey = std::unique_ptr<EVP_PKEY, FreeKey>;
using OwnedContext = std::unique_ptr<EVP_MD_CTX, FreeContext>;

OwnedBio BioOf(std::string_view text) {
  OwnedBio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  CURFEW_CHECK(bio != nullptr, "OpenSSL has memory for a buffer");
  return bio;
}

// Never asks a person for a password.
int NoPassword(char*, int, int, void*) { return -1; }

Result<Ed25519PublicKey> PublicHalf(const EVP_PKEY* key, const std::string& path,
                                    std::string_view wanted) {
  Ed25519PublicKey half{};
  std::size_t bytes = half.size();
  if (key == nullptr || EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_public_key(key, half.data(), &bytes) != 1 || bytes != half.size()) {
    return Failure(FailureCode::Malformed,
                   fmt::format("{} is no {} of Ed25519 in PEM", Printable(path), wanted));
  }
  return half;
}

Outcome MustBePrivate(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return SystemFailure(errno, "cannot open " + path);
  if ((status.st_mode & 077) == 0) return Ok();
  return Failure(FailureCode::PermissionDenied,
                 fmt::format("the key {} can be read by others (mode {:04o}); whoever did may have "
                             "it: make a new one, with mode 0600",
                             Printable(path), status.st_mode & 07777));
}

Ed25519Signature SignWith(EVP_PKEY* key, ByteView message) {
  Ed25519Signature signature{};
  std::size_t bytes = signature.size();
  const OwnedContext context(EVP_MD_CTX_new());
  CURFEW_CHECK(context && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key) == 1 &&
                   EVP_DigestSign(context.get(), signature.data(), &bytes, message.data(),
                                  message.size()) == 1 &&
                   bytes == signature.size(),
               "OpenSSL signs with an Ed25519 key");
  return signature;
}

}  // namespace

Result<module::BundleSigner> ReadSigningKey(const std::string& path) {
  CURFEW_TRY_VOID(MustBePrivate(path));
  CURFEW_TRY(std::string pem, ReadInput(path, PemBytesMax));
  const OwnedBio bio = BioOf(pem);
  std::shared_ptr<EVP_PKEY> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr),
                                FreeKey());
  OPENSSL_cleanse(pem.data(), pem.size());
  CURFEW_TRY(const Ed25519PublicKey half, PublicHalf(key.get(), path, "private key"));
  return module::BundleSigner{
      .key = half, .sign = [key](ByteView message) { return SignWith(key.get(), message); }};
}

Result<std::vector<Ed25519PublicKey>> ReadPublicKeys(std::span<const std::string> paths) {
  std::vector<Ed25519PublicKey> keys;
  for (const std::string& path : paths) {
    CURFEW_TRY(const std::string pem, ReadInput(path, PemBytesMax));
    const OwnedBio bio = BioOf(pem);
    const OwnedKey key(PEM_read_bio_PUBKEY(bio.get(), nullptr, NoPassword, nullptr));
    CURFEW_TRY(const Ed25519PublicKey half, PublicHalf(key.get(), path, "public key"));
    keys.push_back(half);
  }
  return keys;
}

}  // namespace curfew::tool
