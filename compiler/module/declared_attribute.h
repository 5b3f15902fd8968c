// An attribute that a policy set declares on top of the schema: what the decoder of requests needs
// to know of it. A module can list its own.
#pragma once

#include "compiler/base/limits.h"
#include "compiler/schema/schema.h"

#include <cstdint>
#include <string>
#include <vector>

namespace curfew::module {

// What a policy set declares beyond the schema, in the set's canonical order: the n-th has
// schema::DeclaredSlot(action, n). Paths begin with "task." or "caller.".
struct DeclaredAttribute {
  std::string path;
  schema::TypeKind kind = schema::TypeKind::Text;
  schema::Collection collection = schema::Collection::One;
  bool optional = false;
  bool restated = false;  // of `task`: may be stated again when a snapshot is resumed
  std::uint32_t elements_most = limits::SetElementsDefault;  // of a set or list
  std::vector<std::string> enum_values;                      // where kind is Enum
  friend bool operator==(const DeclaredAttribute&, const DeclaredAttribute&) = default;
};

}  // namespace curfew::module
