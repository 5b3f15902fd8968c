#include "compiler/explain/fact_text.h"

#include "compiler/base/text.h"
#include "compiler/values/address.h"
#include "compiler/values/quantity.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace curfew::explain {
namespace {

using schema::TypeKind;

constexpr std::size_t ElementsToldMax = 8;

std::string Quoted(std::string_view text) { return "\"" + Printable(text) + "\""; }

std::string Quantity(std::int64_t amount, std::string (*text)(std::int64_t)) {
  return amount < 0 && amount != INT64_MIN ? "-" + text(-amount) : text(amount);
}

values::Address AddressIn(const module::Value& value) {
  values::Address address;
  std::memcpy(address.bytes.data(), value.data, address.bytes.size());
  return address;
}

}  // namespace

std::size_t Vocabulary::slot_count() const {
  return schema::AttributesOf(action_).size() + policy_.declared().size();
}

std::string Vocabulary::PathOf(schema::Slot slot) const {
  const auto attributes = schema::AttributesOf(action_);
  if (slot < attributes.size()) return std::string(attributes[slot].path);
  return policy_.declared()[slot - attributes.size()].path;
}

FactType Vocabulary::TypeOf(schema::Slot slot) const {
  FactType type;
  const auto attributes = schema::AttributesOf(action_);
  if (slot < attributes.size()) {
    const schema::Attribute& attribute = attributes[slot];
    type.kind = attribute.type.kind;
    type.collection = attribute.type.collection;
    type.optional = attribute.type.optional;
    type.origin = attribute.origin;
    if (type.kind == TypeKind::Enum) {
      const auto words = schema::InfoOf(attribute.type.enumeration).values;
      type.enum_values.assign(words.begin(), words.end());
    }
    return type;
  }
  const module::DeclaredAttribute& declared = policy_.declared()[slot - attributes.size()];
  type.kind = declared.kind;
  type.collection = declared.collection;
  type.optional = declared.optional;
  type.enum_values.assign(declared.enum_values.begin(), declared.enum_values.end());
  return type;
}

std::string Vocabulary::TextOf(const module::Value& value, const FactType& type) const {
  switch (type.kind) {
    case TypeKind::Bool:
      return value.integer != 0 ? "true" : "false";
    case TypeKind::Int:
      return std::to_string(value.integer);
    case TypeKind::Duration:
      return Quantity(value.integer, values::DurationText);
    case TypeKind::Size:
      return Quantity(value.integer, values::SizeText);
    case TypeKind::Time:
      return values::TimeText(value.integer);
    case TypeKind::Enum: {
      const auto ordinal = static_cast<std::size_t>(value.integer);
      if (ordinal < type.enum_values.size()) return std::string(type.enum_values[ordinal]);
      return std::to_string(value.integer);
    }
    case TypeKind::Ip:
      if (value.size != sizeof(values::Address::bytes)) return "no address";
      return Quoted(values::ToString(AddressIn(value)));
    case TypeKind::Cidr: {
      if (value.size != sizeof(values::Address::bytes) + 1) return "no block of addresses";
      values::Cidr block;
      block.base = AddressIn(value);
      block.prefix = static_cast<std::uint8_t>(value.data[sizeof(values::Address::bytes)]);
      return Quoted(values::ToString(block));
    }
    case TypeKind::Digest:
      return "sha256:" + Hex(AsBytes(value.text()));
    case TypeKind::Text:
    case TypeKind::Principal:
    case TypeKind::Host:
    case TypeKind::UrlPath:
    case TypeKind::FilePath:
      return Quoted(value.text());
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::string Vocabulary::WholeTextOf(const module::Value& value, schema::Slot slot) const {
  const FactType type = TypeOf(slot);
  if (type.collection == schema::Collection::One) return TextOf(value, type);
  std::string text;
  const auto elements = value.elements();
  for (std::size_t i = 0; i < std::min(elements.size(), ElementsToldMax); ++i) {
    text.append(text.empty() ? "" : ", ").append(TextOf(elements[i], type));
  }
  if (elements.size() > ElementsToldMax) {
    text += fmt::format(" and {} more", elements.size() - ElementsToldMax);
  }
  return "[" + text + "]";
}

std::string Vocabulary::SeenIn(const module::Request& request, schema::Slot slot) const {
  if (!request.is_known(slot)) return PathOf(slot) + " is not known";
  if (!request.is_present(slot)) return PathOf(slot) + " is not there";
  return fmt::format("{} is {}", PathOf(slot), WholeTextOf(request.value(slot), slot));
}

}  // namespace curfew::explain
