// Faults as a person would make them in lowering, in the index and in code generation. Each must be
// caught by the comparison of engines, or the comparison compares too little.
#pragma once

#include "tests/differential/subject.h"

#include <vector>

namespace curfew::differential {

std::vector<Fault> SeededFaults();

}  // namespace curfew::differential
