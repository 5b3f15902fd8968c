// How long decisions take on this machine: medians of passes, beside a yardstick that is measured
// in the same passes, so that a machine that is slow or busy today is not taken for a slow policy.
#pragma once

#include "compiler/module/engine.h"
#include "compiler/module/request.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace curfew::tool {

// Nanoseconds of this thread's own time, for one call.
struct Timing {
  double median = 0;
  double low = 0;  // of all passes
  double high = 0;
};

struct EngineTiming {
  std::string engine;  // a kind of module::DecisionEngine
  Timing timing;
  // The median of decision and yardstick of one and the same pass.
  double per_yardstick = 0;
};

struct Measurement {
  // One look-up of a host name in a table of 4,096, by the standard library.
  Timing yardstick;
  std::vector<EngineTiming> engines;
};

// In each pass every engine decides every request, as often as makes a pass worth measuring.
Measurement Measure(std::span<const module::DecisionEngine* const> engines,
                    std::span<const module::Request> requests, std::size_t passes);

}  // namespace curfew::tool
