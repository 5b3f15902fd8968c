// What a canonicaliser returns: the canonical value, or what is wrong with the text. The checker
// turns an error into a diagnostic, the request decoder into a reason; neither reads the text
// again.
#pragma once

#include "compiler/base/check.h"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace curfew::values {

enum class ErrorKind : std::uint8_t {
  Malformed,   // not of the grammar
  TooLong,     // over a limit of base/limits.h
  OutOfRange,  // a number that does not fit
  WrongUnit,   // a unit of another kind, or none
  NotAscii,    // letters beyond ASCII, where only ASCII may stand
  IsAddress,   // an address where a name was asked for
  Ambiguous    // two servers could read it in two ways
};

struct Error {
  ErrorKind kind = ErrorKind::Malformed;
  // What was seen and what the rule is, in lower case without a full stop; never the whole text.
  std::string message;
  // Text that would be right, or empty.
  std::string suggestion = {};
};

template <typename T>
class [[nodiscard]] Parsed {
 public:
  Parsed(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Parsed(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  explicit operator bool() const { return state_.index() == 0; }
  const T& operator*() const& { return *Get(); }
  T&& operator*() && { return std::move(*const_cast<T*>(Get())); }
  const T* operator->() const { return Get(); }
  const Error& error() const {
    CURFEW_CHECK(state_.index() == 1, "error() is read only where there is one");
    return *std::get_if<1>(&state_);
  }

 private:
  const T* Get() const {
    CURFEW_CHECK(state_.index() == 0, "a value is read only where there is one");
    return std::get_if<0>(&state_);
  }
  std::variant<T, Error> state_;
};

}  // namespace curfew::values
