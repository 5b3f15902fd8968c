// Which of its guards each entry of a range goes by. Beside entry_index.cpp nobody includes this.
#pragma once

#include "compiler/module/guards.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace curfew::module {

// The ways into one range, each the way of some entry, and the guards of its entries.
struct WayChoice {
  std::vector<Way> ways;
  std::vector<std::uint32_t> way_of;  // by entry: of `ways`, or NoIndex
  std::vector<Guard> guards;          // by entry: of its way
};

// `guards_of` finds the guards of an entry, below `count`. Ways are few: each is a search more in
// every decision, so that another is taken only where many entries are told apart by it and not
// otherwise. Texts come first, since hosts tell most rules apart.
WayChoice ChooseWays(std::uint32_t count,
                     const std::function<Guards(std::uint32_t entry, bool only_texts)>& guards_of);

// The most ways into one range.
inline constexpr std::size_t WaysMax = 4;

}  // namespace curfew::module
