// Parameters of a URL's query, as `query k == "v"` reads them: decoded, and unique. Servers read a
// query in several ways: some part it at `;` too, and some take `+` for a blank. An allow holds
// only where every way says the same; a deny where one of them does (language.md section 6).
//
//   term := key "=" value     the key is a name, so that the first "=" ends it
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace curfew::values {

enum class QueryReading : std::uint8_t {
  Narrow,  // exactly one parameter has the key, in any case of letters, and it is as the term says
  Wide     // some parameter is as the term says; the case of its key does not count
};

// `query` as sent, without its question mark. An escape that is none stands for itself, and makes a
// narrow reading fail. Linear, and keeps nothing.
bool QueryMeets(std::string_view term, std::string_view query, QueryReading reading);

// The query that has this parameter and no other.
std::string QueryOf(std::string_view term);

// Whether `text` is a term.
bool IsQueryTerm(std::string_view text);

}  // namespace curfew::values
