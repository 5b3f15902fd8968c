// Values that could make a difference: for each fact those that the rules speak of, and their
// neighbours. Between two of them no rule tells any values apart.
#pragma once

#include "compiler/explain/fact_text.h"
#include "compiler/module/json_value.h"

#include <cstdint>
#include <vector>

namespace curfew::explain {

struct Candidate {
  schema::Slot slot = 0;
  bool absent = false;
  module::Value value;  // owned by the arena that it was made in
};

// What the node's own constants suggest for the facts that it reads, on this request. In order,
// each once; some may break the schema's axioms.
void AddCandidates(const module::PolicyModule& policy, const module::Request& request,
                   std::uint32_t node, module::ValueArena& arena,
                   std::vector<Candidate>& candidates);

}  // namespace curfew::explain
