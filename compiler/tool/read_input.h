// Input that is no policy: a request, from a file, a pipe or standard input.
#pragma once

#include "compiler/base/result.h"

#include <string>

namespace curfew::tool {

// All bytes of `path`, `-` being standard input; TooLarge above `bytes_max`. Waits for a pipe.
Result<std::string> ReadInput(const std::string& path, std::size_t bytes_max);

}  // namespace curfew::tool
