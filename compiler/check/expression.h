// Conditions: names resolved, types given, and absence followed through `and`, `or`, `not` and
// `has`, so that no expression that is left can fail.
#pragma once

#include "compiler/check/context.h"
#include "compiler/model/policy_model.h"
#include "compiler/syntax/ast.h"

#include <bitset>
#include <optional>
#include <string>

namespace curfew::check {

// What a condition may read.
struct Readable {
  model::ActionSet actions;
  bool of_class_when = false;  // `now`, `caller.*` and `task.*` only
};

class ExpressionChecker {
 public:
  ExpressionChecker(Context& context, Readable readable) : context_(context), readable_(readable) {}

  // The condition, or nothing after a report. What holds once it is true is known to every
  // condition that this checker reads later (`require create when has task.ticket: task.ticket !=
  // ""`).
  std::optional<model::ExprId> Condition(const syntax::Expr& expr);

 private:
  // Optional attributes that are there, by their place in the model's expressions.
  using Facts = std::bitset<512>;
  struct Typed {
    model::ExprId id;
    model::Type type;
    Facts when_true = {};
    Facts when_false = {};
  };
  using MaybeTyped = std::optional<Typed>;
  class Deeper;

  // An expression that has a type of its own.
  MaybeTyped Infer(const syntax::Expr& expr);
  // One whose place asks for a type: literals, and sums of them.
  MaybeTyped Expect(const syntax::Expr& expr, const model::Type& type);
  MaybeTyped InferKind(const syntax::Expr& expr);

  MaybeTyped Attribute(const syntax::Expr& expr);
  MaybeTyped Has(const syntax::Expr& expr);
  MaybeTyped Not(const syntax::Expr& expr);
  MaybeTyped Junction(const syntax::Expr& expr, model::ExprKind kind);
  MaybeTyped Comparison(const syntax::Expr& expr, model::ExprKind kind);
  MaybeTyped In(const syntax::Expr& expr);
  MaybeTyped Matches(const syntax::Expr& expr);
  MaybeTyped Starts(const syntax::Expr& expr);
  MaybeTyped Sets(const syntax::Expr& expr, model::ExprKind kind);
  MaybeTyped Count(const syntax::Expr& expr);
  MaybeTyped Sum(const syntax::Expr& expr, model::ExprKind kind);
  MaybeTyped Quantifier(const syntax::Expr& expr, model::ExprKind kind);

  MaybeTyped Boolean(const syntax::Expr& expr);
  // Both sides of an operator; a literal takes the other side's type.
  struct Pair {
    Typed left;
    Typed right;
  };
  std::optional<Pair> Sides(const syntax::Expr& expr);

  // Where an attribute stands in the model's expressions; nothing after a report.
  struct Found {
    std::uint32_t use = 0;
    model::Type type;
  };
  std::optional<Found> Find(std::string_view path, Span span);

  // Whether an expression has no type of its own.
  [[nodiscard]] bool IsUntyped(const syntax::Expr& expr) const;
  [[nodiscard]] bool IsBareAttribute(std::string_view name) const;
  MaybeTyped Constant(const syntax::Expr& expr, const model::Type& type);
  Typed Node(model::ExprKind kind, const model::Type& type, Span span,
             std::initializer_list<model::ExprId> operands, std::uint32_t leaf = 0);
  MaybeTyped WrongOperand(const syntax::Expr& expr, std::string_view operation,
                          std::string_view takes, const model::Type& type);

  Context& context_;
  Readable readable_;
  Facts known_;
  struct Variable {
    std::string name;
    model::Type type;
  };
  std::optional<Variable> variable_;
  std::size_t depth_ = 0;
  bool too_deep_ = false;
};

}  // namespace curfew::check
