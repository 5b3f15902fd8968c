#include "compiler/values/header.h"

#include <algorithm>

namespace curfew::values {
namespace {

constexpr std::size_t kNameBytesMax = 64;

// RFC 9110 section 5.6.2.
bool IsTokenByte(char c) {
  const bool is_alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return is_alnum || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

}  // namespace

Parsed<std::string> ParseHeaderName(std::string_view text) {
  if (text.size() > kNameBytesMax) {
    return Error{ErrorKind::TooLong, "the name of a header has at most 64 bytes"};
  }
  if (text.empty() || !std::all_of(text.begin(), text.end(), IsTokenByte)) {
    return Error{ErrorKind::Malformed,
                 "the name of a header has letters, digits and `-` or `_`, as in `x-api-key`"};
  }
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name;
}

}  // namespace curfew::values
