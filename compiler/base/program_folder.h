// Where this program's file lies, for what is installed beside it.
#pragma once

#include <string>
#include <string_view>

namespace curfew {

// The path of a file of that name in the folder of the running program; the bare name where the
// folder cannot be read.
std::string BesideProgram(std::string_view name);

}  // namespace curfew
