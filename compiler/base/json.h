// Strict JSON (RFC 8259) for everything that is read from outside: no doubled member, no byte-order
// mark, no trailing bytes, depth and size bounded, numbers kept exact. A plain tree, in the order
// of the text. What a document means is the caller's affair.
#pragma once

#include "compiler/base/limits.h"
#include "compiler/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace curfew {

struct JsonMember;

struct JsonValue {
  enum class Kind : std::uint8_t { Null, Bool, Integer, Number, String, Array, Object };

  JsonValue() = default;
  explicit JsonValue(Kind of_kind);

  Kind kind = Kind::Null;
  bool boolean = false;
  std::int64_t integer = 0;         // Integer: without fraction or exponent, within 64 bits
  std::string text;                 // String: its value; Number: as it was written
  std::vector<JsonValue> items;     // Array
  std::vector<JsonMember> members;  // Object; names are unique, but as ReadJson says

  [[nodiscard]] bool is(Kind other) const { return kind == other; }
  // The member of that name, or nullptr; nullptr too where this is no object.
  [[nodiscard]] const JsonValue* Find(std::string_view name) const;
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

inline JsonValue::JsonValue(Kind of_kind) : kind(of_kind) {}

// "a string", "an object", …: for messages.
std::string_view Describe(JsonValue::Kind kind);

// Malformed (with line and column) or TooLarge (`bytes_most`, limits::JsonDepthMax). Doubled
// members are Malformed too; the message has the JSON pointer.
Result<JsonValue> ParseJson(std::string_view text, std::size_t bytes_most = limits::JsonBytesMax);

// For who answers doubled members themselves: they stay in the tree, and `doubled` has the pointer
// of each, at most JsonDoubledMax.
struct JsonReading {
  JsonValue value;
  std::vector<std::string> doubled;
};
inline constexpr std::size_t JsonDoubledMax = 20;
Result<JsonReading> ReadJson(std::string_view text, std::size_t bytes_most = limits::JsonBytesMax);

// A JSON pointer (RFC 6901) one step further down.
std::string PointerTo(std::string_view pointer, std::string_view member);
std::string PointerTo(std::string_view pointer, std::size_t index);

// `text` as a JSON string, quoted. Bytes that are no UTF-8 become U+FFFD.
std::string JsonQuoted(std::string_view text);

}  // namespace curfew
