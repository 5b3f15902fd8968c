// What the grammar wanted, in the author's terms.
#pragma once

#include "compiler/syntax/antlr_engine.h"

#include <string>
#include <string_view>

namespace curfew::syntax {

// "a duration", "`then`", "a string or `none`"; empty when the piece was whole already, or when too
// much would have fitted to be of help. `before` is the token before the mistake.
std::string DescribeExpectation(const Expectation& expectation, std::string_view before);

// Whether a name of the author's own was wanted, and nothing else.
bool WantsNewName(const Expectation& expectation);

}  // namespace curfew::syntax
