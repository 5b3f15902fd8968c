#include "compiler/module/tables.h"
#include "runtime/gate/permit.h"

#include <cstring>

namespace curfew::gate {

using schema::TypeKind;

namespace {

bool IsNumber(TypeKind kind) {
  return module::ClassOf(kind, schema::Collection::One) == module::ValueClass::Integer;
}

std::string BytesOf(const module::Value& value, TypeKind kind) {
  if (kind == TypeKind::Digest) return {value.data, sizeof(Digest::bytes)};
  if (kind == TypeKind::Ip || kind == TypeKind::Cidr) return {value.data, 16};
  return std::string(value.text());
}

}  // namespace

std::string Describe(const Reason& reason) {
  std::string text;
  text.reserve(reason.id.size() + reason.file.size() + reason.message.size() + 24);
  text += reason.id;
  if (!reason.file.empty()) {
    text.append(" (").append(reason.file).append(":");
    text.append(std::to_string(reason.line)).append(")");
  }
  if (!reason.message.empty()) text.append(": ").append(reason.message);
  return text;
}

Facts::Facts(const module::Request& request) {
  for (const schema::Attribute& attribute : schema::AttributesOf(request.action())) {
    if (!request.is_known(attribute.slot) || !request.is_present(attribute.slot)) continue;
    const module::Value& value = request.value(attribute.slot);
    const TypeKind kind = attribute.type.kind;
    if (attribute.type.collection != schema::Collection::One) {
      if (IsNumber(kind)) continue;  // no built-in has one
      std::vector<std::string> texts;
      for (const module::Value& element : value.elements()) {
        texts.push_back(BytesOf(element, kind));
      }
      values_.emplace(attribute.slot, std::move(texts));
    } else if (IsNumber(kind)) {
      values_.emplace(attribute.slot, value.integer);
    } else {
      values_.emplace(attribute.slot, BytesOf(value, kind));
    }
  }
}

std::optional<std::int64_t> Facts::Integer(schema::Slot slot) const {
  const auto found = values_.find(slot);
  if (found == values_.end()) return std::nullopt;
  const auto* integer = std::get_if<std::int64_t>(&found->second);
  return integer != nullptr ? std::optional(*integer) : std::nullopt;
}

std::optional<std::string> Facts::Text(schema::Slot slot) const {
  const auto found = values_.find(slot);
  if (found == values_.end()) return std::nullopt;
  const auto* text = std::get_if<std::string>(&found->second);
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

std::optional<Digest> Facts::DigestAt(schema::Slot slot) const {
  const std::optional<std::string> text = Text(slot);
  if (!text || text->size() != sizeof(Digest::bytes)) return std::nullopt;
  Digest digest;
  std::memcpy(digest.bytes.data(), text->data(), text->size());
  return digest;
}

std::optional<std::vector<std::string>> Facts::Texts(schema::Slot slot) const {
  const auto found = values_.find(slot);
  if (found == values_.end()) return std::nullopt;
  const auto* texts = std::get_if<std::vector<std::string>>(&found->second);
  return texts != nullptr ? std::optional(*texts) : std::nullopt;
}

}  // namespace curfew::gate
