// A clause that an author wrote, among those that lowering adds on its own (guards, built-in bars,
// what follows from a kind): what coverage asks to be seen both ways. Known where a set is
// compiled; no module's bytes hold it.
#pragma once

#include "compiler/module/verdict.h"

#include <cstdint>

namespace curfew::module {

struct WrittenClause {
  RuleIndex rule = 0;
  std::uint32_t node = 0;  // of the tables; what `and`, `or` and `not` join, none of these
  friend auto operator<=>(const WrittenClause&, const WrittenClause&) = default;
};

}  // namespace curfew::module
