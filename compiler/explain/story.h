// Why a verdict is what it is: of each denial and each allow the clauses that decided it, and of
// each kind of grant that nothing covered the allows that came nearest.
#pragma once

#include "compiler/explain/clause.h"
#include "compiler/module/verdict.h"

#include <cstdint>
#include <vector>

namespace curfew::explain {

// A rule whose condition decided. No clauses: it always holds, or it is not a condition's.
struct Cause {
  module::RuleIndex rule = 0;
  std::vector<Clause> clauses;
};

// An allow that did not count, and what kept it from counting.
struct Near {
  module::RuleIndex allow = 0;
  std::uint32_t entry = 0;  // of decision code
  std::vector<Clause> failing;
};
// A kind of grant without an allow that counts, nearest first.
struct Lack {
  module::RuleIndex denial = 0;
  std::vector<Near> nearest;
  std::size_t others = 0;
};

struct Story {
  std::vector<Cause> denials;  // those of `lacks` are not among them
  std::vector<Lack> lacks;
  std::vector<Cause> allows;
  // What the conditions saw: the request with the left-out wishes filled in.
  module::Request judged{schema::Action::Create};
};

inline constexpr std::size_t NearestMax = 3;
Story StoryOf(const module::PolicyModule& policy, const module::Request& request,
              const module::Verdict& verdict);

}  // namespace curfew::explain
