// An Ed25519 key of this host in a file. Each purpose (receipts, tokens) has its own.
#pragma once

#include "compiler/base/crypto.h"
#include "runtime/host/entropy.h"
#include "runtime/host/files.h"

#include <memory>
#include <string>

namespace curfew::evidence {

// "sha256:…" of the 32 bytes of the key.
std::string KeyIdOf(const Ed25519PublicKey& key);

class SigningKey {
 public:
  // Loads the PEM at `private_path` (refused when its mode lets others read it: PermissionDenied),
  // or creates it (0600) on first use; of several creators one wins and all get the same key. The
  // public half stands at `public_path`; Tampered when it belongs to another key.
  static Result<SigningKey> LoadOrCreate(host::Files& files, host::Entropy& entropy,
                                         const std::string& private_path,
                                         const std::string& public_path);
  SigningKey(SigningKey&&) noexcept;
  SigningKey& operator=(SigningKey&&) noexcept;
  ~SigningKey();

  [[nodiscard]] Ed25519Signature Sign(ByteView message) const;
  [[nodiscard]] const Ed25519PublicKey& public_key() const { return public_key_; }
  [[nodiscard]] std::string key_id() const { return KeyIdOf(public_key_); }

 private:
  struct Secret;
  explicit SigningKey(std::unique_ptr<Secret> secret);
  std::unique_ptr<Secret> secret_;
  Ed25519PublicKey public_key_{};
};

// A PEM file (SubjectPublicKeyInfo) with an Ed25519 key and nothing else.
Result<Ed25519PublicKey> LoadPublicKey(host::Files& files, const std::string& path);

}  // namespace curfew::evidence
