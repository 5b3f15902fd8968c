// Replaces a file's content at once: a reader sees the old or the new text, never a part.
#pragma once

#include "compiler/base/result.h"

#include <string>
#include <string_view>

namespace curfew::tool {

// Writes `after` to `path`, which is a regular file that still holds `before`; mode and owner stay.
// A link is refused (it may lead anywhere; name its target), and so is a file that changed
// meanwhile (Busy). On a failure the file is as it was and nothing is left beside it.
Outcome ReplaceFile(const std::string& path, std::string_view before, std::string_view after);

}  // namespace curfew::tool
