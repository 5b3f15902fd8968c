// Box: for each fact the values that a condition leaves it, roughly. It throws away what cannot
// hold together before anything is asked of the solver; what it lets through may still not hold.
#pragma once

#include "compiler/prove/facts.h"
#include "compiler/values/address.h"
#include "compiler/values/host.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace curfew::prove {

class Box {
 public:
  explicit Box(const FactSpace& space) : space_(space) {}

  // Leaves what can be where the condition is true. NoIndex is.
  void Narrow(Side side, std::uint32_t node);
  // The same where the condition is not false: it may also read a fact that is not there.
  void NarrowUnlessFalse(Side side, std::uint32_t node);
  [[nodiscard]] bool MayBeTrue(Side side, std::uint32_t node) const;
  [[nodiscard]] bool MayBeFalse(Side side, std::uint32_t node) const;
  // Something cannot be at all.
  [[nodiscard]] bool is_empty() const { return is_empty_; }

 private:
  struct Interval {
    std::int64_t least;
    std::int64_t most;
  };
  // Of one fact; what is not there is not bounded.
  struct Bounds {
    std::map<FactId, Interval> numbers;
    std::map<FactId, std::set<std::string>> texts;
    std::map<FactId, std::vector<values::HostPattern>> hosts;
    std::map<FactId, std::vector<values::Cidr>> blocks;
    std::map<FactId, std::vector<std::string>> paths;
  };

  // The fact of a term, if what is said of it bounds it.
  [[nodiscard]] std::optional<FactId> BoundBy(Side side, std::uint32_t term) const;
  void NarrowLeaf(Side side, const module::NodeRecord& node);
  void NarrowByComparison(Side side, const module::NodeRecord& node, FactId fact);
  void NarrowByMembership(Side side, const module::NodeRecord& node, FactId fact);
  void Meet(const Bounds& other);
  static Bounds Join(const Bounds& a, const Bounds& b);
  [[nodiscard]] std::optional<FactId> FactOf(Side side, std::uint32_t term) const;
  [[nodiscard]] bool LeafMayBe(Side side, const module::NodeRecord& node, bool value) const;
  [[nodiscard]] bool NumberMayBe(Side side, const module::NodeRecord& node, FactId fact,
                                 bool value) const;
  [[nodiscard]] bool TextMayBe(Side side, const module::NodeRecord& node, FactId fact,
                               bool value) const;
  [[nodiscard]] std::vector<values::HostPattern> HostsOf(Side side,
                                                         const module::NodeRecord& node) const;
  [[nodiscard]] std::vector<values::Cidr> BlocksOf(Side side, const module::NodeRecord& node) const;

  const FactSpace& space_;
  Bounds bounds_;
  bool is_empty_ = false;
  bool may_lack_ = false;   // narrowed by what may read a fact that is not there
  std::set<FactId> there_;  // then: facts that surely are
};

}  // namespace curfew::prove
