#include "runtime/evidence/canonical_json.h"

#include "compiler/base/limits.h"
#include "compiler/base/text.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace curfew::evidence {

namespace {

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::optional<CodePoint> point = DecodeUtf8(text);
    if (!point) return false;
    text.remove_prefix(point->bytes);
  }
  return true;
}

constexpr const char* Base64Member = "base64";

// Whether the value is written as it stands: false where a string is not UTF-8. Malformed where it
// cannot be written.
Result<bool> IsAllUtf8(const Json& value, std::size_t depth) {
  if (depth > limits::JsonDepthMax) return Failure(FailureCode::Malformed, "JSON nested too deep");
  switch (value.type()) {
    case Json::value_t::null:
    case Json::value_t::boolean:
    case Json::value_t::number_integer:
      return true;
    case Json::value_t::number_unsigned:
      if (value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
        return Failure(FailureCode::Malformed, "a number past 63 bits cannot be recorded");
      }
      return true;
    case Json::value_t::string:
      return IsUtf8(value.get_ref<const std::string&>());
    case Json::value_t::array:
    case Json::value_t::object: {
      bool all = true;
      for (auto item = value.begin(); item != value.end(); ++item) {
        if (value.is_object() && !IsUtf8(item.key())) {
          return Failure(FailureCode::Malformed, "a name that is not UTF-8");
        }
        CURFEW_TRY(const bool is_utf8, IsAllUtf8(*item, depth + 1));
        all = all && is_utf8;
      }
      return all;
    }
    case Json::value_t::number_float:
    case Json::value_t::binary:
    case Json::value_t::discarded:
      break;
  }
  return Failure(FailureCode::Malformed,
                 "only whole numbers, texts, arrays and objects are recorded");
}

void MakeUtf8(Json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (!IsUtf8(text)) value = Json{{Base64Member, Base64(AsBytes(text))}};
  } else if (value.is_structured()) {
    for (Json& item : value) MakeUtf8(item);
  }
}

// What stands for a member that is missing.
const JsonValue& Empty() {
  static const JsonValue empty;
  return empty;
}

}  // namespace

Result<std::string> Canonical(const Json& value, std::size_t depth) {
  CURFEW_TRY(const bool is_utf8, IsAllUtf8(value, depth));
  // The library sorts names by bytes, writes no white space, and has one escape for each character.
  if (is_utf8) return value.dump();
  Json utf8 = value;
  MakeUtf8(utf8);
  return utf8.dump();
}

Json JsonOf(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::Null:
      return nullptr;
    case JsonValue::Kind::Bool:
      return value.boolean;
    case JsonValue::Kind::Integer:
      return value.integer;
    case JsonValue::Kind::Number:
      return 0.5;  // what Canonical refuses
    case JsonValue::Kind::String:
      return value.text;
    case JsonValue::Kind::Array: {
      Json array = Json::array();
      for (const JsonValue& item : value.items) array.push_back(JsonOf(item));
      return array;
    }
    case JsonValue::Kind::Object: {
      Json object = Json::object();
      for (const JsonMember& member : value.members) object[member.name] = JsonOf(member.value);
      return object;
    }
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

Result<JsonValue> ParseCanonical(std::string_view text) {
  CURFEW_TRY(JsonValue value, ParseJson(text));
  CURFEW_TRY(const std::string spelling, Canonical(JsonOf(value)));
  if (spelling != text) {
    return Failure(FailureCode::Malformed, "JSON in another spelling than the canonical one");
  }
  return value;
}

ObjectReader::ObjectReader(const JsonValue& object, std::string what)
    : object_(object), what_(std::move(what)) {
  if (!object.is(JsonValue::Kind::Object)) Refuse("is missing or no object");
}

void ObjectReader::Refuse(std::string message) {
  if (mistake_.empty()) mistake_ = std::move(message);
}

const JsonValue* ObjectReader::Take(std::string_view name, JsonValue::Kind kind) {
  taken_.emplace_back(name);
  const JsonValue* value = object_.Find(name);
  if (value == nullptr) {
    Refuse(fmt::format("lacks `{}`", name));
  } else if (!value->is(kind)) {
    Refuse(
        fmt::format("has {} in `{}` instead of {}", Describe(value->kind), name, Describe(kind)));
    value = nullptr;
  }
  return value;
}

std::string ObjectReader::TextOf(const JsonValue& value, std::string_view name) {
  if (value.is(JsonValue::Kind::String)) return value.text;
  if (value.is(JsonValue::Kind::Object) && value.members.size() == 1 &&
      value.members.front().name == Base64Member) {
    const std::optional<Bytes> bytes = FromBase64(value.members.front().value.text);
    // Only what could not be a string is written so: one text has one spelling.
    if (bytes && !IsUtf8(AsText(*bytes))) return std::string(AsText(*bytes));
  }
  Refuse(fmt::format("has no text in `{}`", name));
  return {};
}

std::string ObjectReader::Text(std::string_view name) {
  taken_.emplace_back(name);
  const JsonValue* value = object_.Find(name);
  if (value == nullptr) {
    Refuse(fmt::format("lacks `{}`", name));
    return {};
  }
  return TextOf(*value, name);
}

std::int64_t ObjectReader::Integer(std::string_view name) {
  const JsonValue* value = Take(name, JsonValue::Kind::Integer);
  return value == nullptr ? 0 : value->integer;
}

std::uint64_t ObjectReader::Count(std::string_view name) {
  const std::int64_t number = Integer(name);
  if (number < 0) Refuse(fmt::format("has a negative `{}`", name));
  return static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0));
}

bool ObjectReader::Flag(std::string_view name) {
  const JsonValue* value = Take(name, JsonValue::Kind::Bool);
  return value != nullptr && value->boolean;
}

std::vector<std::string> ObjectReader::Texts(std::string_view name) {
  std::vector<std::string> texts;
  for (const JsonValue& item : Array(name).items) texts.push_back(TextOf(item, name));
  return texts;
}

const JsonValue& ObjectReader::Array(std::string_view name) {
  const JsonValue* value = Take(name, JsonValue::Kind::Array);
  return value == nullptr ? Empty() : *value;
}

const JsonValue& ObjectReader::Object(std::string_view name) {
  const JsonValue* value = Take(name, JsonValue::Kind::Object);
  return value == nullptr ? Empty() : *value;
}

std::optional<std::int64_t> ObjectReader::OptionalInteger(std::string_view name) {
  if (object_.Find(name) == nullptr) return std::nullopt;
  return Integer(name);
}

std::optional<bool> ObjectReader::OptionalFlag(std::string_view name) {
  if (object_.Find(name) == nullptr) return std::nullopt;
  return Flag(name);
}

std::optional<std::string> ObjectReader::OptionalText(std::string_view name) {
  if (object_.Find(name) == nullptr) return std::nullopt;
  return Text(name);
}

Outcome ObjectReader::Finish() {
  for (const JsonMember& member : object_.members) {
    if (std::find(taken_.begin(), taken_.end(), member.name) == taken_.end()) {
      Refuse(fmt::format("has a member `{}` that this version does not know",
                         Printable(member.name, 60)));
    }
  }
  if (mistake_.empty()) return Ok();
  return Failure(FailureCode::Malformed, fmt::format("the {} {}", what_, mistake_));
}

}  // namespace curfew::evidence
