// Whether two globs of paths can meet the same path. With one star in a segment and one `**` in a
// glob a path that both meet is found by looking, or there is none.
#pragma once

#include "compiler/values/path.h"

#include <optional>
#include <string>

namespace curfew::values {

// A path that both meet to the letter, or nothing where no path is.
std::optional<std::string> MeetingPath(const PathGlob& a, const PathGlob& b);

}  // namespace curfew::values
