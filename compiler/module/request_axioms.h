// Whether a request keeps to the axioms of the schema (schema/axioms.h). Who builds a request from
// JSON and who sets typed facts are measured alike; one that does not keep to them is denied as a
// whole (`request.invalid`).
#pragma once

#include "compiler/module/request.h"
#include "compiler/schema/axioms.h"

#include <string>
#include <vector>

namespace curfew::module {

// One reason why a request does not fit the schema.
struct RequestProblem {
  std::string pointer;  // JSON pointer; "" is the whole document
  std::string message;  // what was seen, what the rule is, the nearest right name
};

// Every axiom that the known facts break, in the schema's order.
std::vector<RequestProblem> BrokenAxioms(const Request& request);

// "at least 1", "more than nothing": what an AtLeast or AtMost asks of a number of that kind.
std::string RangeText(const schema::Axiom& axiom, schema::TypeKind kind);

// "task.kind" as "/task/kind".
std::string PointerOf(std::string_view path);

}  // namespace curfew::module
