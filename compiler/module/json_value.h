// One fact from JSON: checked against its type, canonical, in the form that decision code reads.
// request_json.h is the document around it.
#pragma once

#include "compiler/base/json.h"
#include "compiler/module/request.h"

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
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
  ValueArena(ValueArena&& other) noexcept
      : blocks_(std::move(other.blocks_)),
        end_(std::exchange(other.end_, nullptr)),
        room_(std::exchange(other.room_, 0)),
        lists_(std::move(other.lists_)) {}
  ValueArena& operator=(ValueArena&& other) noexcept {
    blocks_ = std::move(other.blocks_);
    end_ = std::exchange(other.end_, nullptr);
    room_ = std::exchange(other.room_, 0);
    lists_ = std::move(other.lists_);
    return *this;
  }
  ValueArena(const ValueArena&) = delete;
  ValueArena& operator=(const ValueArena&) = delete;

  // Texts lie side by side: who reads one has the next at hand.
  std::string_view Keep(std::string_view text);
  std::span<const Value> Keep(std::vector<Value> items) {
    return lists_.emplace_back(std::move(items));
  }

 private:
  static constexpr std::size_t BlockBytes = 512;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* end_ = nullptr;   // of the last block
  std::size_t room_ = 0;  // that is left in it
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
