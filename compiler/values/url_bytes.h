// One byte of a URL's path in canonical form, for paths and for globs over them; what the two share
// so that a pattern and a request can never be normalised differently. Not for other rooms.
#pragma once

#include "compiler/values/path.h"
#include "compiler/values/value_error.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace curfew::values {

struct UrlByte {
  std::optional<Error> error;
  std::size_t size = 1;  // bytes read: 3 for an escape
  char value = 0;
  bool escaped = false;  // stays `%XX`

  void AppendTo(std::string& text) const;
};

// The byte at `at`, which is not a slash: unreserved escapes are decoded, others kept in upper
// case, what could be read in two ways is an error.
UrlByte ReadUrlByte(std::string_view text, std::size_t at, EscapedSlashes slashes);

// Whether a canonical segment would be several if its escaped slashes were slashes, and one of
// those a dot segment or empty.
bool HidesSegment(std::string_view segment);
Error HiddenSegment();

// Whether the escaped bytes of a canonical path are anything but UTF-8.
bool HasBadUtf8(std::string_view canonical_path);

}  // namespace curfew::values
