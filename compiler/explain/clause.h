// The parts of a condition that decided it: of a conjunction that fails those that fail, of one
// that holds all; of an alternative the other way round. Each in words, with what it saw.
#pragma once

#include "compiler/explain/fact_text.h"
#include "compiler/interpret/evaluate.h"

#include <cstdint>
#include <string>
#include <vector>

namespace curfew::explain {

struct Clause {
  std::string text;               // egress.method in "GET", "HEAD"
  interpret::Truth truth;         // of the text as it is written here
  std::vector<std::string> seen;  // egress.method is "POST"
  std::uint32_t node = 0;  // of decision code, without the `not` that the text may begin with
  bool negated = false;    // with it
};

// At most ClausesMax of them; `condition` is a node or NoIndex, which always holds and has none.
inline constexpr std::size_t ClausesMax = 12;
std::vector<Clause> DecisiveClauses(const module::PolicyModule& policy,
                                    const module::Request& request, std::uint32_t condition);

// All of a condition's clauses, in its order, whatever a request is: `text` and `node` alone.
std::vector<Clause> ClausesOf(const module::PolicyModule& policy, schema::Action action,
                              std::uint32_t condition);

// Every fact that a node reads, each once.
std::vector<schema::Slot> SlotsRead(const module::Tables& tables, std::uint32_t node);

}  // namespace curfew::explain
