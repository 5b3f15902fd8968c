#include "compiler/module/json_value.h"

#include "compiler/base/text.h"
#include "compiler/module/tables.h"
#include "compiler/values/address.h"
#include "compiler/values/host.h"
#include "compiler/values/path.h"
#include "compiler/values/principal.h"
#include "compiler/values/quantity.h"
#include "compiler/values/url.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace curfew::module {
namespace {

using schema::TypeKind;
using Kind = JsonValue::Kind;

ValueProblem Wrong(std::string message) { return {"", std::move(message)}; }

ValueProblem Wrong(const values::Error& error) {
  if (error.suggestion.empty()) return Wrong(error.message);
  return Wrong(fmt::format("{}; write `{}`", error.message, error.suggestion));
}

std::string_view Example(TypeKind kind) {
  switch (kind) {
    case TypeKind::Bool:
      return "true or false";
    case TypeKind::Int:
      return "a number without fraction or exponent";
    case TypeKind::Text:
      return "a string";
    case TypeKind::Principal:
      return "a principal, as in \"user:ana\"";
    case TypeKind::Duration:
      return "a duration, as in \"1h30m\"";
    case TypeKind::Size:
      return "a size, as in \"8GiB\"";
    case TypeKind::Time:
      return "a time, as in \"2026-11-29T00:00:00Z\"";
    case TypeKind::Ip:
      return "an address, as in \"192.0.2.7\"";
    case TypeKind::Cidr:
      return "an address block, as in \"10.20.0.0/16\"";
    case TypeKind::Host:
      return "a host name, as in \"api.example.com\"";
    case TypeKind::UrlPath:
      return "a URL path, as in \"/simple/requests/\"";
    case TypeKind::FilePath:
      return "an absolute path, as in \"/work/out/report\"";
    case TypeKind::Digest:
      return "a digest, \"sha256:\" and 64 digits";
    case TypeKind::Enum:
      return "one of its words";
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::variant<Value, ValueProblem> Integer(const values::Parsed<std::int64_t>& parsed, bool negate) {
  if (!parsed) return Wrong(parsed.error());
  return Value::OfInteger(negate ? -*parsed : *parsed);
}

std::variant<Value, ValueProblem> Text(values::Parsed<std::string> parsed, ValueArena& arena) {
  if (!parsed) return Wrong(parsed.error());
  return Value::OfText(arena.Keep(*parsed));
}

template <std::size_t size>
std::string BytesOf(const std::array<std::uint8_t, size>& bytes) {
  return std::string(AsText(bytes));
}

std::variant<Value, ValueProblem> FromString(const std::string& text, const FactType& type,
                                             ValueArena& arena) {
  switch (type.kind) {
    case TypeKind::Text:
      return Value::OfText(arena.Keep(text));
    case TypeKind::Principal:
      return Text(values::ParsePrincipal(text), arena);
    case TypeKind::Duration: {
      const bool negate = type.may_be_negative && text.starts_with('-');
      return Integer(values::ParseDuration(std::string_view(text).substr(negate ? 1 : 0)), negate);
    }
    case TypeKind::Size:
      return Integer(values::ParseSize(text), false);
    case TypeKind::Time:
      return Integer(values::ParseTime(text), false);
    case TypeKind::Ip: {
      const auto parsed = values::ParseAddress(text);
      if (!parsed) return Wrong(parsed.error());
      return Value::OfText(arena.Keep(BytesOf(parsed->bytes)));
    }
    case TypeKind::Cidr: {
      const auto parsed = values::ParseCidr(text);
      if (!parsed) return Wrong(parsed.error());
      return Value::OfText(
          arena.Keep(BytesOf(parsed->base.bytes) + static_cast<char>(parsed->prefix)));
    }
    case TypeKind::Host:
      return Text(values::ParseHost(text), arena);
    case TypeKind::UrlPath:
      return Text(values::ParseUrlPath(text, values::EscapedSlashes::Kept), arena);
    case TypeKind::FilePath:
      return Text(values::ParseFilePath(text), arena);
    case TypeKind::Digest: {
      const std::optional<Digest> digest = ParseDigest(text);
      if (!digest) return Wrong("not a digest; write `sha256:` and 64 lower-case digits");
      return Value::OfText(arena.Keep(BytesOf(digest->bytes)));
    }
    case TypeKind::Enum: {
      const auto& words = type.enum_values;
      const auto found = std::find(words.begin(), words.end(), text);
      if (found == words.end()) {
        return Wrong(fmt::format("`{}` is none of its words: {}", Printable(text, 60),
                                 fmt::join(words, ", ")));
      }
      return Value::OfInteger(found - words.begin());
    }
    case TypeKind::Bool:
    case TypeKind::Int:
      break;
  }
  CURFEW_UNREACHABLE("bool and int are no strings in JSON");
}

Kind JsonKindOf(TypeKind kind) {
  if (kind == TypeKind::Bool) return Kind::Bool;
  if (kind == TypeKind::Int) return Kind::Integer;
  return Kind::String;
}

std::variant<Value, ValueProblem> DecodeOne(const JsonValue& json, const FactType& type,
                                            ValueArena& arena) {
  if (!json.is(JsonKindOf(type.kind))) {
    if (json.is(Kind::Null)) return Wrong("null means nothing; leave the field out");
    const std::string_view seen = json.is(Kind::Number) && type.kind == TypeKind::Int
                                      ? "a number with a fraction or an exponent, or over 63 bits,"
                                      : Describe(json.kind);
    return Wrong(fmt::format("{} where {} is asked for", seen, Example(type.kind)));
  }
  if (json.is(Kind::Bool)) return Value::OfInteger(json.boolean ? 1 : 0);
  if (json.is(Kind::Integer)) {
    if (json.integer < 0) return Wrong("a negative number; an int counts from 0");
    return Value::OfInteger(json.integer);
  }
  if (json.text.size() > limits::RequestStringBytesMax) {
    return Wrong(fmt::format("a string of {} bytes; at most {} are read", json.text.size(),
                             limits::RequestStringBytesMax));
  }
  return FromString(json.text, type, arena);
}

bool HoldsText(TypeKind kind) { return ClassOf(kind, schema::Collection::One) == ValueClass::Text; }

void SortSet(std::vector<Value>& items, TypeKind kind) {
  if (HoldsText(kind)) {
    std::sort(items.begin(), items.end(),
              [](const Value& a, const Value& b) { return a.text() < b.text(); });
  } else {
    std::sort(items.begin(), items.end(),
              [](const Value& a, const Value& b) { return a.integer < b.integer; });
  }
}

bool IsSame(const Value& a, const Value& b, TypeKind kind) {
  return HoldsText(kind) ? a.text() == b.text() : a.integer == b.integer;
}

}  // namespace

std::string_view ValueArena::Keep(std::string_view text) {
  if (text.size() > room_) {
    const std::size_t bytes = std::max(BlockBytes, text.size());
    blocks_.push_back(std::make_unique<char[]>(bytes));
    room_ = bytes;
    end_ = blocks_.back().get() + bytes;
  }
  char* const place = end_ - room_;
  std::copy(text.begin(), text.end(), place);
  room_ -= text.size();
  return {place, text.size()};
}

std::variant<Value, ValueProblem> DecodeValue(const JsonValue& json, const FactType& type,
                                              ValueArena& arena) {
  if (type.collection == schema::Collection::One) return DecodeOne(json, type, arena);
  if (!json.is(Kind::Array)) {
    if (json.is(Kind::Null)) return Wrong("null means nothing; leave the field out");
    return Wrong(fmt::format("{} where {} is asked for", Describe(json.kind), Describe(type)));
  }
  if (json.items.size() > type.elements_most) {
    return Wrong(
        fmt::format("{} elements; at most {} are read", json.items.size(), type.elements_most));
  }
  std::vector<Value> items;
  for (std::size_t i = 0; i < json.items.size(); ++i) {
    auto decoded = DecodeOne(json.items[i], type, arena);
    if (auto* problem = std::get_if<ValueProblem>(&decoded)) {
      return ValueProblem{PointerTo("", i), std::move(problem->message)};
    }
    items.push_back(std::get<Value>(decoded));
  }
  if (type.collection == schema::Collection::Set) {
    SortSet(items, type.kind);
    const auto twice = std::adjacent_find(
        items.begin(), items.end(),
        [&type](const Value& a, const Value& b) { return IsSame(a, b, type.kind); });
    if (twice != items.end()) return Wrong("a set that holds an element twice");
  }
  return Value::OfItems(arena.Keep(std::move(items)));
}

std::string Describe(const FactType& type) {
  switch (type.collection) {
    case schema::Collection::One:
      return std::string(Example(type.kind));
    case schema::Collection::Set:
      return fmt::format("an array (a set of {})", WordOf(type.kind));
    case schema::Collection::List:
      return fmt::format("an array (a list of {})", WordOf(type.kind));
  }
  CURFEW_UNREACHABLE("the switch names every collection");
}

}  // namespace curfew::module
