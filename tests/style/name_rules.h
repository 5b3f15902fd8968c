// Names of files and of types.
#pragma once

#include "tests/style/tree.h"

namespace curfew::style {

Findings CheckFileNames(const Tree& tree);
// Words that say nothing: the message tells what to name a thing after instead.
Findings CheckBannedWords(const Tree& tree);
// Every macro begins with CURFEW_, so that none can meet a name of a library.
Findings CheckMacros(const Tree& tree);

}  // namespace curfew::style
