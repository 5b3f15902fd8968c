// Fixes made: which of those that diagnostics offer can be made together, and the texts with them.
#pragma once

#include "compiler/diagnostics/diagnostic.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::diagnostics {

// The diagnostics, by index, all of whose fixes can be made at once: in their order, each that
// neither overlaps nor touches a change of one before it. One without fixes, or with one in a file
// that is not below `files_end`, is never among them.
std::vector<std::size_t> ChooseFixes(std::span<const Diagnostic> diagnostics,
                                     source::FileId files_end);

// The text of one file with the fixes of the chosen diagnostics that are in it. Every byte outside
// of them stays.
std::string WithFixes(std::string_view text, source::FileId file,
                      std::span<const Diagnostic> diagnostics, std::span<const std::size_t> chosen);

}  // namespace curfew::diagnostics
