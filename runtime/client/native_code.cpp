#include "runtime/client/native_code.h"

#include "compiler/module/policy_module.h"
#include "runtime/client/native_cache.h"
#include "runtime/evidence/signing_key.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace curfew::client {
namespace {

bool LetsAnythingOut(const module::PolicyModule& policy) {
  for (module::ClassIndex i = 0; i < policy.class_count(); ++i) {
    if (policy.plan(i).network) return true;
  }
  return false;
}

// The bytes of a sealed memory file.
Result<Bytes> BytesOf(const OwnedFd& memory) {
  struct stat status{};
  if (fstat(memory.get(), &status) != 0) return SystemFailure(errno, "look at native code");
  Bytes bytes(static_cast<std::size_t>(status.st_size));
  std::size_t read = 0;
  while (read < bytes.size()) {
    const ssize_t got =
        pread(memory.get(), bytes.data() + read, bytes.size() - read, static_cast<off_t>(read));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return SystemFailure(errno, "read native code");
    read += static_cast<std::size_t>(got);
  }
  return bytes;
}

// Made now, and kept for the next time if it can be.
Result<OwnedFd> Make(const Means& means, const NativeCache& cache, const Digest& content,
                     ByteView module) {
  CURFEW_TRY(OwnedFd code, means.make_native_code(module));
  if (const auto bytes = BytesOf(code)) static_cast<void>(cache.Keep(content, *bytes));
  return code;
}

}  // namespace

Result<OwnedFd> NativeCodeFor(const Means& means, const host::StateDirectory& state,
                              ByteView module) {
  CURFEW_TRY(const module::PolicyModule policy, module::PolicyModule::Load(module, 1));
  if (!LetsAnythingOut(policy)) {
    return Failure(FailureCode::Unsupported, std::string(NothingGoesOut));
  }
  CURFEW_TRY(std::string maker, means.native_code_maker());
  CURFEW_TRY(const evidence::SigningKey key,
             evidence::SigningKey::LoadOrCreate(means.files, means.entropy, state.NativeCodeKey(),
                                                state.NativeCodePublicKey()));
  const NativeCache cache(means.files, key, state.NativeCode(), std::move(maker));
  const Digest content = policy.manifest().content;
  if (const auto kept = cache.Find(content)) return means.seal_native_code(*kept);
  return Make(means, cache, content, module);
}

}  // namespace curfew::client
