// POLICY of a verb that decides by a set, or looks at one: its files and folders, or a bundle of
// it; with --trust and --root.
#pragma once

#include "compiler/base/console.h"
#include "compiler/tool/open_bundle.h"
#include "compiler/tool/root_option.h"

#include <optional>
#include <string>
#include <vector>

namespace curfew::tool {

class PolicyOption {
 public:
  struct Opened {
    module::BundleContent content;
    bool is_bundle = false;
    std::optional<Ed25519PublicKey> signer = {};
  };

  void Configure(CLI::App& app);

  // Usage where both this and `request` are standard input.
  [[nodiscard]] Outcome CheckBeside(const std::string& request) const;
  // The set's module, or all that its bundle holds or would hold. Warnings are printed; nothing is
  // returned where there are errors, which are printed as well.
  Result<std::optional<Bytes>> ReadModule(Console& console) const;
  Result<std::optional<Opened>> ReadContent(Console& console) const;

 private:
  std::vector<std::string> paths_;
  TrustOption trust_;
  RootOption root_;
};

}  // namespace curfew::tool
