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

  // In the class of that name, which either set may not have; empty: in one that neither has.
  Direction Ask(const std::string& class_name, std::uint64_t steps);
  // A create that both allow, in the class `of_class` and, in the second set, `other`.
  Direction AllowedByBoth(module::ClassIndex of_class, module::ClassIndex other,
                          std::uint64_t steps);
  // Whether both sets give the same creates to this class of the second one.
  [[nodiscard]] bool IsChosenAlike(module::ClassIndex other) const { return alike_[other]; }

 private:
  // What the second set says otherwise of a request in `other` than the first one in `mine`.
  struct Changes {
    module::ClassIndex mine = module::NoClass;
    module::ClassIndex other = module::NoClass;
    std::vector<std::uint32_t> new_denials;  // entries of the second set
    // Groups of the second set that an allow of the first may leave unsatisfied, and those allows.
    std::vector<std::pair<std::uint32_t, std::set<std::uint32_t>>> groups;
    bool is_renamed = false;  // a create that names its class is denied by the second set
  };
  using Further = std::optional<std::vector<Claim>>;
  struct Asking;  // the questions of one class, and the worst answer to them

  [[nodiscard]] Changes ChangesOf(module::ClassIndex mine, module::ClassIndex other) const;
  void CompareGroups(View mine, View theirs, Sameness& sameness, Changes& changes) const;
  [[nodiscard]] std::set<FactId> UnlikeDefaults(View mine, View theirs) const;
  // Nothing where the second set denies the request; otherwise what a request that it denies has.
  Further Denied(const Changes& changes, const module::Request& request) const;
  Further Allowed(module::ClassIndex other, const module::Request& request) const;
  [[nodiscard]] Claim Uncounted(const Changes& changes, View view,
                                const module::Request& request) const;
  // True where it is settled: something differs.
  bool AskWithin(const Changes& changes, const std::vector<Claim>& chosen, Asking& asking);
  bool AskOfChoice(module::ClassIndex of_class, Asking& asking);
  bool AskOne(Wanted wanted, const Changes& changes, Asking& asking);

  const interpret::Interpreter& allows_;
  const interpret::Interpreter& denies_;
  FactSpace space_;
  Search search_;
  std::vector<bool> alike_;  // of a create: by class of the second set
};

}  // namespace curfew::prove
