// JSON in the one spelling that is hashed and signed: keys sorted by bytes, no white space, whole
// numbers only, strict UTF-8, no duplicate key, bounded depth. FORMAT.md has the rules.
#pragma once

#include "compiler/base/result.h"

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace curfew::evidence {

using Json = nlohmann::json;

// A string that is not UTF-8 becomes {"base64": "…"}, so that hostile names and arguments stay
// exact. Malformed for a float, a key that is not UTF-8, or depth past limits::JsonDepthMax.
Result<std::string> Canonical(const Json& value);

// Any spelling, but strictly JSON: Malformed for duplicate keys, floats, depth, trailing bytes.
Result<Json> ParseStrict(std::string_view text);
// Only the canonical spelling.
Result<Json> ParseCanonical(std::string_view text);

// Reads an object of which every key must be taken exactly once; the first wrong or missing one is
// kept as the failure, so that a decoder is a list of fields and one check at its end.
class ObjectReader {
 public:
  // `what` names the object in messages ("receipt").
  ObjectReader(const Json& object, std::string what);

  std::string Text(const char* key);
  // Text, or the bytes of {"base64": "…"}.
  std::string RawText(const char* key);
  std::int64_t Integer(const char* key);
  std::uint64_t Unsigned(const char* key);
  bool Flag(const char* key);
  std::vector<std::string> Texts(const char* key);
  std::vector<std::string> RawTexts(const char* key);
  // An empty array or object when missing or of another type.
  const Json& Array(const char* key);
  const Json& Object(const char* key);
  // False when the key is absent; then nothing is taken.
  [[nodiscard]] bool Has(const char* key) const;

  // Notes a mistake that the caller found in a value ("`verdict` is not one of …").
  void Refuse(std::string message);
  // The first mistake, or the first key that nobody took.
  Outcome Finish();

 private:
  const Json* Take(const char* key);
  const Json& object_;
  std::string what_;
  std::vector<std::string> taken_;
  std::string mistake_;
};

}  // namespace curfew::evidence
