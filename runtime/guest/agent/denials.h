// The file inside in which a task reads why it was refused: a line for each refusal that nothing
// else could tell it of. It never grows past its bound; the older half is then dropped.
#pragma once

#include "compiler/base/result.h"

#include <cstddef>
#include <string>

namespace curfew::guest {

inline constexpr char DenialsFile[] = "/run/curfew/denials";
inline constexpr std::size_t DenialsBytesMax = 256 * 1024;

// Makes the file, empty, for everybody to read.
Outcome BeginDenials(const std::string& path);

// Appends one line: printable ASCII without a line end. Where the file would grow past
// DenialsBytesMax it becomes PATH.old, in the place of the one before, and is begun anew.
Outcome AppendDenial(const std::string& path, const std::string& line);

}  // namespace curfew::guest
