// Scripts whose letters pass for each other's: Latin, Greek, Cyrillic, Armenian. Others are not
// told apart, since nobody takes one for another (Unicode Technical Standard 39 goes further).
#pragma once

#include <optional>
#include <string_view>
#include <utility>

namespace curfew::lint {

// The names of the first two scripts of one word of `text`, if it has two. A word ends at whatever
// is no letter.
std::optional<std::pair<std::string_view, std::string_view>> MixedScripts(std::string_view text);

}  // namespace curfew::lint
