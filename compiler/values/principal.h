// Who: a kind and a name in one value, so that no group can pass for a user.
//
//   principal := ("user" | "group" | "service" | "agent") ":" name
//   name      := 1 to 256 bytes of a-z A-Z 0-9 . _ - @ + /, case kept
#pragma once

#include "compiler/values/value_error.h"

#include <string>
#include <string_view>

namespace curfew::values {

Parsed<std::string> ParsePrincipal(std::string_view text);

// "registry.example/agents/python", with an optional ":tag" that nothing trusts: the digest
// decides.
//
//   image reference := 1 to 255 bytes of a-z 0-9 . _ - / :
//                      the first and the last a letter or a digit; no "//", no ".."
Parsed<std::string> ParseImageRef(std::string_view text);

// One of GET HEAD POST PUT PATCH DELETE OPTIONS. CONNECT and TRACE never pass.
Parsed<std::string> ParseMethod(std::string_view text);

}  // namespace curfew::values
