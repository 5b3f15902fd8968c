// Lists that a set declares: `hosts npm ["npm.packages.example"]`. A list is its elements: wherever
// its name stands, they are read as if they stood there, so that nothing behind the checker knows
// of lists.
#pragma once

#include "compiler/check/context.h"
#include "compiler/syntax/ast.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace curfew::check {

// Reports elements that are not of their list's kind; fills the model's lists, by name.
void CheckLists(Context& context);

// The list that `name` means, which is of one of `kinds`; nullptr after a report.
const syntax::ListDecl* FindList(Context& context, const syntax::Name& name,
                                 std::initializer_list<syntax::ListDecl::Kind> kinds);

// The same, where a set of values of one type is wanted: no pattern may be among them.
const syntax::ListDecl* FindListOf(Context& context, const syntax::Name& name,
                                   const model::Type& set);

}  // namespace curfew::check
