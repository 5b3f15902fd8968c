// What it costs a decision to find its rules, for people: `inspect` tells it, and `lint` finds
// rules that no index finds.
#pragma once

#include "compiler/module/tables.h"
#include "compiler/module/verdict.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace curfew::module {

// Entries that are looked at only where the fact leads to them.
struct IndexUse {
  std::uint32_t slot = 0;
  IndexKind kind = IndexKind::Text;
  std::size_t entries = 0;
};

struct IndexCost {
  std::vector<IndexUse> found;        // by slot and kind, each once
  std::vector<std::uint32_t> always;  // denials and allows that every decision looks at
  std::size_t beside = 0;             // checks and trials, which no index is of
};

// Of a decision in a class, the rules of the set among them.
IndexCost CostIn(const Tables& tables, ClassIndex of_class, schema::Action action);
// Of choosing a class: `always` are classes.
IndexCost CostOfClasses(const Tables& tables);

// How many bytes of the module its indexes are.
std::size_t IndexBytes(const Tables& tables);

}  // namespace curfew::module
