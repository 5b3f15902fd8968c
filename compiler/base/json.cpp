#include "compiler/base/json.h"

#include "compiler/base/limits.h"
#include "compiler/base/text.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace curfew {
namespace {

// Builds the tree from the library's events; refuses by returning false with `failure_` set.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text) {}

  bool null() override { return Place({}); }
  bool boolean(bool value) override {
    JsonValue node(JsonValue::Kind::Bool);
    node.boolean = value;
    return Place(std::move(node));
  }
  bool number_integer(number_integer_t value) override {
    JsonValue node(JsonValue::Kind::Integer);
    node.integer = value;
    return Place(std::move(node));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= INT64_MAX) return number_integer(static_cast<std::int64_t>(value));
    JsonValue node(JsonValue::Kind::Number);
    node.text = std::to_string(value);
    return Place(std::move(node));
  }
  bool number_float(number_float_t, const string_t& written) override {
    JsonValue node(JsonValue::Kind::Number);
    node.text = written;
    return Place(std::move(node));
  }
  bool string(string_t& value) override {
    JsonValue node(JsonValue::Kind::String);
    node.text = std::move(value);
    return Place(std::move(node));
  }
  bool binary(binary_t&) override { CURFEW_UNREACHABLE("JSON text has no binary values"); }

  bool start_object(std::size_t) override { return Open(JsonValue::Kind::Object); }
  bool start_array(std::size_t) override { return Open(JsonValue::Kind::Array); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    Level& level = levels_.back();
    if (!level.names.insert(name).second && doubled_.size() < JsonDoubledMax) {
      doubled_.push_back(PointerTo(Pointer(), name));
    }
    level.node.members.push_back({std::move(name), {}});
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::json::exception& error) override {
    (void)token;
    const std::string_view before = text_.substr(0, position > 0 ? position - 1 : 0);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    // The library's "[json.exception.…] parse error at line 1, column 2: syntax error …".
    std::string_view what = error.what();
    if (const auto colon = what.find(": "); colon != what.npos) what.remove_prefix(colon + 2);
    return Refuse(FailureCode::Malformed,
                  fmt::format("not JSON at line {}, column {}: {}", line,
                              before.size() - line_start + 1, Printable(what, 300)));
  }

  Result<JsonReading> Take() && {
    if (failure_) return *std::move(failure_);
    return JsonReading{std::move(root_), std::move(doubled_)};
  }

 private:
  struct Level {
    JsonValue node;
    std::unordered_set<std::string> names;
  };

  bool Open(JsonValue::Kind kind) {
    if (levels_.size() >= limits::JsonDepthMax) {
      return Refuse(FailureCode::TooLarge,
                    fmt::format("JSON nested deeper than {} levels", limits::JsonDepthMax));
    }
    levels_.push_back({});
    levels_.back().node.kind = kind;
    return true;
  }
  bool Close() {
    JsonValue node = std::move(levels_.back().node);
    levels_.pop_back();
    return Place(std::move(node));
  }
  bool Place(JsonValue node) {
    if (levels_.empty()) {
      root_ = std::move(node);
      return true;
    }
    JsonValue& parent = levels_.back().node;
    if (parent.is(JsonValue::Kind::Object)) {
      parent.members.back().value = std::move(node);
    } else {
      parent.items.push_back(std::move(node));
    }
    return true;
  }
  // Where the builder stands: the way to the innermost open object or array.
  [[nodiscard]] std::string Pointer() const {
    std::string pointer;
    for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
      const JsonValue& node = levels_[i].node;
      pointer = node.is(JsonValue::Kind::Object) ? PointerTo(pointer, node.members.back().name)
                                                 : PointerTo(pointer, node.items.size());
    }
    return pointer;
  }
  bool Refuse(FailureCode code, std::string message) {
    if (!failure_) failure_ = Failure(code, std::move(message));
    return false;
  }

  std::string_view text_;
  std::vector<Level> levels_;
  JsonValue root_;
  std::vector<std::string> doubled_;
  std::optional<Failure> failure_;
};

}  // namespace

const JsonValue* JsonValue::Find(std::string_view name) const {
  for (const JsonMember& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

std::string_view Describe(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::Null:
      return "null";
    case JsonValue::Kind::Bool:
      return "true or false";
    case JsonValue::Kind::Integer:
      return "an integer";
    case JsonValue::Kind::Number:
      return "a number";
    case JsonValue::Kind::String:
      return "a string";
    case JsonValue::Kind::Array:
      return "an array";
    case JsonValue::Kind::Object:
      return "an object";
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

Result<JsonValue> ParseJson(std::string_view text, std::size_t bytes_most) {
  CURFEW_TRY(JsonReading reading, ReadJson(text, bytes_most));
  if (reading.doubled.empty()) return std::move(reading.value);
  return Failure(FailureCode::Malformed, fmt::format("the member `{}` stands twice",
                                                     Printable(reading.doubled.front(), 200)));
}

Result<JsonReading> ReadJson(std::string_view text, std::size_t bytes_most) {
  if (text.size() > bytes_most) {
    return Failure(FailureCode::TooLarge,
                   fmt::format("JSON of {} bytes; at most {} are read", text.size(), bytes_most));
  }
  if (text.starts_with("\xEF\xBB\xBF")) {
    return Failure(FailureCode::Malformed,
                   "not JSON at line 1, column 1: a byte-order mark; save the file without it");
  }
  // The library takes a NUL for the end of the text.
  if (const auto nul = text.find('\0'); nul != text.npos) {
    return Failure(FailureCode::Malformed, fmt::format("not JSON at byte {}: a NUL", nul + 1));
  }
  TreeBuilder builder(text);
  // The library reports through the builder and throws nothing here.
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder).Take();
}

std::string PointerTo(std::string_view pointer, std::string_view member) {
  std::string result(pointer);
  result += '/';
  for (const char c : member) {
    if (c == '~') {
      result += "~0";
    } else if (c == '/') {
      result += "~1";
    } else {
      result += c;
    }
  }
  return result;
}

std::string PointerTo(std::string_view pointer, std::size_t index) {
  return fmt::format("{}/{}", pointer, index);
}

std::string JsonQuoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace curfew
