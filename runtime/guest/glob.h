// Which paths a pattern names. For the agent's listing only: policy judges every path again on the
// host, by its own matcher.
#pragma once

#include <string_view>

namespace curfew::guest {

// `*` is any bytes within one segment (a segment that is only `*` needs one byte), `**` as a whole
// segment is any number of segments, also none; `\*` is a star. Both begin with a slash.
bool MatchesGlob(std::string_view pattern, std::string_view path);

// The folder above everything that the pattern can name: "/work/out" for "/work/out/**".
std::string_view FolderOfGlob(std::string_view pattern);

}  // namespace curfew::guest
