#include "compiler/values/principal.h"

#include <algorithm>

namespace curfew::values {
namespace {

constexpr bool IsAlnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool IsOneOf(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

constexpr std::string_view kKinds[] = {"user", "group", "service", "agent"};
constexpr std::string_view kMethods[] = {"GET",   "HEAD",   "POST",   "PUT",
                                         "PATCH", "DELETE", "OPTIONS"};
constexpr std::size_t kNameBytesMax = 256;

}  // namespace

Parsed<std::string> ParsePrincipal(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return Error{ErrorKind::Malformed,
                 "a principal is a kind and a name, as in `user:ana` or `group:payments`"};
  }
  const std::string_view kind = text.substr(0, colon);
  const std::string_view name = text.substr(colon + 1);
  if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds)) {
    return Error{ErrorKind::Malformed,
                 "the kind of a principal is `user`, `group`, `service` or `agent`"};
  }
  if (name.empty()) return Error{ErrorKind::Malformed, "the name of a principal cannot be empty"};
  if (name.size() > kNameBytesMax) {
    return Error{ErrorKind::TooLong, "the name of a principal has at most 256 bytes"};
  }
  for (const char c : name) {
    if (!IsAlnum(c) && !IsOneOf(c, "._-@+/")) {
      return Error{static_cast<signed char>(c) < 0 ? ErrorKind::NotAscii : ErrorKind::Malformed,
                   "the name of a principal has letters, digits and `.` `_` `-` `@` `+` `/` only"};
    }
  }
  return std::string(text);
}

Parsed<std::string> ParseImageRef(std::string_view text) {
  if (text.empty() || text.size() > 255) {
    return Error{text.empty() ? ErrorKind::Malformed : ErrorKind::TooLong,
                 "an image reference has 1 to 255 bytes"};
  }
  if (text.find('@') != std::string_view::npos) {
    return Error{ErrorKind::Malformed, "the digest stands in `digest`, not in the reference"};
  }
  const bool bad_byte = std::any_of(text.begin(), text.end(), [](char c) {
    return !(IsAlnum(c) || IsOneOf(c, "._-/:")) || (c >= 'A' && c <= 'Z');
  });
  if (bad_byte || text.find("//") != std::string_view::npos || !IsAlnum(text.front()) ||
      !IsAlnum(text.back()) || text.find("..") != std::string_view::npos) {
    return Error{ErrorKind::Malformed,
                 "an image reference looks like `registry.example/agents/python:3.12`"};
  }
  return std::string(text);
}

Parsed<std::string> ParseMethod(std::string_view text) {
  if (std::find(std::begin(kMethods), std::end(kMethods), text) != std::end(kMethods)) {
    return std::string(text);
  }
  if (text == "CONNECT" || text == "TRACE") {
    return Error{ErrorKind::Malformed, "`CONNECT` and `TRACE` are never allowed"};
  }
  return Error{ErrorKind::Malformed,
               "the methods are GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS"};
}

}  // namespace curfew::values
