// Names of HTTP fields. Case means nothing in them (RFC 9110 section 5.1), so their one form is
// lower case.
//
//   header := 1 to 64 bytes of a token (RFC 9110 section 5.6.2)
#pragma once

#include "compiler/values/value_error.h"

#include <string>
#include <string_view>

namespace curfew::values {

Parsed<std::string> ParseHeaderName(std::string_view text);

}  // namespace curfew::values
