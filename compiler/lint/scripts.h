// Scripts whose letters pass for each other's: Latin, Greek, Cyrillic, Armenian. Others are not
// told apart, since nobody takes one for another (Unicode Technical Standard 39 goes further).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace curfew::lint {

// The names of the first two scripts of one word of `text`, if it has two. A word ends at whatever
// is no letter.
std::optional<std::pair<std::string_view, std::string_view>> MixedScripts(std::string_view text);

// The text in which a word of one script is written by the Latin letters that it looks like, if it
// has a word of at least two letters each of which has such a twin.
struct Twin {
  std::string text;
  std::string_view script;
};
std::optional<Twin> LatinTwin(std::string_view text);

// As a browser shows it: labels in the `xn--` form of a host (RFC 3492) by the letters they stand
// for, all else as it is.
std::string AsShown(std::string_view text);

}  // namespace curfew::lint
