// Quantities: numbers with the unit that their place needs. Exact, checked, never negative, at most
// 63 bits; a number without its unit, or with one of another kind, is an error.
//
//   duration := (N "d")? (N "h")? (N "m")? (N "s")?    at least one part, descending, each once
//   size     := N ("B" | "KiB" | "MiB" | "GiB" | "TiB" | "kB" | "MB" | "GB" | "TB")
//   integer  := digits, no leading zero
//   port     := 1 to 65535
//   time     := YYYY-MM-DD "T" HH:MM:SS "Z"            RFC 3339 in UTC, whole seconds
//   N        := digits, no leading zero
#pragma once

#include "compiler/values/value_error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace curfew::values {

Parsed<std::int64_t> ParseDuration(std::string_view text);  // milliseconds
Parsed<std::int64_t> ParseSize(std::string_view text);      // bytes
Parsed<std::int64_t> ParseInteger(std::string_view text);
Parsed<std::uint16_t> ParsePort(std::string_view text);
Parsed<std::int64_t> ParseTime(std::string_view text);  // milliseconds since 1970

// Canonical text: the largest unit that keeps it exact ("90m" is "1h30m", 1073741824 is "1GiB"). A
// negative duration (what is left of a lifetime that is over) has a leading minus; milliseconds
// that make no second are "1s250ms", which policy text cannot say.
std::string DurationText(std::int64_t milliseconds);
std::string SizeText(std::int64_t bytes);
std::string TimeText(std::int64_t milliseconds);

}  // namespace curfew::values
