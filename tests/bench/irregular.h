// A workload without a pattern: few rules with many conditions of all kinds, on facts of which a
// request has nearly all, so that nothing but evaluating them tells the answer. No index helps, and
// shapes hardly repeat. What is expected is what the interpreter says without its index.
#pragma once

#include "tests/bench/workload.h"

#include <cstdint>

namespace curfew::bench {

// `rules` allows of 5 to 20 conditions each, and `requests` requests that come near them. The same
// seed gives the same. `allowed` is left empty.
Workload IrregularWorkload(std::uint32_t seed, std::size_t rules, std::size_t requests);

}  // namespace curfew::bench
