// What people may be shown of text that somebody else wrote: a terminal, a log. For text with its
// quotes as they are, such as a line of a policy; curfew::Printable escapes quotes as well.
#pragma once

#include <string>
#include <string_view>

namespace curfew::source {

// Hidden characters, controls and broken bytes become `?`, a tab a blank: one column for each code
// point, as Position counts them.
std::string Shown(std::string_view text);

}  // namespace curfew::source
