// Policy sets that nobody wrote: text of every form that has a meaning, with values from the small
// pools that generated_request.h draws from too, so that rules and requests meet.
#pragma once

#include "tests/properties/random.h"

#include <map>
#include <string>
#include <vector>

namespace curfew::properties {

struct ClassText {
  std::string head;  // "sandbox c0 when …", "every sandbox"
  std::map<std::string, std::vector<std::string>> planes;
  std::vector<std::string> rules;

  [[nodiscard]] std::string name() const;
};

struct PolicyText {
  std::vector<std::string> declarations;  // attributes and images
  std::vector<ClassText> classes;
  std::vector<std::string> rules;  // of the whole set

  // As one file.
  [[nodiscard]] std::string Text() const;
};

PolicyText GeneratePolicy(Random& random);

// The same set in another order, split over files, with rules repeated in `Repeats` ways that the
// language calls the same rule.
std::vector<std::string> Rearranged(const PolicyText& policy, Random& random);

// A class that narrows `base` and writes limits only: bounds of what the base bounds, denies and
// `KIND none`.
ClassText GenerateLimits(Random& random, const ClassText& base, const std::string& name);

// One more denial of the set.
std::string GenerateDenial(Random& random);

}  // namespace curfew::properties
