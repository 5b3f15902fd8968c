#include "runtime/keeper/questions.h"

#include <fmt/format.h>

namespace curfew::keeper {

using evidence::Json;
using module::Value;
using schema::Collection;
using schema::TypeKind;

namespace {

constexpr std::size_t TextBytesMax = 4096;  // of one fact on record
constexpr std::size_t ElementsMax = 256;

Json TextFact(std::string_view text) {
  if (text.size() <= TextBytesMax) return std::string(text);
  return {{"cut", std::string(text.substr(0, TextBytesMax))}, {"bytes", text.size()}};
}

template <typename Words>
Json OneFact(const Value& value, TypeKind kind, const Words& words) {
  switch (kind) {
    case TypeKind::Bool:
      return value.integer != 0;
    case TypeKind::Int:
    case TypeKind::Duration:
    case TypeKind::Size:
    case TypeKind::Time:
      return value.integer;
    case TypeKind::Enum: {
      const auto ordinal = static_cast<std::size_t>(value.integer);
      if (ordinal < words.size()) return std::string(words[ordinal]);
      return value.integer;
    }
    case TypeKind::Digest:
      return "sha256:" + Hex(AsBytes({value.data, sizeof(Digest::bytes)}));
    case TypeKind::Ip:
      return Hex(AsBytes({value.data, 16}));
    case TypeKind::Cidr:
      return fmt::format("{}/{}", Hex(AsBytes({value.data, 16})), value.size);
    case TypeKind::Text:
    case TypeKind::Principal:
    case TypeKind::Host:
    case TypeKind::UrlPath:
    case TypeKind::FilePath:
      return TextFact(value.text());
  }
  return nullptr;
}

template <typename Words>
Json Fact(const Value& value, TypeKind kind, Collection collection, const Words& words) {
  if (collection == Collection::One) return OneFact(value, kind, words);
  Json list = Json::array();
  for (const Value& element : value.elements()) {
    if (list.size() == ElementsMax) {
      return {{"cut", std::move(list)}, {"elements", value.elements().size()}};
    }
    list.push_back(OneFact(element, kind, words));
  }
  return list;
}

}  // namespace

Json FactsOf(const module::Request& request, const module::PolicyModule& policy) {
  Json facts = Json::object();
  for (const schema::Attribute& attribute : schema::AttributesOf(request.action())) {
    if (!request.is_known(attribute.slot) || !request.is_present(attribute.slot)) continue;
    facts[std::string(attribute.path)] =
        Fact(request.value(attribute.slot), attribute.type.kind, attribute.type.collection,
             schema::InfoOf(attribute.type.enumeration).values);
  }
  for (std::size_t n = 0; n < policy.declared().size(); ++n) {
    const schema::Slot at = schema::DeclaredSlot(request.action(), n);
    if (!request.is_known(at) || !request.is_present(at)) continue;
    const module::DeclaredAttribute& declared = policy.declared()[n];
    facts[declared.path] =
        Fact(request.value(at), declared.kind, declared.collection, declared.enum_values);
  }
  return facts;
}

}  // namespace curfew::keeper
