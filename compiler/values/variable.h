// Environment variables by name. Some are reserved, whoever sets them: they load code into the
// program that was judged, or change whom it trusts (language.md section 7), so that what runs
// would not be what the policy read. Checker (`identity { env … }`), requests and commands all ask
// here; grammar/README.md shows the list.
#pragma once

#include <span>
#include <string_view>

namespace curfew::values {

// Letters, digits and `_`, no digit first.
bool IsVariableName(std::string_view name);

// Upper-case names, of which one star, at the begin or the end, is any bytes.
std::span<const std::string_view> ReservedVariables();

// The entry of ReservedVariables that covers the name, in any case; empty where none does.
std::string_view ReservedBy(std::string_view name);

}  // namespace curfew::values
