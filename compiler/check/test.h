// Tests in the language: their facts typed, their ids looked up. compiler/testing runs them.
#pragma once

#include "compiler/check/context.h"
#include "compiler/syntax/ast.h"

#include <span>
#include <string>

namespace curfew::check {

// `known_ids` is sorted (model::KnownIds); empty when ids cannot be judged, since some of the set
// could not be read.
void CheckTest(Context& context, const syntax::TestDecl& test,
               std::span<const std::string> known_ids);

}  // namespace curfew::check
