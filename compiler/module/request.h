// A request as decision code reads it: one flat row of values in slot order (compiler/schema), and
// two bits for each. No strings are owned here: every view must stay valid while the decision runs.
// JSON exists at the edges only (request_json.h).
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/base/limits.h"
#include "compiler/schema/schema.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace curfew::module {

// One fact. What it holds follows from the slot's type:
//   Bool, Int, Duration (ms), Size (bytes), Time (ms since the epoch), Enum (ordinal): `integer`
//   Text, Principal, Host, UrlPath, FilePath: `size` bytes at `data`, canonical (compiler/values)
//   Digest: 32 bytes at `data`; Ip: 16 bytes at `data`, IPv4 mapped; Cidr: 16 bytes and the prefix
//   length a set or list: `size` values at `items`; a set is sorted and has no doubles
struct Value {
  union {
    std::int64_t integer;
    const char* data;
    const Value* items;
  };
  std::uint32_t size = 0;
  std::uint32_t interned = 0;  // 1: `data` is an InternedText's (interned_text.h)

  constexpr Value() : integer(0) {}
  static constexpr Value OfInteger(std::int64_t integer);
  static constexpr Value OfText(std::string_view text);
  static constexpr Value OfItems(std::span<const Value> items);

  [[nodiscard]] std::string_view text() const { return {data, size}; }
  [[nodiscard]] std::span<const Value> elements() const { return {items, size}; }
};
static_assert(sizeof(Value) == 16, "decision code finds slot i at byte 16 i");

constexpr Value Value::OfInteger(std::int64_t integer) {
  Value value;
  value.integer = integer;
  return value;
}
constexpr Value Value::OfText(std::string_view text) {
  Value value;
  value.data = text.data();
  value.size = static_cast<std::uint32_t>(text.size());
  return value;
}
constexpr Value Value::OfItems(std::span<const Value> items) {
  Value value;
  value.items = items.data();
  value.size = static_cast<std::uint32_t>(items.size());
  return value;
}

// What a request says, as compiled code reads it: a bit of `present` and of `known` for each slot
// (a fact that is present is known), and the values in slot order.
struct Facts {
  using Bits = std::array<std::uint64_t, limits::AttributesPerActionMax / 64>;
  Bits present{};
  Bits known{};
  std::array<Value, limits::AttributesPerActionMax> values{};

  [[nodiscard]] bool is_known(schema::Slot slot) const { return Test(known, slot); }
  [[nodiscard]] bool is_present(schema::Slot slot) const { return Test(present, slot); }

  static bool Test(const Bits& bits, schema::Slot slot) {
    return (bits[slot / 64] >> (slot % 64) & 1) != 0;
  }
  static void Assign(Bits& bits, schema::Slot slot, bool value) {
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    bits[slot / 64] = value ? bits[slot / 64] | bit : bits[slot / 64] & ~bit;
  }
};
static_assert(offsetof(Facts, known) == 16 && offsetof(Facts, values) == 32 &&
              limits::AttributesPerActionMax == 128);

// A fact is in one of three states: unknown (nobody can say at this stage), absent (known not to be
// there), present. A new request knows nothing. Setting `now` also sets what derives from it.
class Request {
 public:
  explicit Request(schema::Action action, schema::Stage stage = schema::Stage::Request)
      : action_(action), stage_(stage) {}

  [[nodiscard]] schema::Action action() const { return action_; }
  [[nodiscard]] schema::Stage stage() const { return stage_; }
  void SetStage(schema::Stage stage) { stage_ = stage; }

  void Set(schema::Slot slot, Value value) { Put(slot, value, true, true); }
  void SetInteger(schema::Slot slot, std::int64_t integer) { Set(slot, Value::OfInteger(integer)); }
  void SetText(schema::Slot slot, std::string_view text) { Set(slot, Value::OfText(text)); }
  void SetDigest(schema::Slot slot, const Digest& digest);  // `digest` must outlive the decision
  void SetAbsent(schema::Slot slot) { Put(slot, Value(), true, false); }
  void SetUnknown(schema::Slot slot) { Put(slot, Value(), false, false); }
  // `now`, with `now.time_of_day` and `now.weekday`.
  void SetNow(std::int64_t ms_since_epoch);

  [[nodiscard]] bool is_known(schema::Slot slot) const { return facts_.is_known(slot); }
  [[nodiscard]] bool is_present(schema::Slot slot) const { return facts_.is_present(slot); }
  // Meaningful where present.
  [[nodiscard]] const Value& value(schema::Slot slot) const { return facts_.values[slot]; }
  [[nodiscard]] const Facts& facts() const { return facts_; }

 private:
  friend class FilledRequest;
  void Put(schema::Slot slot, Value value, bool is_known, bool is_present);

  schema::Action action_;
  schema::Stage stage_;
  Facts facts_;
};

// A copy of a request whose absent facts can be filled in: as many of its values as it knows, since
// a request is 2 KiB of which most are nothing.
class FilledRequest {
 public:
  explicit FilledRequest(const Request& request);
  FilledRequest(const FilledRequest&) = delete;
  FilledRequest& operator=(const FilledRequest&) = delete;

  [[nodiscard]] const Request& request() const { return *reinterpret_cast<const Request*>(room_); }
  [[nodiscard]] bool is_absent(schema::Slot slot) const {
    return request().is_known(slot) && !request().is_present(slot);
  }
  // Of an absent fact.
  void Fill(schema::Slot slot, Value value) {
    Facts& facts = reinterpret_cast<Request*>(room_)->facts_;
    facts.values[slot] = value;
    facts.present[slot / 64] |= std::uint64_t{1} << (slot % 64);
  }

 private:
  alignas(Request) std::byte room_[sizeof(Request)];
};

}  // namespace curfew::module
