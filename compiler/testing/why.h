// Why a question was answered as it was, in lines for people: each rule that gave the answer, and
// below it the clauses that decided, with both sides: what the policy says, and what it saw.
#pragma once

#include "compiler/explain/story.h"
#include "compiler/module/policy_module.h"

#include <string>
#include <vector>

namespace curfew::testing {

// `allowed` is the answer. Lines are indented below one another by two blanks; at most WhyLinesMax.
inline constexpr std::size_t WhyLinesMax = 24;
std::vector<std::string> WhyOf(const module::PolicyModule& policy, const explain::Story& story,
                               bool allowed);

}  // namespace curfew::testing
