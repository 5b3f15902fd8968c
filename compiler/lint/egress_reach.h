// What network rules cover of each other, where it is certain: hosts nested by labels, blocks,
// ports, methods, and paths that are equal or lie below a `/**`. What would need more than that
// (two globs that meet in part, several rules that cover one together, a condition) is the prover's
// matter, and here counts as not covered, and as met.
#pragma once

#include "compiler/model/policy_model.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace curfew::lint {

[[nodiscard]] bool PathCovers(const values::PathGlob& outer, const values::PathGlob& inner);
// Whether every request that meets `inner` meets `outer`.
[[nodiscard]] bool Covers(const model::EgressTarget& outer, const model::EgressTarget& inner);
// False only if no request meets both.
[[nodiscard]] bool MayMeet(const model::EgressTarget& a, const model::EgressTarget& b);
[[nodiscard]] bool MethodsCover(const model::EgressRule& outer, const model::EgressRule& inner);
[[nodiscard]] bool MethodsMeet(const model::EgressRule& a, const model::EgressRule& b);

// The rules along the chain of a class, and of the floor.
struct ClassTraffic {
  std::vector<const model::EgressRule*> allows;
  std::vector<const model::EgressRule*> denies;
};
ClassTraffic TrafficOf(const model::PolicyModel& model, const model::Class& of);

// So many pairs of one class are compared by a rule that compares all with all; then it finds no
// more.
class ComparisonBudget {
 public:
  bool Take() { return left_ > 0 && left_-- > 0; }

 private:
  std::size_t left_ = 2'000'000;
};

// Rules by the places of their targets: finds who may cover a target without asking all.
class CoverIndex {
 public:
  void Add(const model::EgressRule& rule);
  // Rules with a target that covers `inner`, at most a few for each place that could.
  [[nodiscard]] std::vector<const model::EgressRule*> Covering(
      const model::EgressTarget& inner) const;

 private:
  struct Entry {
    const model::EgressRule* rule;
    const model::EgressTarget* target;
  };
  std::map<std::string, std::vector<Entry>, std::less<>> by_place_;
};

}  // namespace curfew::lint
