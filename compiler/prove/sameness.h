// Sameness: conditions of two policy sets that are written alike get one number, so that what did
// not change is told apart from what did without asking anything of the solver.
#pragma once

#include "compiler/prove/facts.h"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace curfew::prove {

class Sameness {
 public:
  // `unlike`: facts whose left-out value differs; what reads one is never the same.
  Sameness(const FactSpace& space, std::set<FactId> unlike)
      : space_(space), unlike_(std::move(unlike)) {}

  std::uint32_t Of(Side side, std::uint32_t node);
  // An allow, by its condition and its limits.
  std::pair<std::uint32_t, std::uint32_t> OfEntry(Side side, const module::EntryRecord& entry) {
    return {Of(side, entry.condition), Of(side, entry.within)};
  }

 private:
  std::string TextOf(Side side, std::uint32_t node);
  std::string TermText(Side side, std::uint32_t term);
  std::string SlotText(Side side, schema::Slot slot);

  const FactSpace& space_;
  std::set<FactId> unlike_;
  std::array<std::unordered_map<std::uint32_t, std::uint32_t>, SidesMax> known_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace curfew::prove
