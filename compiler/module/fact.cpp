#include "compiler/module/fact.h"

namespace curfew::module {
namespace {

using schema::Action;
using schema::Origin;

Fact FactOf(Action action, const schema::Attribute& attribute) {
  Fact fact;
  fact.path = attribute.path;
  fact.slot = attribute.slot;
  fact.type.kind = attribute.type.kind;
  fact.type.collection = attribute.type.collection;
  fact.optional = attribute.type.optional;
  fact.origin = attribute.origin;
  fact.known_to_action = schema::FindAttribute(action, attribute.path) != nullptr;
  fact.type.may_be_negative = attribute.origin == Origin::Verified;
  if (attribute.type.kind == schema::TypeKind::Enum) {
    const auto words = schema::InfoOf(attribute.type.enumeration).values;
    fact.type.enum_values.assign(words.begin(), words.end());
  }
  return fact;
}

Fact FactOf(Action action, const DeclaredAttribute& declared, std::size_t n) {
  Fact fact;
  fact.path = declared.path;
  fact.slot = schema::DeclaredSlot(action, n);
  fact.type.kind = declared.kind;
  fact.type.collection = declared.collection;
  fact.type.elements_most = declared.elements_most;
  fact.type.enum_values.assign(declared.enum_values.begin(), declared.enum_values.end());
  fact.optional = declared.optional;
  fact.restated = declared.restated && action == Action::Resume;
  fact.origin = IsBelowPath(declared.path, "caller") ? Origin::Verified : Origin::Stated;
  return fact;
}

}  // namespace

bool IsBelowPath(std::string_view path, std::string_view prefix) {
  return path.size() > prefix.size() && path.starts_with(prefix) && path[prefix.size()] == '.';
}

std::vector<Fact> FactsOf(Action action, std::span<const DeclaredAttribute> declared) {
  std::vector<Fact> facts;
  for (const schema::Attribute& attribute : schema::AttributesOf(action)) {
    facts.push_back(FactOf(action, attribute));
  }
  for (std::size_t n = 0; n < declared.size(); ++n) {
    facts.push_back(FactOf(action, declared[n], n));
  }
  // What is sealed at create is the runtime's to say in every later request.
  if (action == Action::Create) return facts;
  for (Fact& fact : facts) {
    if (IsBelowPath(fact.path, "task") && !fact.restated) fact.origin = Origin::Verified;
  }
  return facts;
}

}  // namespace curfew::module
