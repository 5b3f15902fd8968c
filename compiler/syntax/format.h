// The formatter: one layout for every policy.
//   - One statement a line, two blanks a level, at most one blank line, LF. A block that the author
//     wrote on one line stays there while it fits into 100 columns.
//   - Inside a statement the author's line breaks stay before `when because and or ->`, behind a
//     comma, and around the elements of a list or object; all others go.
//   - What follows the first word, or the label, of neighbouring statements of a block is aligned;
//     a blank line or a block of several lines ends the neighbourhood. Beside labels, an `allow` or
//     `deny` without one leaves their column free. In tests, targets and arrows are aligned.
#pragma once

#include "compiler/syntax/ast.h"
#include "compiler/syntax/token_list.h"

#include <string>

namespace curfew::syntax {

// The file's text in the standard layout. Only white space differs: every token and comment stays,
// in order. `ast` is the tree of `tokens`, without errors. Formatting twice changes nothing.
std::string Format(const TokenList& tokens, const Ast& ast);

}  // namespace curfew::syntax
