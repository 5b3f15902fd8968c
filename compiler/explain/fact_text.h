// Facts of a request in words: what an attribute is called, and a value as policy text spells it.
#pragma once

#include "compiler/module/policy_module.h"
#include "compiler/module/request.h"

#include <string>
#include <string_view>
#include <vector>

namespace curfew::explain {

// The type of a slot, built-in or declared.
struct FactType {
  schema::TypeKind kind = schema::TypeKind::Text;
  schema::Collection collection = schema::Collection::One;
  bool optional = false;
  schema::Origin origin = schema::Origin::Stated;
  std::vector<std::string_view> enum_values;
};

class Vocabulary {
 public:
  Vocabulary(const module::PolicyModule& policy, schema::Action action)
      : policy_(policy), action_(action) {}

  [[nodiscard]] std::size_t slot_count() const;
  [[nodiscard]] std::string PathOf(schema::Slot slot) const;
  [[nodiscard]] FactType TypeOf(schema::Slot slot) const;
  // A single value, or one element of a set or list of this type.
  [[nodiscard]] std::string TextOf(const module::Value& value, const FactType& type) const;
  // `egress.method is "POST"`, `task.ticket is not there`, `egress.ip is not known`.
  [[nodiscard]] std::string SeenIn(const module::Request& request, schema::Slot slot) const;
  // A whole value: `["a", "b"]` where the type is a set or list.
  [[nodiscard]] std::string WholeTextOf(const module::Value& value, schema::Slot slot) const;

 private:
  const module::PolicyModule& policy_;
  schema::Action action_;
};

}  // namespace curfew::explain
