// OneWay: whether there is a request of one action that the first set allows and the second denies.
#pragma once

#include "compiler/prove/differ.h"
#include "compiler/prove/sameness.h"
#include "compiler/prove/search.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace curfew::prove {

class OneWay {
 public:
  OneWay(schema::Action action, const interpret::Interpreter& allows,
         const interpret::Interpreter& denies, Solver& solver);

  // In a class of the first set, or in one that it does not have (NoClass).
  Direction Ask(module::ClassIndex of_class, std::uint64_t steps);
  // A request of the class that both allow.
  Direction AllowedByBoth(module::ClassIndex of_class, std::uint64_t steps);

 private:
  // What the second set says otherwise of a class.
  struct Changes {
    module::ClassIndex mine = module::NoClass;
    module::ClassIndex other = module::NoClass;  // the class of the name in the second set
    std::vector<std::uint32_t> new_denials;      // entries of the second set
    // Groups of the second set that an allow of the first may leave unsatisfied, and those allows.
    std::vector<std::pair<std::uint32_t, std::set<std::uint32_t>>> groups;
    bool selection = false;  // other classes are selected
  };
  using Further = std::optional<std::vector<Claim>>;

  Changes ChangesOf(module::ClassIndex of_class);
  void CompareGroups(View mine, View theirs, Sameness& sameness, Changes& changes) const;
  [[nodiscard]] std::set<FactId> UnlikeDefaults(View mine, View theirs) const;
  [[nodiscard]] bool SelectsOtherwise() const;
  // Nothing where the second set denies the request; otherwise what a request that it denies has.
  Further Denied(const Changes& changes, const module::Request& request) const;
  Further Allowed(module::ClassIndex other, const module::Request& request) const;
  [[nodiscard]] Claim Uncounted(const Changes& changes, View view,
                                const module::Request& request) const;

  const interpret::Interpreter& allows_;
  const interpret::Interpreter& denies_;
  FactSpace space_;
  Search search_;
};

}  // namespace curfew::prove
