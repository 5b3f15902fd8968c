// A policy set that comes compiled, as a bundle in place of its files; and whose bundles are taken.
#pragma once

#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/module/bundle.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace curfew::tool {

// --trust KEY: with it nothing but a bundle that one of the keys signed decides.
class TrustOption {
 public:
  void Configure(CLI::App& app);
  [[nodiscard]] std::span<const std::string> keys() const { return keys_; }

 private:
  std::vector<std::string> keys_;
};

// The bundle that `paths` name: nothing where they name files of a set, which are refused (Denied)
// where there is a key to trust. The module of a bundle that is returned is proven to load.
Result<std::optional<module::Bundle>> OpenBundle(std::span<const std::string> paths,
                                                 std::span<const std::string> trusted_keys);

// A module's bytes by either way, for whoever runs by them: InvalidPolicy with the diagnostics as
// its message.
Result<Bytes> OpenModule(std::span<const std::string> paths,
                         std::span<const std::string> trusted_keys, const std::string& root);

}  // namespace curfew::tool
