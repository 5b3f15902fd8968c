#include "compiler/tool/open_bundle.h"

#include "compiler/base/owned_fd.h"
#include "compiler/base/verb.h"
#include "compiler/module/policy_module.h"
#include "compiler/tool/compile_set.h"
#include "compiler/tool/pem_key.h"
#include "compiler/tool/read_input.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::tool {
namespace {

// Whether the path is a file that begins as a bundle. What cannot be read here is a file of a set
// to whoever reads it next, and says why then.
bool IsBundle(const std::string& path) {
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (!file.is_open() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  std::array<std::uint8_t, module::BundleBeginBytes> begin{};
  return pread(file.get(), begin.data(), begin.size(), 0) == static_cast<ssize_t>(begin.size()) &&
         module::BeginsBundle(begin);
}

}  // namespace

void TrustOption::Configure(CLI::App& app) {
  app.add_option("--trust", keys_, std::string(TrustHelp))->allow_extra_args(false);
}

Result<std::optional<module::Bundle>> OpenBundle(std::span<const std::string> paths,
                                                 std::span<const std::string> trusted_keys) {
  CURFEW_TRY(const std::vector<Ed25519PublicKey> trusted, ReadPublicKeys(trusted_keys));
  const auto bundled = std::find_if(paths.begin(), paths.end(), IsBundle);
  if (bundled == paths.end()) {
    if (trusted.empty()) return std::optional<module::Bundle>();
    return Failure(FailureCode::Denied,
                   "only a bundle of a trusted signer is taken here (--trust), and these are files "
                   "of a set; make one with `curfew compile --sign KEY`");
  }
  if (paths.size() > 1) {
    return Failure(FailureCode::Usage,
                   fmt::format("{} is a bundle, which is a whole set; name it alone", *bundled));
  }
  CURFEW_TRY(const std::string bytes, ReadInput(*bundled, module::BundleBytesMax));
  Result<module::Bundle> read = module::ReadBundle(AsBytes(bytes), trusted);
  if (!read) return std::move(read).error().In(*bundled);
  const auto loaded = module::PolicyModule::Load(read->content.module, 1);
  if (!loaded) return Failure(loaded.error()).In(*bundled);
  const module::Manifest& manifest = loaded->manifest();
  if (manifest.policy != read->content.policy || manifest.language != read->content.language ||
      manifest.compiler != read->content.compiler) {
    return Failure(FailureCode::Tampered, "its manifest is not its module's").In(*bundled);
  }
  return std::optional(*std::move(read));
}

Result<Bytes> OpenModule(std::span<const std::string> paths,
                         std::span<const std::string> trusted_keys, const std::string& root) {
  CURFEW_TRY(std::optional<module::Bundle> bundle, OpenBundle(paths, trusted_keys));
  if (bundle) return std::move(bundle->content.module);
  return CompileModule(paths, {.root = root});
}

}  // namespace curfew::tool
