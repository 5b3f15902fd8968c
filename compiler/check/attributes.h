// Attributes: those that a set declares, and what a path means in a rule of some actions.
#pragma once

#include "compiler/diagnostics/sink.h"
#include "compiler/model/policy_model.h"
#include "compiler/syntax/ast.h"

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::check {

model::Type TypeOf(const schema::Type& type);

// Paths of what is declared with a mistake: under each subject that a misspelt one may mean.
using UnreadAttributes = std::set<std::string, std::less<>>;

// Fills enums and declared attributes, sorted by path.
UnreadAttributes DeclareAttributes(std::span<const syntax::AttributesDecl* const> declarations,
                                   model::PolicyModel& model, diagnostics::Sink& sink);

// What the requests of one action carry at a path.
struct FoundAttribute {
  model::Type type;
  schema::Origin origin = schema::Origin::Stated;
  std::optional<std::uint32_t> declared_index;
};
std::optional<FoundAttribute> FindAttribute(const model::PolicyModel& model, schema::Action action,
                                            std::string_view path);

// Every path that policy can name in a request of the action.
std::vector<std::string_view> PathsOf(const model::PolicyModel& model, schema::Action action);

}  // namespace curfew::check
