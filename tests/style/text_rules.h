// What may not stand in the text of any file.
#pragma once

#include "tests/style/tree.h"

namespace curfew::style {

// No tab where it means nothing, no trailing space, no CR, a newline at the end. Files that test
// such text are exempt: below tests/, *.curfew and the seeds of fuzzing.
Findings CheckWhitespace(const Tree& tree);
// Work that is left is an issue, not a comment.
Findings CheckNothingIsLeftOpen(const Tree& tree);
// Nothing that is true of one machine only: its paths, its package mirrors.
Findings CheckNoMachine(const Tree& tree);
// A test that is skipped, hidden or may fail guards nothing.
Findings CheckTestsCanFail(const Tree& tree);
// No `using namespace` in a header.
Findings CheckHeadersImportNothing(const Tree& tree);

}  // namespace curfew::style
