// Balance and depth of brackets, checked before anything parses: neither the parser nor the tree
// recurses deeper than limits::NestingMax.
#pragma once

#include "compiler/syntax/token_list.h"

namespace curfew::syntax {

// Reports at most one mistake, unless `silent` (an earlier mistake explains it), and cuts
// `list.parsable` before the declaration that holds it. Linear.
void CheckBrackets(TokenList& list, bool silent, diagnostics::Sink& sink);

}  // namespace curfew::syntax
