// What two plans say otherwise, in words: for whoever compares two policy sets.
#pragma once

#include "compiler/module/plan_template.h"

#include <string>
#include <vector>

namespace curfew::inspect {

struct PlanChange {
  std::string what;    // ttl, export, …: as inspect's tables call it
  std::string before;  // "2h at most 4h"; several values are joined by "; ", and of those that are
  std::string after;   // in both plans none is told. "none" where nothing is left
  friend bool operator==(const PlanChange&, const PlanChange&) = default;
};

// In the order of the planes. Empty for plans that are equal but for the names of their classes.
std::vector<PlanChange> ChangesBetween(const module::PlanTemplate& before,
                                       const module::PlanTemplate& after);

}  // namespace curfew::inspect
