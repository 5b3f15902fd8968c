// Native code that was made before, kept in this host's state directory, so that a policy set is
// compiled once and not for each run. What is found is trusted by its signature alone: code that is
// damaged, of another set, compiler or machine, or signed by another key, is as good as none.
#pragma once

#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "runtime/evidence/signing_key.h"
#include "runtime/host/files.h"

#include <optional>
#include <string>

namespace curfew::client {

class NativeCache {
 public:
  // `folder` exists. `maker` says all that code depends on beside the set: compiler and processor.
  // The key is of this purpose alone. References outlive the cache.
  NativeCache(host::Files& files, const evidence::SigningKey& key, std::string folder,
              std::string maker)
      : files_(files), key_(key), folder_(std::move(folder)), maker_(std::move(maker)) {}

  // The code of a module with this content; nothing where there is none that can be trusted.
  [[nodiscard]] std::optional<Bytes> Find(const Digest& module) const;
  // Others make room where there are ImagesMax. After a failure there is none, and no half one.
  Outcome Keep(const Digest& module, ByteView image) const;

  static constexpr std::size_t ImagesMax = 64;
  static constexpr std::size_t ImageBytesMax = 64 * 1024 * 1024;

 private:
  [[nodiscard]] std::string PathOf(const Digest& module) const;
  [[nodiscard]] std::string MessageOf(const Digest& module, ByteView image) const;
  Outcome MakeRoom() const;

  host::Files& files_;
  const evidence::SigningKey& key_;
  std::string folder_;
  std::string maker_;
};

}  // namespace curfew::client
