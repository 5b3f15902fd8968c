// Reading a policy set from files, folders and standard input. This is the compiler's only I/O.
#pragma once

#include "compiler/base/result.h"
#include "compiler/source/source.h"

#include <span>
#include <string>

namespace curfew::source {

// Every path is a file, a folder (every `*.curfew` below it, by name, without hidden folders), or
// `-` for standard input, named "<stdin>". A file that is given twice is read once; the map is
// sorted by name. Nothing blocks on a FIFO or a device: they are refused, as are a link in a folder
// that leads out of it, and a file or set above its limit (InvalidPolicy). No file at all is Usage,
// unless folders without policies are fine: then the map is empty.
enum class Nothing { Refused, Fine };
Result<SourceMap> LoadSources(std::span<const std::string> paths,
                              Nothing nothing = Nothing::Refused);

}  // namespace curfew::source
