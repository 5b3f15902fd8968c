#include "compiler/embed/handles.h"
#include "compiler/live/live_policy.h"
#include "compiler/native/native_compiler.h"

#include <vector>

using namespace curfew;
using namespace curfew::embed;

struct curfew_live {
  std::vector<std::uint8_t> trusted_keys;
  std::string compiler;
  curfew_options options{};  // views the two above
  // Readers keep it, so that one which is freed too late harms nobody. Every generation of it is a
  // curfew_policy.
  std::shared_ptr<live::LivePolicy> policy;
};

struct curfew_reader {
  explicit curfew_reader(std::shared_ptr<live::LivePolicy> of)
      : policy(std::move(of)), reader(*policy) {}

  std::shared_ptr<live::LivePolicy> policy;
  live::Reader reader;
};

namespace curfew::embed {
namespace {

// What the caller's options say, kept for the reloads to come.
void Keep(const curfew_options& options, curfew_live& live) {
  live.options = options;
  if (options.trusted_keys != nullptr) {
    live.trusted_keys.assign(
        options.trusted_keys,
        options.trusted_keys + options.trusted_key_count * sizeof(Ed25519PublicKey));
    live.options.trusted_keys = live.trusted_keys.data();
  }
  live.compiler = CompilerLibrary(options);
  live.options.jit_library = live.compiler.c_str();
}

// Where native code is demanded, nothing is in force before there is some.
Result<std::shared_ptr<curfew_policy>> Next(const curfew_live& live, const void* bundle,
                                            std::size_t size, std::uint64_t generation) {
  const ByteView bytes(static_cast<const std::uint8_t*>(bundle), size);
  CURFEW_TRY(auto policy, Open(bytes, live.options, generation));
  if (live.options.engine == CURFEW_ENGINE_NATIVE) {
    CURFEW_TRY_VOID(MakeNative(live.compiler, *policy));
  }
  return policy;
}

live::LivePolicy::Compile CompileOf(const curfew_live& live) {
  if (live.options.engine != CURFEW_ENGINE_AUTO) return {};
  return [path = live.compiler](ByteView module) { return native::CompileNative(path, module); };
}

}  // namespace
}  // namespace curfew::embed

extern "C" {

curfew_status curfew_live_open(const void* bundle, size_t size, const curfew_options* options,
                               curfew_live** live, curfew_error* error) {
  return Guard(error, [&]() -> curfew_status {
    if (bundle == nullptr || live == nullptr) {
      return Fail(error, CURFEW_INVALID_ARGUMENT, "the bundle or the place for the policy is NULL");
    }
    *live = nullptr;
    auto made = std::make_unique<curfew_live>();
    Keep(Known(options), *made);
    if (made->options.engine > CURFEW_ENGINE_INTERPRETER) {
      return Fail(error, CURFEW_INVALID_ARGUMENT, "there is no such engine");
    }
    auto first = Next(*made, bundle, size, made->options.generation);
    if (!first) return Fail(error, first.error());
    made->policy = std::make_shared<live::LivePolicy>(*std::move(first), CompileOf(*made));
    *live = made.release();
    return CURFEW_OK;
  });
}

curfew_status curfew_live_reload(curfew_live* live, const void* bundle, size_t size,
                                 uint64_t generation, curfew_error* error) {
  return Guard(error, [&]() -> curfew_status {
    if (live == nullptr || bundle == nullptr) {
      return Fail(error, CURFEW_INVALID_ARGUMENT, "the live policy or the bundle is NULL");
    }
    auto next = Next(*live, bundle, size, generation);
    if (!next) return Fail(error, next.error());
    const Outcome adopted = live->policy->Adopt(*std::move(next));
    return adopted ? CURFEW_OK : Fail(error, adopted.error());
  });
}

void curfew_live_free(curfew_live* live) { delete live; }

uint64_t curfew_live_generation(const curfew_live* live) {
  return live == nullptr ? 0 : live->policy->standing().generation;
}

size_t curfew_live_waiting(const curfew_live* live) {
  return live == nullptr ? 0 : live->policy->standing().waiting;
}

int curfew_live_settle(const curfew_live* live, uint32_t milliseconds_at_most) {
  if (live == nullptr) return 0;
  return live->policy->AwaitNative(std::chrono::milliseconds(milliseconds_at_most)) ? 1 : 0;
}

curfew_status curfew_reader_new(curfew_live* live, curfew_reader** reader, curfew_error* error) {
  return Guard(error, [&]() -> curfew_status {
    if (live == nullptr || reader == nullptr) {
      return Fail(error, CURFEW_INVALID_ARGUMENT, "the live policy or the place is NULL");
    }
    *reader = new curfew_reader(live->policy);
    return CURFEW_OK;
  });
}

void curfew_reader_free(curfew_reader* reader) {
  if (reader != nullptr) reader->reader.Leave();
  delete reader;
}

const curfew_policy* curfew_reader_hold(curfew_reader* reader) {
  if (reader == nullptr) return nullptr;
  return static_cast<const curfew_policy*>(reader->reader.Enter());
}

void curfew_reader_release(curfew_reader* reader) {
  if (reader != nullptr) reader->reader.Leave();
}

}  // extern "C"
