// A result that is a file of its own: written whole, or not at all.
#pragma once

#include "compiler/base/console.h"
#include "compiler/base/result.h"
#include "compiler/base/text.h"

#include <string>

namespace curfew::tool {

// To `path`, in place of a regular file that is there; `-` is standard output. A reader sees the
// old or the new bytes, never a part; on a failure the old ones stay.
Outcome WriteOutput(const std::string& path, ByteView bytes, Console& console);

}  // namespace curfew::tool
