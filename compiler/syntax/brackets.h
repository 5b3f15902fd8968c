// Balance and depth of brackets, checked before anything parses: neither the parser nor the tree
// recurses deeper than limits::NestingMax.
#pragma once

#include "compiler/syntax/token_list.h"

namespace curfew::syntax {

// Where brackets do not match, what is missing or too many is reported, and the tokens are mended
// so that all else parses: see bracket_repair.h. A declaration that cannot be mended is reported
// once and skipped, and reading goes on at the next one. Linear.
void CheckBrackets(TokenList& list, diagnostics::Sink& sink);

}  // namespace curfew::syntax
