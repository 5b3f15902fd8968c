#include "compiler/embed/handles.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/module/bundle.h"
#include "compiler/native/native_compiler.h"
#include "compiler/native/native_engine.h"

#include <dlfcn.h>
#include <span>

namespace curfew::embed {
namespace {

using module::PolicyModule;

// What the caller was built with; fields that it does not know are zero.
curfew_options Known(const curfew_options* given) {
  curfew_options options{};
  if (given == nullptr) return options;
  std::memcpy(&options, given, std::min(given->size, sizeof options));
  return options;
}

Result<std::vector<Ed25519PublicKey>> TrustedBy(const curfew_options& options) {
  std::vector<Ed25519PublicKey> keys(options.trusted_key_count);
  if (keys.empty()) return keys;
  if (options.trusted_keys == nullptr) {
    return Failure(FailureCode::Usage, "trusted_keys is NULL and trusted_key_count is not zero");
  }
  std::memcpy(keys.data(), options.trusted_keys, keys.size() * sizeof(Ed25519PublicKey));
  return keys;
}

// The one beside this library, wherever that was loaded from.
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

Result<std::unique_ptr<module::DecisionEngine>> NativeFor(ByteView bytes,
                                                          const curfew_options& options) {
  CURFEW_TRY(const OwnedFd image, native::CompileNative(CompilerLibrary(options), bytes));
  CURFEW_TRY(PolicyModule policy, PolicyModule::Load(bytes, options.generation));
  auto engine = native::NativeEngine::Make(std::move(policy), image.get());
  if (!engine) return std::move(engine).error();
  return std::unique_ptr<module::DecisionEngine>(*std::move(engine));
}

Outcome ChooseEngine(const curfew_options& options, curfew_policy& policy) {
  if (options.engine != CURFEW_ENGINE_INTERPRETER) {
    auto native = NativeFor(policy.module, options);
    if (native) {
      policy.engine = *std::move(native);
      return Ok();
    }
    if (options.engine == CURFEW_ENGINE_NATIVE) return std::move(native).error();
    policy.why_not_native = native.error().message;
  }
  CURFEW_TRY(PolicyModule loaded, PolicyModule::Load(policy.module, options.generation));
  policy.engine = std::make_unique<interpret::Interpreter>(std::move(loaded));
  return Ok();
}

Result<std::unique_ptr<curfew_policy>> Open(ByteView bytes, const curfew_options& options) {
  CURFEW_TRY(const std::vector<Ed25519PublicKey> trusted, TrustedBy(options));
  CURFEW_TRY(module::Bundle bundle, module::ReadBundle(bytes, trusted));
  auto policy = std::make_unique<curfew_policy>();
  policy->module = std::move(bundle.content.module);
  CURFEW_TRY_VOID(ChooseEngine(options, *policy));
  const PolicyModule& loaded = policy->engine->module();
  if (loaded.manifest().policy != bundle.content.policy) {
    return Failure(FailureCode::Tampered, "the bundle's manifest is of another policy set");
  }
  policy->digest = ToString(loaded.manifest().policy);
  for (const schema::ActionInfo& info : schema::Actions()) {
    policy->facts[static_cast<std::size_t>(info.action)] =
        module::FactsOf(info.action, loaded.declared());
  }
  return policy;
}

}  // namespace

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
    auto opened = curfew::embed::Open({static_cast<const std::uint8_t*>(bundle), size}, known);
    if (!opened) return Fail(error, opened.error());
    *policy = (*std::move(opened)).release();
    return CURFEW_OK;
  });
}

void curfew_policy_free(curfew_policy* policy) { delete policy; }

const char* curfew_policy_digest(const curfew_policy* policy) {
  return policy == nullptr ? "" : policy->digest.c_str();
}
const char* curfew_policy_engine(const curfew_policy* policy) {
  // A kind is a literal, so that a zero byte ends it.
  return policy == nullptr ? "" : policy->engine->kind().data();
}
const char* curfew_policy_why_not_native(const curfew_policy* policy) {
  return policy == nullptr ? "" : policy->why_not_native.c_str();
}

}  // extern "C"
