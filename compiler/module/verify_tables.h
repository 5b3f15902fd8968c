// The proof that an engine relies on: every index in range, every operand of its operator's type in
// every action that reaches it, no cycle, depth and steps bounded, sets in order. Tables that pass
// can be evaluated on any request without a further check.
#pragma once

#include "compiler/base/result.h"
#include "compiler/module/policy_module.h"
#include "compiler/module/tables.h"

#include <span>

namespace curfew::module {

// The most steps that any decision can take, or why the tables prove nothing: Malformed, or
// TooLarge for a bound of base/limits.h.
Result<std::uint64_t> VerifyTables(const Tables& tables,
                                   std::span<const DeclaredAttribute> declared);

}  // namespace curfew::module
