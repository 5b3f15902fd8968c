// What a fix does, in words: the same in every format for people.
#pragma once

#include "compiler/diagnostics/diagnostic.h"

#include <string>

namespace curfew::diagnostics {

// "write `kind` instead of `kid`", "remove `x`", "put `x` there". Safe to print on a terminal.
std::string HelpOf(const Fix& fix, const source::SourceMap& sources);

}  // namespace curfew::diagnostics
