// The facts that a request of an action can have: those of the schema and those that a policy set
// declares, with their slots and types. Whoever fills in requests from outside goes by this list.
#pragma once

#include "compiler/module/declared_attribute.h"
#include "compiler/module/json_value.h"
#include "compiler/schema/schema.h"

#include <span>
#include <string_view>
#include <vector>

namespace curfew::module {

struct Fact {
  std::string_view path;  // owned by the schema or the declaration
  schema::Slot slot = 0;
  FactType type;
  bool optional = false;
  schema::Origin origin = schema::Origin::Stated;
  bool known_to_action = true;  // false: create's slots of sandboxes
  bool restated = false;        // stated or left out: what was sealed then holds
};

// Every fact, in slot order, `declared` behind the schema's own.
std::vector<Fact> FactsOf(schema::Action action, std::span<const DeclaredAttribute> declared);

// Whether the dotted `path` is one below `prefix`.
bool IsBelowPath(std::string_view path, std::string_view prefix);

}  // namespace curfew::module
