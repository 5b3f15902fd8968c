#include "compiler/prove/solver.h"

#include "compiler/base/check.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <z3++.h>

namespace curfew::prove {

struct Solver::State {
  z3::context context;
  std::optional<z3::solver> solver;
  std::optional<z3::model> model;
  std::vector<z3::expr> bools;
  std::vector<z3::expr> ints;
  std::unordered_map<std::int64_t, Int> numbers;
  std::unordered_map<std::uint32_t, Bool> negations;
  std::uint64_t spent = 0;  // what the context has counted so far

  Bool Keep(const z3::expr& formula) {
    bools.push_back(formula);
    return static_cast<Bool>(bools.size() - 1);
  }
  Int KeepNumber(const z3::expr& number) {
    ints.push_back(number);
    return static_cast<Int>(ints.size() - 1);
  }
  const z3::expr& At(Bool formula) { return bools[static_cast<std::size_t>(formula)]; }
  const z3::expr& At(Int number) { return ints[static_cast<std::size_t>(number)]; }
  z3::expr_vector Vector(std::span<const Bool> parts) {
    z3::expr_vector vector(context);
    for (const Bool part : parts) vector.push_back(At(part));
    return vector;
  }
};

Solver::Solver() : state_(std::make_unique<State>()) { Begin(); }
Solver::~Solver() = default;

void Solver::Begin() {
  State& s = *state_;
  s.model.reset();
  s.bools.clear();
  s.ints.clear();
  s.numbers.clear();
  s.negations.clear();
  // One solver for a question: what an earlier one learnt would change what a later one costs.
  s.solver.emplace(s.context, z3::solver::simple());
  s.Keep(s.context.bool_val(false));
  s.Keep(s.context.bool_val(true));
}

Bool Solver::Fresh() {
  return state_->Keep(z3::expr(
      state_->context, Z3_mk_fresh_const(state_->context, "b", state_->context.bool_sort())));
}

Bool Solver::Not(Bool a) {
  if (a == Bool::False) return Bool::True;
  if (a == Bool::True) return Bool::False;
  const auto key = static_cast<std::uint32_t>(a);
  if (const auto known = state_->negations.find(key); known != state_->negations.end()) {
    return known->second;
  }
  const Bool negation = state_->Keep(!state_->At(a));
  state_->negations.emplace(key, negation);
  state_->negations.emplace(static_cast<std::uint32_t>(negation), a);
  return negation;
}

Bool Solver::And(std::span<const Bool> parts) {
  std::vector<Bool> kept;
  for (const Bool part : parts) {
    if (part == Bool::False) return Bool::False;
    if (part != Bool::True) kept.push_back(part);
  }
  if (kept.empty()) return Bool::True;
  if (kept.size() == 1) return kept.front();
  return state_->Keep(z3::mk_and(state_->Vector(kept)));
}

Bool Solver::Or(std::span<const Bool> parts) {
  std::vector<Bool> kept;
  for (const Bool part : parts) {
    if (part == Bool::True) return Bool::True;
    if (part != Bool::False) kept.push_back(part);
  }
  if (kept.empty()) return Bool::False;
  if (kept.size() == 1) return kept.front();
  return state_->Keep(z3::mk_or(state_->Vector(kept)));
}

Bool Solver::And(Bool a, Bool b) {
  const Bool both[] = {a, b};
  return And(both);
}
Bool Solver::Or(Bool a, Bool b) {
  const Bool both[] = {a, b};
  return Or(both);
}

Int Solver::Number(std::int64_t value) {
  const auto known = state_->numbers.find(value);
  if (known != state_->numbers.end()) return known->second;
  const Int number = state_->KeepNumber(state_->context.int_val(value));
  state_->numbers.emplace(value, number);
  return number;
}

Int Solver::FreshNumber(std::int64_t least, std::int64_t most) {
  z3::context& context = state_->context;
  const z3::expr number(context, Z3_mk_fresh_const(context, "n", context.int_sort()));
  state_->solver->add(number >= context.int_val(least) && number <= context.int_val(most));
  return state_->KeepNumber(number);
}

Int Solver::Sum(std::span<const std::pair<std::int64_t, Int>> parts) {
  if (parts.empty()) return Number(0);
  z3::expr_vector terms(state_->context);
  for (const auto& [factor, number] : parts) {
    terms.push_back(factor == 1 ? state_->At(number)
                                : state_->context.int_val(factor) * state_->At(number));
  }
  return state_->KeepNumber(z3::sum(terms));
}

Int Solver::Choose(Bool condition, Int then, Int otherwise) {
  if (condition == Bool::True) return then;
  if (condition == Bool::False) return otherwise;
  return state_->KeepNumber(
      z3::ite(state_->At(condition), state_->At(then), state_->At(otherwise)));
}

Bool Solver::LessEqual(Int a, Int b) { return state_->Keep(state_->At(a) <= state_->At(b)); }
Bool Solver::Less(Int a, Int b) { return state_->Keep(state_->At(a) < state_->At(b)); }
Bool Solver::Equal(Int a, Int b) { return state_->Keep(state_->At(a) == state_->At(b)); }

void Solver::Require(Bool formula) {
  if (formula != Bool::True) state_->solver->add(state_->At(formula));
}

void Solver::RequireAtMostOne(std::span<const Bool> parts) {
  // A ladder: `some` says whether one of those so far holds.
  Bool some = Bool::False;
  for (const Bool part : parts) {
    Require(Not(And(some, part)));
    if (some == Bool::False) {
      some = part;
      continue;
    }
    const Bool next = Fresh();
    Require(Or(Not(some), next));
    Require(Or(Not(part), next));
    some = next;
  }
}

Solver::Answer Solver::Check(std::span<const Bool> assumptions, std::uint64_t& steps) {
  State& s = *state_;
  constexpr std::uint64_t kMost = 2'000'000'000;  // Z3 counts in 32 bits
  if (steps == 0) return Answer::Spent;
  z3::params limits(s.context);
  limits.set("rlimit", static_cast<unsigned>(std::min(steps, kMost)));
  s.solver->set(limits);
  z3::expr_vector assumed(s.context);
  for (const Bool assumption : assumptions) {
    if (assumption == Bool::False) return Answer::Unsatisfiable;
    if (assumption != Bool::True) assumed.push_back(s.At(assumption));
  }
  const z3::check_result result = s.solver->check(assumed);
  const z3::stats statistics = s.solver->statistics();
  std::uint64_t total = s.spent;
  for (unsigned i = 0; i < statistics.size(); ++i) {
    if (statistics.key(i) == "rlimit count") total = statistics.uint_value(i);
  }
  const std::uint64_t cost = std::max<std::uint64_t>(1, total > s.spent ? total - s.spent : 0);
  s.spent = total;
  steps -= std::min(steps, cost);
  switch (result) {
    case z3::sat:
      s.model.emplace(s.solver->get_model());
      return Answer::Satisfiable;
    case z3::unsat:
      return Answer::Unsatisfiable;
    case z3::unknown:
      return Answer::Spent;
  }
  CURFEW_UNREACHABLE("Z3 has three answers");
}

bool Solver::Read(Bool formula) const {
  return state_->model->eval(state_->At(formula), true).is_true();
}

std::int64_t Solver::Read(Int number) const {
  std::int64_t value = 0;
  const z3::expr told = state_->model->eval(state_->At(number), true);
  CURFEW_CHECK(told.is_numeral_i64(value), "every number is bounded by 64 bits");
  return value;
}

}  // namespace curfew::prove
