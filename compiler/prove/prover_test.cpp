#include "compiler/prove/solver.h"

#include <array>

#include <catch2/catch.hpp>

namespace curfew::prove {
namespace {

TEST_CASE("the solver answers, shows an answer, and stops where its steps are spent") {
  Solver solver;
  std::uint64_t steps = 1'000'000;
  const Int a = solver.FreshNumber(0, 10);
  const Int b = solver.FreshNumber(0, 10);
  const std::array<std::pair<std::int64_t, Int>, 2> sum{{{1, a}, {-1, b}}};
  solver.Require(solver.Equal(solver.Sum(sum), solver.Number(7)));
  const Bool more = solver.Less(solver.Number(3), b);
  REQUIRE(solver.Check({}, steps) == Solver::Answer::Satisfiable);
  CHECK(solver.Read(a) - solver.Read(b) == 7);
  CHECK(solver.Check(std::array{more}, steps) == Solver::Answer::Unsatisfiable);
  CHECK(steps < 1'000'000);
  steps = 0;
  CHECK(solver.Check({}, steps) == Solver::Answer::Spent);
  solver.Begin();
  steps = 1'000'000;
  const std::array<Bool, 4> several{solver.Fresh(), solver.Fresh(), solver.Fresh(), solver.Fresh()};
  solver.RequireAtMostOne(several);
  CHECK(solver.Check(std::array{several[0]}, steps) == Solver::Answer::Satisfiable);
  CHECK(solver.Check(std::array{several[0], several[3]}, steps) == Solver::Answer::Unsatisfiable);
}

TEST_CASE("equal questions cost equal steps") {
  const auto cost = [] {
    Solver solver;
    std::uint64_t steps = 10'000'000;
    std::vector<Bool> parts;
    for (int i = 0; i < 12; ++i) {
      parts.push_back(solver.LessEqual(solver.FreshNumber(0, 100), solver.FreshNumber(5, 50)));
    }
    solver.RequireAtMostOne(parts);
    CHECK(solver.Check({}, steps) == Solver::Answer::Satisfiable);
    return 10'000'000 - steps;
  };
  CHECK(cost() == cost());
}

}  // namespace
}  // namespace curfew::prove
