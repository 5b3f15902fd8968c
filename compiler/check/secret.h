// Secrets: their declarations, and where a rule may have one sent. A secret goes to exact names by
// `https`, and to nobody else.
#pragma once

#include "compiler/check/context.h"
#include "compiler/model/policy_model.h"
#include "compiler/syntax/ast.h"

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace curfew::check {

// Names of secrets of which a mistake hides where they go.
using UnreadSecrets = std::set<std::string, std::less<>>;

// Fills the model's secrets, by name, in the order of `declarations`.
UnreadSecrets DeclareSecrets(std::span<const syntax::SecretDecl* const> declarations,
                             model::PolicyModel& model, diagnostics::Sink& sink, bool is_partial);

// The secret that `name` means; nothing after a report.
std::optional<model::SecretId> FindSecret(Context& context, const syntax::Name& name);

// Whether `rule` may send its secret to every target; false after a report at `span`.
bool MaySend(Context& context, const model::EgressRule& rule, model::SecretId secret, Span span);

}  // namespace curfew::check
