// JSON in the one spelling that is hashed and signed: keys sorted by bytes, no white space, whole
// numbers only, strict UTF-8, bounded depth. FORMAT.md has the rules.
#pragma once

#include "compiler/base/json.h"
#include "compiler/base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace curfew::evidence {

using Json = nlohmann::json;

// A string that is not UTF-8 becomes {"base64": "…"}, so that hostile names and arguments stay
// exact. Malformed for a float, a number past 63 bits, a key that is not UTF-8, or depth past
// limits::JsonDepthMax. `depth` is what the value will have in the text that it becomes a part of.
Result<std::string> Canonical(const Json& value, std::size_t depth = 1);

// The value of a text in the canonical spelling; Malformed for any other spelling.
Result<JsonValue> ParseCanonical(std::string_view text);
// The same value for writing.
Json JsonOf(const JsonValue& value);

// Reads an object of which every member must be taken; the first wrong or missing one is kept, so
// that a decoder is a list of members and one check at its end. Borrows the object.
class ObjectReader {
 public:
  // `what` names the object in messages ("receipt").
  ObjectReader(const JsonValue& object, std::string what);

  // Text, or the bytes of {"base64": "…"}.
  std::string Text(std::string_view name);
  std::int64_t Integer(std::string_view name);
  // An integer that is not negative.
  std::uint64_t Count(std::string_view name);
  bool Flag(std::string_view name);
  std::vector<std::string> Texts(std::string_view name);
  // An empty value where there is none.
  const JsonValue& Array(std::string_view name);
  const JsonValue& Object(std::string_view name);
  // Only where the member is there.
  std::optional<std::int64_t> OptionalInteger(std::string_view name);
  std::optional<bool> OptionalFlag(std::string_view name);
  std::optional<std::string> OptionalText(std::string_view name);

  // Notes a mistake that the caller found, unless there is one already.
  void Refuse(std::string message);
  // The first mistake, or the first member that nobody took.
  Outcome Finish();

 private:
  const JsonValue* Take(std::string_view name, JsonValue::Kind kind);
  std::string TextOf(const JsonValue& value, std::string_view name);

  const JsonValue& object_;
  std::string what_;
  std::vector<std::string> taken_;
  std::string mistake_;
};

}  // namespace curfew::evidence
