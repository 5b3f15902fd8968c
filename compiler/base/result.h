// Result<T>: a value or a Failure. The only way in which a failure of the world travels; an
// author's mistake is a diagnostic (compiler/diagnostics) and our own bug is a CURFEW_CHECK
// (check.h). Method names follow std::expected.
#pragma once

#include "compiler/base/check.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace curfew {

enum class FailureCode {
#define CURFEW_FAILURE(name, reaction, exit) name,
#include "compiler/base/failure.def"
#undef CURFEW_FAILURE
};

// What the caller should do about a failure.
enum class Reaction { Retry, Deny, Abort, Report };

Reaction ReactionTo(FailureCode code);
std::string_view NameOf(FailureCode code);
// The exit status of a command that ends with this failure (0 is never returned).
int ExitStatusOf(FailureCode code);

// A failure of the world, with what was being done. `message` says what was seen and, where there
// is one, the remedy; each layer that passes it on may put one line of context in front.
struct Failure {
  FailureCode code = FailureCode::System;
  std::string message;

  Failure(FailureCode c, std::string m) : code(c), message(std::move(m)) {}

  // "context: message", with the same code.
  [[nodiscard]] Failure In(std::string_view context) const;
};

// The failure for errno `error` after trying to do `what` ("open /dev/kvm"). The code follows from
// errno.
Failure SystemFailure(int error, std::string_view what);

struct Unit {};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Failure failure)
      : state_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT: implicit on purpose

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return Checked(); }
  const T& value() const& { return const_cast<Result*>(this)->Checked(); }
  T&& value() && { return std::move(Checked()); }
  T& operator*() & { return Checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(Checked()); }
  T* operator->() { return &Checked(); }
  const T* operator->() const { return &value(); }

  const Failure& error() const& {
    CURFEW_CHECK(!has_value(), "error() is read only where there is one");
    return *std::get_if<1>(&state_);
  }
  Failure&& error() && {
    CURFEW_CHECK(!has_value(), "error() is read only where there is one");
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  T& Checked() {
    CURFEW_CHECK(has_value(), has_value() ? std::string_view()
                                          : std::string_view(std::get_if<1>(&state_)->message));
    return *std::get_if<0>(&state_);
  }
  std::variant<T, Failure> state_;
};

using Outcome = Result<Unit>;
inline Outcome Ok() { return Outcome(Unit{}); }

// CURFEW_TRY(auto fd, Open(path)); CURFEW_TRY_VOID(Write(fd, bytes));
#define CURFEW_TRY_JOIN_(a, b) a##b
#define CURFEW_TRY_NAME_(line) CURFEW_TRY_JOIN_(curfew_try_, line)
#define CURFEW_TRY(target, expression)                                                   \
  auto CURFEW_TRY_NAME_(__LINE__) = (expression);                                        \
  if (!CURFEW_TRY_NAME_(__LINE__)) return std::move(CURFEW_TRY_NAME_(__LINE__)).error(); \
  target = *std::move(CURFEW_TRY_NAME_(__LINE__))
#define CURFEW_TRY_VOID(expression)                        \
  do {                                                     \
    auto curfew_try = (expression);                        \
    if (!curfew_try) return std::move(curfew_try).error(); \
  } while (false)

}  // namespace curfew
