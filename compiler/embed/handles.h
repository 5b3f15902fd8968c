// What stands behind the handles of curfew.h, and how a C++ failure becomes a status. No exception
// passes `Guard`.
#pragma once

#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/embed/curfew.h"
#include "compiler/live/generation.h"
#include "compiler/module/request_json.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

// The names are those of the C header.
struct curfew_policy final : curfew::live::Generation {
  using Generation::Generation;

  // Itself, from curfew_policy_open to curfew_policy_free; of a live policy's nothing.
  std::shared_ptr<curfew_policy> opened;
};

struct curfew_request {
  // Its facts have the numbers of this policy, which stays for as long as they may be set.
  std::shared_ptr<const curfew_policy> policy;
  curfew::module::PreparedRequest request;
  curfew::module::ValueArena arena;
};

struct curfew_verdict {
  const curfew_policy* policy = nullptr;  // by which it was decided; null before
  curfew::schema::Action action = curfew::schema::Action::Create;
  curfew::module::VerdictRoom room;
};

namespace curfew::embed {

inline curfew_status Fail(curfew_error* error, curfew_status status, std::string_view message) {
  if (error != nullptr) {
    const std::size_t bytes = std::min(message.size(), sizeof error->message - 1);
    std::memcpy(error->message, message.data(), bytes);
    error->message[bytes] = '\0';
  }
  return status;
}

curfew_status StatusOf(FailureCode code);

inline curfew_status Fail(curfew_error* error, const Failure& failure) {
  return Fail(error, StatusOf(failure.code), failure.message);
}

template <typename Body>
curfew_status Guard(curfew_error* error, Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Fail(error, CURFEW_OUT_OF_MEMORY, "there is no memory left");
  } catch (const std::exception& fault) {
    return Fail(error, CURFEW_FAULT, fault.what());
  } catch (...) {
    return Fail(error, CURFEW_FAULT, "a fault of the library");
  }
}

// What the caller was built with; fields that it does not know are zero.
curfew_options Known(const curfew_options* given);

// Proves the bundle and what it holds; the interpreter decides by it.
Result<std::shared_ptr<curfew_policy>> Open(ByteView bundle, const curfew_options& options,
                                            std::uint64_t generation);

// The path of the compiler that the caller named, or that stands beside this library.
std::string CompilerLibrary(const curfew_options& options);

// Makes the policy native before it decides anything. Where that fails it stays interpreted and
// says why.
Outcome MakeNative(const std::string& compiler, curfew_policy& policy);

// For what must not meet another policy at its address.
inline std::shared_ptr<const curfew_policy> SharedWith(const curfew_policy& policy) {
  return std::static_pointer_cast<const curfew_policy>(policy.shared_from_this());
}

inline curfew_text TextOf(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace curfew::embed
