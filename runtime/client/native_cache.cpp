#include "runtime/client/native_cache.h"

#include "compiler/base/crypto.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::client {

// A file is the signature of what it is, and the image behind it.
std::string NativeCache::MessageOf(const Digest& module, ByteView image) const {
  return fmt::format("curfew native code 1\n{}\n{}\n{}\n", ToString(module),
                     ToString(Sha256(AsBytes(maker_))), ToString(Sha256(image)));
}

// By set and maker, so that two compilers on one host do not take each other's place.
std::string NativeCache::PathOf(const Digest& module) const {
  const std::string name =
      ToString(Sha256(AsBytes(fmt::format("{}\n{}", ToString(module), maker_))));
  return fmt::format("{}/{}", folder_, name.substr(name.find(':') + 1));
}

std::optional<Bytes> NativeCache::Find(const Digest& module) const {
  auto file = files_.ReadWhole(PathOf(module), ImageBytesMax + sizeof(Ed25519Signature));
  if (!file || file->size() <= sizeof(Ed25519Signature)) return std::nullopt;
  Ed25519Signature signature;
  std::copy_n(file->begin(), signature.size(), signature.begin());
  file->erase(file->begin(), file->begin() + signature.size());
  if (!VerifyEd25519(key_.public_key(), AsBytes(MessageOf(module, *file)), signature)) {
    return std::nullopt;
  }
  return *std::move(file);
}

// All of them go: whichever is wanted again is made again.
Outcome NativeCache::MakeRoom() const {
  CURFEW_TRY(const std::vector<std::string> names, files_.List(folder_));
  if (names.size() < ImagesMax) return Ok();
  for (const std::string& name : names) {
    CURFEW_TRY(const bool was_there, files_.Remove(folder_ + "/" + name));
    static_cast<void>(was_there);
  }
  return Ok();
}

Outcome NativeCache::Keep(const Digest& module, ByteView image) const {
  if (image.size() > ImageBytesMax) {
    return Failure(FailureCode::TooLarge, "the native code is too large to be kept");
  }
  CURFEW_TRY_VOID(MakeRoom());
  const Ed25519Signature signature = key_.Sign(AsBytes(MessageOf(module, image)));
  Bytes file(signature.begin(), signature.end());
  file.insert(file.end(), image.begin(), image.end());
  // What stands there was not to be trusted, or another run is as far as this one.
  CURFEW_TRY(const bool was_there, files_.Remove(PathOf(module)));
  static_cast<void>(was_there);
  return files_.CreateDurable(PathOf(module), file, 0600);
}

}  // namespace curfew::client
