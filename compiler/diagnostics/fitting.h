// What a message shows of text that somebody else wrote, which may be as long as a file.
#pragma once

#include "compiler/diagnostics/diagnostic.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace curfew::diagnostics {

// The text, or its beginning and `…` where it has more bytes than that. Cuts no code point.
std::string ShortenedTo(std::string_view text, std::size_t bytes_max);

// An argument of a message: names and other words of more than 120 bytes are cut, and so is a text
// of more than 1,000.
std::string Fitting(Text text);
inline Number Fitting(Number number) { return number; }

}  // namespace curfew::diagnostics
