// The escapes of a string literal: `\\ \" \n \t \u{1F600}`, and `\*`, which stays as it is because
// patterns give it its meaning.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace curfew::syntax {

// A place in a literal that is no escape: its offset and length.
struct EscapeFault {
  std::size_t begin;
  std::size_t length;
};

// The first bad escape of a literal that is given with its quotes (the closing one may be missing).
std::optional<EscapeFault> FindEscapeFault(std::string_view literal);

// The value of a literal that is given with its quotes; what FindEscapeFault refuses is kept as
// written.
std::string StringValue(std::string_view literal);

// The literal whose value is `value`, with its quotes.
std::string StringLiteral(std::string_view value);

}  // namespace curfew::syntax
