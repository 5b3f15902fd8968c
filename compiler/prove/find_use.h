// UseFinder: whether one rule of a set changes any answer.
#pragma once

#include "compiler/prove/search.h"
#include "compiler/prove/uses.h"

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace curfew::prove {

class UseFinder {
 public:
  UseFinder(const interpret::Interpreter& engine, Solver& solver);

  // `absent` are rules that count as taken away, of which it is not one. Takes from `steps`.
  Use Find(module::RuleIndex rule, const std::set<module::RuleIndex>& absent, std::uint64_t& steps);

 private:
  // What is asked about one action.
  struct Asking {
    Asking(schema::Action action, const interpret::Interpreter& engine, Solver& solver);
    FactSpace space;
    Search search;
  };
  // One class's part of a question.
  struct Place {
    Search& search;
    module::ClassIndex of_class;
    std::vector<std::uint32_t> denials;  // entries of the rule
    std::set<std::uint32_t> allows;      // the same, of groups
  };

  [[nodiscard]] std::vector<Place> PlacesOf(module::RuleIndex rule) const;
  Use OfDeny(module::RuleIndex rule, std::set<module::RuleIndex> absent, std::uint64_t& steps);
  Use OfAllow(module::RuleIndex rule, const std::set<module::RuleIndex>& absent,
              std::uint64_t& steps);

  const interpret::Interpreter& engine_;
  std::vector<std::unique_ptr<Asking>> askings_;  // of each action
};

// Of each of `rules`, as FindUses says.
std::vector<Use> FindUsesOf(const interpret::Interpreter& engine,
                            std::span<const module::RuleIndex> rules, Solver& solver,
                            UseBudget budget);

}  // namespace curfew::prove
