// The tree as text, for people and for tests: every field, no spans, no addresses.
#pragma once

#include "compiler/syntax/ast.h"

#include <string>

namespace curfew::syntax {

std::string Print(const Ast& ast);

// The same tree but for spans, comments and the file it came from.
bool Equal(const Ast& a, const Ast& b);

}  // namespace curfew::syntax
