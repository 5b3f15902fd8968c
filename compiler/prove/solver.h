// Solver: boolean formulas over numbers, answered by Z3 and by nothing else. Only solver.cpp knows
// it. Work is counted in Z3's own resource units, which are the same on every machine.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace curfew::prove {

enum class Bool : std::uint32_t { False, True };
enum class Int : std::uint32_t {};

class Solver {
 public:
  Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
  ~Solver();

  // Forgets every formula; what follows is a new question.
  void Begin();

  static Bool Constant(bool value) { return value ? Bool::True : Bool::False; }
  Bool Fresh();
  Bool Not(Bool a);
  Bool And(std::span<const Bool> parts);
  Bool Or(std::span<const Bool> parts);
  Bool And(Bool a, Bool b);
  Bool Or(Bool a, Bool b);

  Int Number(std::int64_t value);
  Int FreshNumber(std::int64_t least, std::int64_t most);
  Int Sum(std::span<const std::pair<std::int64_t, Int>> parts);
  Int Choose(Bool condition, Int then, Int otherwise);
  Bool LessEqual(Int a, Int b);
  Bool Less(Int a, Int b);
  Bool Equal(Int a, Int b);

  void Require(Bool formula);
  // At most one of them holds.
  void RequireAtMostOne(std::span<const Bool> parts);

  enum class Answer : std::uint8_t { Satisfiable, Unsatisfiable, Spent };
  // `steps` is what may be spent, and afterwards what is left of it.
  Answer Check(std::span<const Bool> assumptions, std::uint64_t& steps);

  // Of the answer Satisfiable before.
  [[nodiscard]] bool Read(Bool formula) const;
  [[nodiscard]] std::int64_t Read(Int number) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace curfew::prove
