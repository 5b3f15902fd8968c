#include "runtime/evidence/signing_key.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

namespace curfew::evidence {

namespace {

constexpr std::size_t PemBytesMax = 4096;

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using OwnedBio = std::unique_ptr<BIO, FreeBio>;
using OwnedKey = std::unique_ptr<EVP_PKEY, FreeKey>;

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long bytes = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(bytes)};
}

OwnedBio BioOf(std::string_view text) {
  OwnedBio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  CURFEW_CHECK(bio != nullptr, "OpenSSL has memory for a buffer");
  return bio;
}

// Never asks a person for a password.
int NoPassword(char*, int, int, void*) { return -1; }

std::string PublicPem(const Ed25519PublicKey& key) {
  const OwnedKey handle(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()));
  const OwnedBio bio(BIO_new(BIO_s_mem()));
  CURFEW_CHECK(handle && bio && PEM_write_bio_PUBKEY(bio.get(), handle.get()) == 1,
               "OpenSSL writes an Ed25519 key");
  return TextOf(bio.get());
}

Ed25519PublicKey PublicHalf(const EVP_PKEY* key) {
  Ed25519PublicKey half{};
  std::size_t bytes = half.size();
  CURFEW_CHECK(EVP_PKEY_get_raw_public_key(key, half.data(), &bytes) == 1 && bytes == half.size(),
               "an Ed25519 key has 32 public bytes");
  return half;
}

bool IsEd25519(const EVP_PKEY* key) {
  return key != nullptr && EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519;
}

// A new key, written whole; no failure when somebody else was faster.
Outcome CreateKey(host::Files& files, host::Entropy& entropy, const std::string& path) {
  CURFEW_TRY(Bytes seed, entropy.Draw(32));
  const OwnedKey key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()));
  OPENSSL_cleanse(seed.data(), seed.size());
  const OwnedBio bio(BIO_new(BIO_s_secmem()));
  CURFEW_CHECK(key && bio &&
                   PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                                 nullptr) == 1,
               "OpenSSL writes an Ed25519 key");
  std::string pem = TextOf(bio.get());
  Outcome created = files.CreateDurable(path, AsBytes(pem), 0600);
  OPENSSL_cleanse(pem.data(), pem.size());
  if (!created && created.error().code == FailureCode::AlreadyExists) return Ok();
  return created;
}

Result<OwnedKey> LoadKey(host::Files& files, const std::string& path) {
  CURFEW_TRY(const host::FileStatus status, files.Inspect(path, host::Follow::No));
  if (status.kind != host::FileKind::Regular) {
    return Failure(FailureCode::Malformed, Printable(path) + " is not a regular file");
  }
  if ((status.mode & 077) != 0) {
    return Failure(FailureCode::PermissionDenied,
                   fmt::format("the key {} can be read by others (mode {:04o}); whoever did may "
                               "have it: remove it and its public half, a new one is made",
                               Printable(path), status.mode));
  }
  CURFEW_TRY(Bytes pem, files.ReadWhole(path, PemBytesMax));
  const OwnedBio bio = BioOf(AsText(pem));
  OwnedKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr));
  OPENSSL_cleanse(pem.data(), pem.size());
  if (!IsEd25519(key.get())) {
    return Failure(FailureCode::Malformed,
                   Printable(path) +
                       " is no Ed25519 key in PEM; restore it from a backup, or move "
                       "it and its public half away and a new one is made");
  }
  return key;
}

}  // namespace

struct SigningKey::Secret {
  OwnedKey key;
};

SigningKey::SigningKey(std::unique_ptr<Secret> secret)
    : secret_(std::move(secret)), public_key_(PublicHalf(secret_->key.get())) {}
SigningKey::SigningKey(SigningKey&&) noexcept = default;
SigningKey& SigningKey::operator=(SigningKey&&) noexcept = default;
SigningKey::~SigningKey() = default;

std::string KeyIdOf(const Ed25519PublicKey& key) { return ToString(Sha256(key)); }

Result<SigningKey> SigningKey::LoadOrCreate(host::Files& files, host::Entropy& entropy,
                                            const std::string& private_path,
                                            const std::string& public_path) {
  const Result<host::FileStatus> status = files.Inspect(private_path, host::Follow::No);
  if (!status && status.error().code == FailureCode::NotFound) {
    CURFEW_TRY_VOID(CreateKey(files, entropy, private_path));
  }
  CURFEW_TRY(OwnedKey loaded, LoadKey(files, private_path));
  SigningKey key(std::make_unique<Secret>(Secret{std::move(loaded)}));

  Result<Ed25519PublicKey> half = LoadPublicKey(files, public_path);
  if (!half && half.error().code == FailureCode::NotFound) {
    const std::string pem = PublicPem(key.public_key());
    const Outcome created = files.CreateDurable(public_path, AsBytes(pem), 0644);
    if (!created && created.error().code != FailureCode::AlreadyExists) return created.error();
    half = LoadPublicKey(files, public_path);
  }
  if (!half) return half.error();
  if (*half != key.public_key()) {
    return Failure(FailureCode::Tampered,
                   fmt::format("{} is not the public half of {}; find out which of them was "
                               "changed, and restore it",
                               Printable(public_path), Printable(private_path)));
  }
  return key;
}

Ed25519Signature SigningKey::Sign(ByteView message) const {
  struct FreeContext {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  Ed25519Signature signature{};
  std::size_t bytes = signature.size();
  CURFEW_CHECK(context && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr,
                                             secret_->key.get()) == 1,
               "OpenSSL signs with Ed25519");
  CURFEW_CHECK(EVP_DigestSign(context.get(), signature.data(), &bytes, message.data(),
                              message.size()) == 1 &&
                   bytes == signature.size(),
               "an Ed25519 signature has 64 bytes");
  return signature;
}

Result<Ed25519PublicKey> LoadPublicKey(host::Files& files, const std::string& path) {
  CURFEW_TRY(const std::string pem, host::ReadText(files, path, PemBytesMax));
  const OwnedBio bio = BioOf(pem);
  const OwnedKey key(PEM_read_bio_PUBKEY(bio.get(), nullptr, NoPassword, nullptr));
  if (IsEd25519(key.get())) {
    const Ed25519PublicKey half = PublicHalf(key.get());
    if (PublicPem(half) == pem) return half;
  }
  return Failure(FailureCode::Malformed,
                 Printable(path) + " is not exactly one Ed25519 public key in PEM");
}

}  // namespace curfew::evidence
