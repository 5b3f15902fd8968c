// The formatter: one layout for every policy.
#pragma once

#include "compiler/syntax/ast.h"
#include "compiler/syntax/token_list.h"

#include <string>

namespace curfew::syntax {

// The file's text in the standard layout. Only white space differs: every token and comment stays,
// in order. `ast` is the tree of `tokens`, without errors. Formatting twice changes nothing.
std::string Format(const TokenList& tokens, const Ast& ast);

}  // namespace curfew::syntax
