// The smallest change of a request that would turn its answer. What is found is asked of the engine
// again, so it is true; that nothing smaller is there is known only where it was looked for, and
// the search says so.
#pragma once

#include "compiler/explain/candidate_values.h"
#include "compiler/explain/story.h"
#include "compiler/module/engine.h"

#include <cstddef>
#include <string>
#include <vector>

namespace curfew::explain {

struct FactChange {
  std::string path;
  std::string from;  // "is \"POST\"", "is not there"
  std::string to;    // "\"GET\"", "not there"
};

struct ChangeSearch {
  // Each is a set of changes that turns the answer together; all of one size, the smallest found.
  // At most AlternativesMax.
  std::vector<std::vector<FactChange>> alternatives;
  std::size_t tried = 0;
  // Every value that the rules tell apart was tried for each fact alone.
  bool singles_done = false;
};
inline constexpr std::size_t AlternativesMax = 3;

// Asks the engine at most `budget` times.
ChangeSearch FindSmallestChange(const module::DecisionEngine& engine,
                                const module::Request& request, const Story& story,
                                std::size_t budget = 200'000);

}  // namespace curfew::explain
