// Scan: which facts a question reads, and what it compares them with. Facts that it compares with
// each other share their values: they are one pool.
#pragma once

#include "compiler/prove/claim.h"
#include "compiler/prove/domain.h"
#include "compiler/prove/facts.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace curfew::prove {

// Facts that are no numbers, or sets of numbers, and what is asked of their values.
struct Pool {
  std::vector<FactId> members;
  schema::TypeKind kind = schema::TypeKind::Text;
  Atoms atoms;
  std::set<std::int64_t> numbers;  // that elements of a set of numbers are compared with
  bool is_compared = false;        // members are compared with each other
  std::string why_not_whole;       // something is asked that no finite domain answers
  // Conditions on one member and constants, which cells are told apart by: side and node.
  std::set<std::pair<Side, std::uint32_t>> leaves;
};

class Scan {
 public:
  explicit Scan(const FactSpace& space) : space_(space) {}

  void Read(const Claim& claim);
  // Facts that are there beside what claims read.
  void Add(FactId fact) { facts_.insert(fact); }

  [[nodiscard]] const std::set<FactId>& facts() const { return facts_; }
  [[nodiscard]] const std::set<View>& views() const { return views_; }
  // After the last Read: every pool.
  [[nodiscard]] std::vector<Pool> TakePools();

 private:
  void Node(Side side, std::uint32_t node, std::optional<std::uint32_t> items);
  void Terms(Side side, std::uint32_t node, std::optional<std::uint32_t> items);
  void Term(Side side, std::uint32_t term);
  void DefaultsOf(const View& view);
  // The fact of a term: a slot, or what the quantifier around an element goes over.
  [[nodiscard]] std::optional<FactId> FactOf(Side side, std::uint32_t term,
                                             std::optional<std::uint32_t> items) const;
  [[nodiscard]] std::vector<std::string> ConstantsOf(Side side, std::uint32_t term,
                                                     std::optional<std::uint32_t> items) const;
  FactId RootOf(FactId fact);
  void Join(FactId a, FactId b);
  Pool& PoolOf(FactId fact);
  void Patterns(Side side, const module::NodeRecord& node, Pool& pool);
  void Counted(Side side, const module::NodeRecord& node);

  const FactSpace& space_;
  std::set<FactId> facts_;
  std::set<View> views_;
  std::set<std::pair<Side, std::uint32_t>> seen_;
  std::map<FactId, FactId> parent_;
  std::map<FactId, Pool> asked_;  // by fact, joined at the end
};

// The slots and items that the subtree of a node reads.
void SlotsReadBy(const module::Tables& tables, std::uint32_t node, std::set<schema::Slot>& slots);

}  // namespace curfew::prove
