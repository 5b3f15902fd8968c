// `deny`, `require` and `never`, of a class or of the whole set.
#pragma once

#include "compiler/check/context.h"
#include "compiler/model/policy_model.h"
#include "compiler/syntax/ast.h"

#include <optional>
#include <string>

namespace curfew::check {

schema::Action ActionOf(syntax::Action action);

// `when …` and `because …` behind a statement that is about requests of one action.
struct CheckedTail {
  model::ExprId condition = model::NoExpr;
  std::string message;
};
std::optional<CheckedTail> CheckTail(Context& context, const syntax::Tail& tail,
                                     schema::Action action);

// `trial until TIME`.
std::optional<model::Trial> CheckTrial(Context& context, const syntax::Trial& trial);

// Adds the rule to the model unless an equal one is there.
void CheckRule(Context& context, const syntax::Rule& rule, std::optional<model::ClassId> of_class);

}  // namespace curfew::check
