#include "compiler/module/way_choice.h"

#include "compiler/module/entry_index.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace curfew::module {
namespace {

// So many entries of one key are judged one by one; more are told apart otherwise, if they can be.
constexpr std::size_t kCrowdMax = 8;
// A way beside another is worth its search from so many entries on.
constexpr std::size_t kRestMin = 8;

class Choosing {
 public:
  Choosing(std::uint32_t count,
           const std::function<Guards(std::uint32_t entry, bool only_texts)>& guards_of)
      : count_(count), guards_of_(guards_of) {}

  WayChoice Run() &&;

 private:
  // What a way does for the entries that have it.
  struct Merit {
    std::vector<std::uint32_t> entries;
    std::unordered_map<std::uint64_t, std::size_t> shared;  // by key: how many have it
    bool of_hosts = false;
  };
  using Merits = std::map<Way, Merit>;
  void Add(std::uint32_t entry, Merits& merits) const;

  // An entry, and how many at most are found by one of its keys.
  using Crowd = std::pair<std::uint32_t, std::size_t>;
  [[nodiscard]] std::vector<Crowd> CrowdsOf(Way way, const Merit& merit) const;
  void ChooseText();
  void ChooseOthers();
  void DropSmall();
  void Take(Way way, const std::vector<Crowd>& crowds);

  const std::uint32_t count_;
  const std::function<Guards(std::uint32_t, bool)>& guards_of_;
  std::vector<Guards> guards_;
  std::vector<std::size_t> crowd_;  // by entry: how many are looked at where it is
  WayChoice made_;
};

void Choosing::Add(std::uint32_t entry, Merits& merits) const {
  for (const auto& [way, guard] : guards_[entry]) {
    Merit& merit = merits[way];
    merit.entries.push_back(entry);
    merit.of_hosts = merit.of_hosts || guard.of_hosts;
    for (const Key& key : guard.keys) ++merit.shared[key.word];
  }
}

std::vector<Choosing::Crowd> Choosing::CrowdsOf(Way way, const Merit& merit) const {
  std::vector<Crowd> crowds;
  for (const std::uint32_t entry : merit.entries) {
    std::size_t crowd = 0;
    for (const Key& key : guards_[entry].at(way).keys) {
      crowd = std::max(crowd, merit.shared.at(key.word));
    }
    crowds.emplace_back(entry, crowd);
  }
  return crowds;
}

void Choosing::Take(Way way, const std::vector<Crowd>& crowds) {
  const auto number = static_cast<std::uint32_t>(made_.ways.size());
  made_.ways.push_back(way);
  for (const auto& [entry, crowd] : crowds) {
    made_.way_of[entry] = number;
    made_.guards[entry] = std::move(guards_[entry].at(way));
    crowd_[entry] = crowd;
  }
}

// By the fact whose text tells most texts apart.
void Choosing::ChooseText() {
  Merits merits;
  for (std::uint32_t entry = 0; entry < count_; ++entry) {
    guards_[entry] = guards_of_(entry, true);
    Add(entry, merits);
  }
  std::optional<Way> chosen;
  std::pair<std::size_t, std::size_t> best{KeysMin - 1, ~std::size_t{0}};
  for (const auto& [way, merit] : merits) {
    const std::pair found{merit.shared.size(), merit.entries.size()};
    const bool is_worth_it =
        merit.of_hosts || merit.entries.size() >= EntriesMin || found.first >= KeysOfFewMin;
    if (!is_worth_it || found <= best) continue;
    best = found;
    chosen = way;
  }
  if (chosen) Take(*chosen, CrowdsOf(*chosen, merits[*chosen]));
}

// Of the entries that no text finds, or one with many others: by whatever finds most of them in a
// crowd half as large.
void Choosing::ChooseOthers() {
  std::vector<std::uint32_t> rest;
  for (std::uint32_t entry = 0; entry < count_; ++entry) {
    if (crowd_[entry] > kCrowdMax) rest.push_back(entry);
  }
  if (rest.size() < kRestMin) return;
  Merits merits;
  for (const std::uint32_t entry : rest) {
    guards_[entry] = guards_of_(entry, false);
    Add(entry, merits);
  }
  std::map<Way, std::vector<Crowd>> crowds;
  for (const auto& [way, merit] : merits) crowds.emplace(way, CrowdsOf(way, merit));
  while (made_.ways.size() < WaysMax) {
    std::optional<Way> chosen;
    std::vector<Crowd> best;
    std::size_t best_crowds = 0;
    for (const auto& [way, of_way] : crowds) {
      if (std::ranges::find(made_.ways, way) != made_.ways.end()) continue;
      std::vector<Crowd> found;
      std::size_t found_crowds = 0;
      for (const auto& [entry, crowd] : of_way) {
        if (crowd_[entry] <= kCrowdMax || 2 * crowd > crowd_[entry]) continue;
        found.emplace_back(entry, crowd);
        found_crowds += crowd;
      }
      const bool is_better =
          found.size() > best.size() || (found.size() == best.size() && found_crowds < best_crowds);
      if (found.size() < kRestMin || !is_better) continue;
      chosen = way;
      best = std::move(found);
      best_crowds = found_crowds;
    }
    if (!chosen) return;
    Take(*chosen, best);
  }
}

// A way that others left with few entries is not worth its search any more.
void Choosing::DropSmall() {
  if (made_.ways.size() < 2) return;
  std::vector<std::size_t> entries(made_.ways.size());
  std::vector<bool> of_hosts(made_.ways.size());
  for (std::uint32_t entry = 0; entry < count_; ++entry) {
    const std::uint32_t way = made_.way_of[entry];
    if (way == NoIndex) continue;
    ++entries[way];
    of_hosts[way] = of_hosts[way] || made_.guards[entry].of_hosts;
  }
  std::vector<std::uint32_t> number(made_.ways.size(), NoIndex);
  std::vector<Way> kept;
  for (std::size_t way = 0; way < made_.ways.size(); ++way) {
    if (entries[way] == 0 || (entries[way] < EntriesMin && !of_hosts[way])) continue;
    number[way] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(made_.ways[way]);
  }
  for (std::uint32_t& way : made_.way_of) way = way == NoIndex ? NoIndex : number[way];
  made_.ways = std::move(kept);
}

WayChoice Choosing::Run() && {
  guards_.resize(count_);
  crowd_.assign(count_, count_);
  made_.way_of.assign(count_, NoIndex);
  made_.guards.resize(count_);
  ChooseText();
  ChooseOthers();
  DropSmall();
  return std::move(made_);
}

}  // namespace

WayChoice ChooseWays(std::uint32_t count,
                     const std::function<Guards(std::uint32_t entry, bool only_texts)>& guards_of) {
  return Choosing(count, guards_of).Run();
}

}  // namespace curfew::module
