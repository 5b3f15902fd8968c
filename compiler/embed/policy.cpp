#include "compiler/embed/handles.h"
#include "compiler/module/bundle.h"
#include "compiler/native/native_compiler.h"

#include <dlfcn.h>
#include <span>

namespace curfew::embed {
namespace {

Result<std::vector<Ed25519PublicKey>> TrustedBy(const curfew_options& options) {
  std::vector<Ed25519PublicKey> keys(options.trusted_key_count);
  if (keys.empty()) return keys;
  if (options.trusted_keys == nullptr) {
    return Failure(FailureCode::Usage, "trusted_keys is NULL and trusted_key_count is not zero");
  }
  std::memcpy(keys.data(), options.trusted_keys, keys.size() * sizeof(Ed25519PublicKey));
  return keys;
}

}  // namespace

curfew_options Known(const curfew_options* given) {
  curfew_options options{};
  if (given == nullptr) return options;
  std::memcpy(&options, given, std::min(given->size, sizeof options));
  return options;
}

std::string CompilerLibrary(const curfew_options& options) {
  if (options.jit_library != nullptr) return options.jit_library;
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&curfew_policy_open), &here) == 0 ||
      here.dli_fname == nullptr) {
    return native::LibraryName;
  }
  const std::string self = here.dli_fname;
  return self.substr(0, self.rfind('/') + 1) + native::LibraryName;
}

Result<std::shared_ptr<curfew_policy>> Open(ByteView bundle, const curfew_options& options,
                                            std::uint64_t generation) {
  CURFEW_TRY(const std::vector<Ed25519PublicKey> trusted, TrustedBy(options));
  CURFEW_TRY(module::Bundle read, module::ReadBundle(bundle, trusted));
  Bytes module = std::move(read.content.module);
  CURFEW_TRY(module::PolicyModule loaded, module::PolicyModule::Load(module, generation));
  if (loaded.manifest().policy != read.content.policy) {
    return Failure(FailureCode::Tampered, "the bundle's manifest is of another policy set");
  }
  return std::make_shared<curfew_policy>(std::move(module), std::move(loaded));
}

Outcome MakeNative(const std::string& compiler, curfew_policy& policy) {
  const Result<OwnedFd> image = native::CompileNative(compiler, policy.bytes());
  Outcome made = image ? policy.BecomeNative(image->get()) : Outcome(image.error());
  if (!made) policy.StayInterpreted(made.error().message);
  return made;
}

curfew_status StatusOf(FailureCode code) {
  switch (code) {
    case FailureCode::Usage:
      return CURFEW_INVALID_ARGUMENT;
    case FailureCode::Malformed:
    case FailureCode::InvalidPolicy:
      return CURFEW_MALFORMED;
    case FailureCode::Tampered:
      return CURFEW_TAMPERED;
    case FailureCode::Denied:
      return CURFEW_DENIED;
    case FailureCode::TooLarge:
      return CURFEW_TOO_LARGE;
    case FailureCode::Unsupported:
      return CURFEW_UNSUPPORTED;
    case FailureCode::NotFound:
    case FailureCode::AlreadyExists:
    case FailureCode::PermissionDenied:
    case FailureCode::Undecided:
    case FailureCode::Interrupted:
    case FailureCode::TimedOut:
    case FailureCode::PeerGone:
    case FailureCode::OutOfSpace:
    case FailureCode::Busy:
    case FailureCode::System:
      return CURFEW_FAULT;
  }
  CURFEW_UNREACHABLE("the switch names every code");
}

}  // namespace curfew::embed

using curfew::embed::Fail;
using curfew::embed::Guard;

extern "C" {

uint32_t curfew_abi_version(void) { return CURFEW_ABI_VERSION; }

const char* curfew_version(void) { return CURFEW_VERSION; }

curfew_status curfew_policy_open(const void* bundle, size_t size, const curfew_options* options,
                                 curfew_policy** policy, curfew_error* error) {
  return Guard(error, [&]() -> curfew_status {
    if (bundle == nullptr || policy == nullptr) {
      return Fail(error, CURFEW_INVALID_ARGUMENT, "the bundle or the place for the policy is NULL");
    }
    *policy = nullptr;
    const curfew_options known = curfew::embed::Known(options);
    if (known.engine > CURFEW_ENGINE_INTERPRETER) {
      return Fail(error, CURFEW_INVALID_ARGUMENT, "there is no such engine");
    }
    const curfew::ByteView bytes(static_cast<const std::uint8_t*>(bundle), size);
    auto opened = curfew::embed::Open(bytes, known, known.generation);
    if (!opened) return Fail(error, opened.error());
    const std::shared_ptr<curfew_policy> made = *std::move(opened);
    if (known.engine != CURFEW_ENGINE_INTERPRETER) {
      const auto native = curfew::embed::MakeNative(curfew::embed::CompilerLibrary(known), *made);
      if (!native && known.engine == CURFEW_ENGINE_NATIVE) return Fail(error, native.error());
    }
    made->opened = made;
    *policy = made.get();
    return CURFEW_OK;
  });
}

void curfew_policy_free(curfew_policy* policy) {
  // Outlives what it is a part of.
  if (policy != nullptr) const auto last = std::move(policy->opened);
}

const char* curfew_policy_digest(const curfew_policy* policy) {
  return policy == nullptr ? "" : policy->digest().c_str();
}
const char* curfew_policy_engine(const curfew_policy* policy) {
  // A kind is a literal, so that a zero byte ends it.
  return policy == nullptr ? "" : policy->engine().kind().data();
}
const char* curfew_policy_why_not_native(const curfew_policy* policy) {
  return policy == nullptr ? "" : policy->why_not_native().data();
}

}  // extern "C"
