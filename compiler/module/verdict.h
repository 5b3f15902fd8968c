// The answer to a request, written into spans that the caller provides: nothing is allocated by a
// decision.
#pragma once

#include "compiler/base/limits.h"
#include "compiler/schema/schema.h"

#include <array>
#include <cstdint>
#include <span>

namespace curfew::module {

enum class Effect : std::uint8_t { Deny, Allow };

// An index into the module's rules, which are sorted by id: sorting indexes sorts ids.
using RuleIndex = std::uint32_t;
using ClassIndex = std::uint32_t;
inline constexpr ClassIndex NoClass = ~ClassIndex{0};

// Room for rule ids, and how many were meant to be written: more than the room is an overflow that
// the caller sees. What is written is sorted, each once; when the room is full the smallest stay.
struct RuleList {
  std::span<RuleIndex> room;
  std::uint32_t count = 0;

  void Add(RuleIndex rule) {
    const std::size_t used = written().size();
    std::size_t place = used;
    while (place > 0 && room[place - 1] > rule) --place;
    if (place > 0 && room[place - 1] == rule) return;
    ++count;
    if (place == room.size()) return;
    for (std::size_t i = used < room.size() ? used : used - 1; i > place; --i) {
      room[i] = room[i - 1];
    }
    room[place] = rule;
  }
  [[nodiscard]] bool overflowed() const { return count > room.size(); }
  [[nodiscard]] std::span<const RuleIndex> written() const {
    return room.first(count < room.size() ? count : room.size());
  }
};

struct Verdict {
  // Deny until a decision says otherwise, so that a verdict nobody filled in denies.
  Effect effect = Effect::Deny;
  schema::Stage stage = schema::Stage::Request;
  std::uint64_t generation = 0;
  // The class that was selected (create) or that the sandbox has; its index is also that of its
  // plan template.
  ClassIndex class_index = NoClass;
  RuleList denials;  // every one that holds, sorted by id
  RuleList allows;   // every one that matches, sorted by id; written also when a denial wins
  RuleList trials;   // every trial that would have denied, sorted by id
  // Unknown facts that the answer depended on, as slots; empty means that nothing missing could
  // change it.
  schema::Slot undecided_slot = 0;
  bool undecided = false;
};

// A verdict with its room, for callers that have no better place.
class VerdictRoom {
 public:
  VerdictRoom() {
    verdict.denials.room = denials_;
    verdict.allows.room = allows_;
    verdict.trials.room = trials_;
  }
  VerdictRoom(const VerdictRoom&) = delete;
  VerdictRoom& operator=(const VerdictRoom&) = delete;

  Verdict verdict;

 private:
  std::array<RuleIndex, limits::VerdictIdsMax> denials_{};
  std::array<RuleIndex, limits::VerdictIdsMax> allows_{};
  std::array<RuleIndex, limits::VerdictIdsMax> trials_{};
};

}  // namespace curfew::module
