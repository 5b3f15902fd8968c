// One fact from JSON: checked against its type, canonical, in the form that decision code reads.
// request_json.h is the document around it.
#pragma once

#include "compiler/base/json.h"
#include "compiler/module/request.h"

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace curfew::module {

// What a fact may be: the schema's type, with the enum's values spelled out.
struct FactType {
  schema::TypeKind kind = schema::TypeKind::Text;
  schema::Collection collection = schema::Collection::One;
  std::vector<std::string_view> enum_values;  // owned by the schema or the declaration
  std::uint32_t elements_most = limits::SetElementsDefault;
  bool may_be_negative = false;  // durations that say what is left
};

// Owns what Values point at. Nothing moves once it is kept, also when the arena itself moves; a
// copy would own other bytes than the Values point at, so there is none.
class ValueArena {
 public:
  ValueArena() = default;
  ValueArena(ValueArena&&) noexcept = default;
  ValueArena& operator=(ValueArena&&) noexcept = default;
  ValueArena(const ValueArena&) = delete;
  ValueArena& operator=(const ValueArena&) = delete;

  std::string_view Keep(std::string text) { return texts_.emplace_back(std::move(text)); }
  std::span<const Value> Keep(std::vector<Value> items) {
    return lists_.emplace_back(std::move(items));
  }

 private:
  std::deque<std::string> texts_;
  std::deque<std::vector<Value>> lists_;
};

// Where within the value (a pointer below it, "" for itself) and what is wrong.
struct ValueProblem {
  std::string below;
  std::string message;
};

std::variant<Value, ValueProblem> DecodeValue(const JsonValue& json, const FactType& type,
                                              ValueArena& arena);

// "a duration", "a set of principals", …: for messages.
std::string Describe(const FactType& type);

}  // namespace curfew::module
