// What a condition rules out: the facts by which an index can find it. Beside entry_index.cpp,
// which makes tables of it, nobody includes this.
#pragma once

#include "compiler/module/tables.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace curfew::module {

// A fact, and what an index goes by of it. Never WidePath: whether a path is read widely is said by
// the guard.
struct Way {
  IndexKind kind = IndexKind::Text;
  std::uint32_t slot = 0;
  friend auto operator<=>(const Way&, const Way&) = default;
};

inline constexpr std::uint32_t NoLength = NoIndex;

// One value of a fact, or several, that let a condition hold.
struct Key {
  std::uint64_t word = 0;           // of Text: of `texts`; of all others: a mark
  std::uint32_t reach = 0;          // PostingRecord::reach
  std::uint32_t length = NoLength;  // which bit of IndexRecord::lengths it needs
  friend auto operator<=>(const Key&, const Key&) = default;
};

// Integers from one to another, both among them.
struct Interval {
  std::int64_t first = 0;
  std::int64_t last = 0;
  friend auto operator<=>(const Interval&, const Interval&) = default;
};

// By way: the only keys with which a condition can hold. Where the fact can be read and meets none
// of them the condition is false, whatever else is unknown: one false part makes an `and` false,
// and an `or` is false when all its parts are.
struct Guard {
  std::vector<Key> keys;            // ascending, no doubles
  std::vector<Interval> intervals;  // of Integer, until keys are made of them in the end
  std::uint32_t implied = NoIndex;  // the node that a key's meeting the fact makes true
  bool of_hosts = false;            // patterns, which cost more to meet one by one
  bool is_wide = false;             // some path is read widely
};
using Guards = std::map<Way, Guard>;

// Finds guards, in time and space linear in the tables: of what is found behind that there are
// none, and so it is looked at always.
class GuardFinder {
 public:
  explicit GuardFinder(const Tables& tables);

  // `condition` is a node, or NoIndex. `only_texts`: of no other kind, which costs less.
  Guards Of(std::uint32_t condition, bool only_texts);

 private:
  bool Spend(std::size_t work) {
    if (work > work_left_) return false;
    work_left_ -= work;
    return true;
  }
  [[nodiscard]] bool IsFact(std::uint32_t term, ValueClass value) const {
    return t_.terms[term].kind == TermKind::Slot && t_.terms[term].value == value;
  }
  Guards OfNode(std::uint32_t node, std::size_t depth);
  Guards OfJunction(const NodeRecord& node, std::size_t depth);
  Guards OfComparison(std::uint32_t node);
  Guards OfMembership(std::uint32_t node);
  Guards OfHosts(std::uint32_t node);
  Guards OfPaths(const NodeRecord& node);
  Guards OfAddresses(const NodeRecord& node);
  Guards OfTexts(std::uint32_t node, std::uint32_t term, std::vector<Key> keys) const;
  Guards OfIntegers(std::uint32_t term, std::vector<Interval> intervals) const;
  bool AddBlocks(Interval interval, std::vector<Key>& keys);

  const Tables& t_;
  std::size_t work_left_;
  bool only_texts_ = false;
};

}  // namespace curfew::module
