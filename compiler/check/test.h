// Tests in the language: their facts typed, their ids looked up. compiler/testing runs them.
#pragma once

#include "compiler/check/context.h"
#include "compiler/syntax/ast.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::check {

// `known_ids` is sorted (model::KnownIds); empty when ids cannot be judged, since some of the set
// could not be read.
void CheckTest(Context& context, const syntax::TestDecl& test,
               std::span<const std::string> known_ids);

// What `with { … }` can say of a plan.
std::vector<std::string_view> PlanFieldNames();

}  // namespace curfew::check
