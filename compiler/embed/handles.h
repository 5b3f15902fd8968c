// What stands behind the handles of curfew.h, and how a C++ failure becomes a status. No exception
// passes `Guard`.
#pragma once

#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/embed/curfew.h"
#include "compiler/module/engine.h"
#include "compiler/module/fact.h"
#include "compiler/module/policy_module.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

// The names are those of the C header.
struct curfew_policy {
  curfew::Bytes module;
  std::unique_ptr<curfew::module::DecisionEngine> engine;  // views `module`
  std::string digest;
  std::string why_not_native;
  std::array<std::vector<curfew::module::Fact>, curfew::schema::ActionCount> facts;

  [[nodiscard]] const std::vector<curfew::module::Fact>& FactsOf(
      curfew::schema::Action action) const {
    return facts[static_cast<std::size_t>(action)];
  }
};

struct curfew_request {
  const curfew_policy* policy = nullptr;
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

inline curfew_text TextOf(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace curfew::embed
