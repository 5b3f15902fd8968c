#include "compiler/prove/scan.h"

#include "compiler/values/path.h"

#include <algorithm>
#include <cstring>

namespace curfew::prove {
namespace {

using module::NodeOp;
using module::NodeRecord;
using module::TermKind;
using module::TermRecord;
using module::ValueClass;

bool IsText(const TermRecord& term) {
  return term.value == ValueClass::Text || term.value == ValueClass::TextItems;
}

void SlotsOfTerm(const module::Tables& t, std::uint32_t index, std::set<schema::Slot>& slots) {
  const TermRecord& term = t.terms[index];
  if (term.kind == TermKind::Slot) slots.insert(term.slot);
  if (term.kind == TermKind::Count) SlotsOfTerm(t, term.a, slots);
  if (term.kind == TermKind::Sum) {
    for (const auto& addend : t.addends.subspan(term.a, term.b)) {
      SlotsOfTerm(t, addend.term, slots);
    }
  }
}

bool ReadsTwoTerms(NodeOp op) {
  switch (op) {
    case NodeOp::Equal:
    case NodeOp::NotEqual:
    case NodeOp::Less:
    case NodeOp::LessEqual:
    case NodeOp::Greater:
    case NodeOp::GreaterEqual:
    case NodeOp::In:
    case NodeOp::SubsetOf:
    case NodeOp::Intersects:
    case NodeOp::SameItems:
    case NodeOp::Starts:
    case NodeOp::AddressInItems:
      return true;
    case NodeOp::False:
    case NodeOp::True:
    case NodeOp::Not:
    case NodeOp::And:
    case NodeOp::Or:
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
    case NodeOp::Has:
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::AddressIn:
    case NodeOp::QueryIn:
      return false;
  }
  CURFEW_UNREACHABLE("the switch names every operator");
}

bool IsOrder(NodeOp op) {
  return op == NodeOp::Less || op == NodeOp::LessEqual || op == NodeOp::Greater ||
         op == NodeOp::GreaterEqual;
}

}  // namespace

void SlotsReadBy(const module::Tables& tables, std::uint32_t index, std::set<schema::Slot>& slots) {
  const NodeRecord& node = tables.nodes[index];
  switch (node.op) {
    case NodeOp::False:
    case NodeOp::True:
      return;
    case NodeOp::Not:
      return SlotsReadBy(tables, node.a, slots);
    case NodeOp::And:
    case NodeOp::Or:
      for (const std::uint32_t child : tables.children.subspan(node.a, node.b)) {
        SlotsReadBy(tables, child, slots);
      }
      return;
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf:
      SlotsOfTerm(tables, node.a, slots);
      return SlotsReadBy(tables, node.b, slots);
    case NodeOp::Has:
      slots.insert(static_cast<schema::Slot>(node.a));
      return;
    case NodeOp::Equal:
    case NodeOp::NotEqual:
    case NodeOp::Less:
    case NodeOp::LessEqual:
    case NodeOp::Greater:
    case NodeOp::GreaterEqual:
    case NodeOp::In:
    case NodeOp::SubsetOf:
    case NodeOp::Intersects:
    case NodeOp::SameItems:
    case NodeOp::Starts:
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::AddressIn:
    case NodeOp::AddressInItems:
    case NodeOp::QueryIn:
      SlotsOfTerm(tables, node.a, slots);
      if (ReadsTwoTerms(node.op)) SlotsOfTerm(tables, node.b, slots);
      return;
  }
}

void Scan::Read(const Claim& claim) {
  for (const Claim& part : claim.parts) Read(part);
  if (claim.kind == Claim::Kind::All || claim.kind == Claim::Kind::Some) return;
  views_.insert(claim.view);
  if (claim.kind == Claim::Kind::IsNamed || claim.kind == Claim::Kind::NotNamed) {
    facts_.insert(space_.BuiltIn(schema::slot::CreateClass));
    return;
  }
  if (claim.node != module::NoIndex) Node(claim.view.side, claim.node, std::nullopt);
}

std::optional<FactId> Scan::FactOf(Side side, std::uint32_t term,
                                   std::optional<std::uint32_t> items) const {
  const TermRecord& record = space_.tables(side).terms[term];
  if (record.kind == TermKind::Slot) return space_.FactAt(side, record.slot);
  if (record.kind == TermKind::Element && items) return FactOf(side, *items, std::nullopt);
  return std::nullopt;
}

std::vector<std::string> Scan::ConstantsOf(Side side, std::uint32_t term,
                                           std::optional<std::uint32_t> items) const {
  const module::Tables& t = space_.tables(side);
  const TermRecord& record = t.terms[term];
  std::vector<std::string> constants;
  if (record.kind == TermKind::Text) constants.emplace_back(t.TextOf(record.a));
  if (record.kind == TermKind::TextSet || record.kind == TermKind::TextList) {
    for (const std::uint32_t text : t.text_items.subspan(record.a, record.b)) {
      constants.emplace_back(t.TextOf(text));
    }
  }
  if (record.kind == TermKind::Element && items) return ConstantsOf(side, *items, std::nullopt);
  return constants;
}

FactId Scan::RootOf(FactId fact) {
  const auto found = parent_.find(fact);
  if (found == parent_.end() || found->second == fact) return fact;
  return found->second = RootOf(found->second);
}

void Scan::Join(FactId a, FactId b) {
  PoolOf(a).is_compared = true;
  PoolOf(b).is_compared = true;
  parent_[RootOf(a)] = RootOf(b);
}

Pool& Scan::PoolOf(FactId fact) {
  facts_.insert(fact);
  return asked_[fact];
}

void Scan::Term(Side side, std::uint32_t index) {
  std::set<schema::Slot> slots;
  SlotsOfTerm(space_.tables(side), index, slots);
  for (const schema::Slot slot : slots) {
    if (const auto fact = space_.FactAt(side, slot)) facts_.insert(*fact);
  }
}

void Scan::Node(Side side, std::uint32_t index, std::optional<std::uint32_t> items) {
  if (!items && !seen_.emplace(side, index).second) return;
  const module::Tables& t = space_.tables(side);
  const NodeRecord& node = t.nodes[index];
  switch (node.op) {
    case NodeOp::False:
    case NodeOp::True:
      return;
    case NodeOp::Not:
      return Node(side, node.a, items);
    case NodeOp::And:
    case NodeOp::Or:
      for (const std::uint32_t child : t.children.subspan(node.a, node.b)) {
        Node(side, child, items);
      }
      return;
    case NodeOp::AnyOf:
    case NodeOp::AllOf:
    case NodeOp::NoneOf: {
      Term(side, node.a);
      const auto over = FactOf(side, node.a, std::nullopt);
      // A condition on a list is judged on whole lists.
      if (over && space_.fact(*over).collection == schema::Collection::List) {
        PoolOf(*over).leaves.emplace(side, index);
      }
      return Node(side, node.b, node.a);
    }
    case NodeOp::Has:
      if (const auto fact = space_.FactAt(side, static_cast<schema::Slot>(node.a))) {
        facts_.insert(*fact);
      }
      return;
    case NodeOp::Equal:
    case NodeOp::NotEqual:
    case NodeOp::Less:
    case NodeOp::LessEqual:
    case NodeOp::Greater:
    case NodeOp::GreaterEqual:
    case NodeOp::In:
    case NodeOp::SubsetOf:
    case NodeOp::Intersects:
    case NodeOp::SameItems:
    case NodeOp::Starts:
    case NodeOp::HostIn:
    case NodeOp::PathIn:
    case NodeOp::TextIn:
    case NodeOp::AddressIn:
    case NodeOp::AddressInItems:
    case NodeOp::QueryIn:
      return Terms(side, index, items);
  }
}

// A leaf: what it asks of the pools of the facts that it reads.
void Scan::Terms(Side side, std::uint32_t index, std::optional<std::uint32_t> items) {
  const module::Tables& t = space_.tables(side);
  const NodeRecord& node = t.nodes[index];
  Term(side, node.a);
  const auto a = FactOf(side, node.a, items);
  const bool is_element = t.terms[node.a].kind == TermKind::Element ||
                          (ReadsTwoTerms(node.op) && t.terms[node.b].kind == TermKind::Element);
  if (!ReadsTwoTerms(node.op)) {
    if (!a) return;
    Patterns(side, node, PoolOf(*a));
    if (!is_element) PoolOf(*a).leaves.emplace(side, index);
    return;
  }
  Term(side, node.b);
  const auto b = FactOf(side, node.b, items);
  if (!IsText(t.terms[node.a])) {
    Counted(side, node);
    // Elements of sets of numbers, and numbers that are looked for in one.
    for (const auto& [fact, other] : {std::pair(a, node.b), std::pair(b, node.a)}) {
      if (!fact || space_.fact(*fact).collection == schema::Collection::One) continue;
      Pool& pool = PoolOf(*fact);
      const TermRecord& record = t.terms[other];
      if (record.kind == TermKind::Integer) {
        pool.numbers.insert(t.integers[record.a]);
      } else if (record.kind == TermKind::IntegerSet || record.kind == TermKind::IntegerList) {
        for (const auto number : t.integers.subspan(record.a, record.b))
          pool.numbers.insert(number);
      } else if (record.kind != TermKind::Element) {
        pool.why_not_whole = "numbers of a set are compared with other facts";
      }
      if (!is_element) pool.leaves.emplace(side, index);
    }
    return;
  }
  if (node.op == NodeOp::AddressInItems) {
    for (const auto& fact : {a, b}) {
      if (fact) PoolOf(*fact).why_not_whole = "an address is looked for in a stated set of blocks";
    }
    return;
  }
  if (a && b && *a != *b) Join(*a, *b);
  const bool of_lists = node.op == NodeOp::Starts || node.op == NodeOp::SameItems;
  for (const auto& [fact, other] : {std::pair(a, node.b), std::pair(b, node.a)}) {
    if (!fact) continue;
    Pool& pool = PoolOf(*fact);
    const auto constants = ConstantsOf(side, other, items);
    if (of_lists) {
      pool.atoms.lists.insert(constants);
    } else {
      pool.atoms.constants.insert(constants.begin(), constants.end());
    }
    if (IsOrder(node.op)) pool.why_not_whole = "texts are compared by their order";
    // What elements of a quantifier are compared with stays apart, value by value.
    if (is_element) pool.is_compared = true;
    if (!is_element && !(a && b)) pool.leaves.emplace(side, index);
  }
}

void Scan::Patterns(Side side, const NodeRecord& node, Pool& pool) {
  const module::Tables& t = space_.tables(side);
  if (node.op == NodeOp::AddressIn) {
    for (const module::BlockOfAddresses& record : t.addresses.subspan(node.b, node.c)) {
      values::Cidr block;
      std::memcpy(block.base.bytes.data(), record.base, sizeof(record.base));
      block.prefix = static_cast<std::uint8_t>(record.prefix);
      pool.atoms.blocks.insert(block);
    }
    return;
  }
  for (const module::PatternRecord& pattern : t.patterns.subspan(node.b, node.c)) {
    std::string text(t.TextOf(pattern.text));
    if (node.op == NodeOp::HostIn) {
      pool.atoms.hosts.emplace(static_cast<values::HostReach>(pattern.mode), std::move(text));
    } else if (node.op == NodeOp::PathIn) {
      pool.atoms.paths.insert(std::move(text));
    } else if (node.op == NodeOp::TextIn) {
      pool.atoms.globs.insert(std::move(text));
    } else {
      pool.atoms.query_terms.insert(std::move(text));
    }
  }
}

// A count beside a constant: so many elements may be needed that no atom tells apart.
void Scan::Counted(Side side, const NodeRecord& node) {
  const module::Tables& t = space_.tables(side);
  constexpr std::int64_t kCountedMost = 6;
  for (const auto& [counted, other] : {std::pair(node.a, node.b), std::pair(node.b, node.a)}) {
    std::set<schema::Slot> slots;
    SlotsOfTerm(t, counted, slots);
    for (const schema::Slot slot : slots) {
      const auto fact = space_.FactAt(side, slot);
      if (!fact || space_.fact(*fact).collection == schema::Collection::One) continue;
      Pool& pool = PoolOf(*fact);
      pool.atoms.copies = static_cast<std::size_t>(kCountedMost) + 2;
      const TermRecord& record = t.terms[other];
      const bool is_small = t.terms[counted].kind == TermKind::Count &&
                            record.kind == TermKind::Integer &&
                            t.integers[record.a] <= kCountedMost;
      if (!is_small && t.terms[counted].kind != TermKind::Slot) {
        pool.why_not_whole = "many elements are counted";
      }
      if (space_.fact(*fact).collection == schema::Collection::List) {
        pool.leaves.emplace(side, static_cast<std::uint32_t>(&node - t.nodes.data()));
      }
    }
  }
}

void Scan::DefaultsOf(const View& view) {
  if (view.block == module::NoIndex) return;
  const module::Tables& t = space_.tables(view.side);
  const module::Range defaults = t.blocks[view.block].defaults;
  for (const auto& record : t.defaults.subspan(defaults.first, defaults.count)) {
    const auto fact = space_.FactAt(view.side, record.slot);
    if (!fact || !facts_.contains(*fact)) continue;
    if (record.when_slot != module::NoIndex) {
      if (const auto when = space_.FactAt(view.side, static_cast<schema::Slot>(record.when_slot))) {
        facts_.insert(*when);
      }
    }
    if (record.kind == module::DefaultRecord::Kind::Text) {
      PoolOf(*fact).atoms.constants.emplace(t.TextOf(record.text));
      PoolOf(*fact).is_compared = true;  // with it, and no other value stands for it
    }
  }
}

std::vector<Pool> Scan::TakePools() {
  for (const View& view : views_) DefaultsOf(view);
  std::map<FactId, Pool> joined;
  for (const FactId id : facts_) {
    const Fact& fact = space_.fact(id);
    if (fact.is_number() && fact.collection == schema::Collection::One) continue;
    Pool& pool = joined[RootOf(id)];
    pool.members.push_back(id);
    pool.kind = fact.kind;
    const auto found = asked_.find(id);
    if (found == asked_.end()) continue;
    Pool& own = found->second;
    pool.atoms.constants.merge(own.atoms.constants);
    pool.atoms.hosts.merge(own.atoms.hosts);
    pool.atoms.paths.merge(own.atoms.paths);
    pool.atoms.globs.merge(own.atoms.globs);
    pool.atoms.query_terms.merge(own.atoms.query_terms);
    pool.atoms.blocks.merge(own.atoms.blocks);
    pool.atoms.lists.merge(own.atoms.lists);
    pool.atoms.copies = std::max(pool.atoms.copies, own.atoms.copies);
    pool.numbers.merge(own.numbers);
    pool.leaves.merge(own.leaves);
    pool.is_compared = pool.is_compared || own.is_compared;
    if (!own.why_not_whole.empty()) pool.why_not_whole = own.why_not_whole;
  }
  std::vector<Pool> pools;
  for (auto& [root, pool] : joined) {
    if (pool.is_compared) {
      // Each fact may need a value of its own, and each pattern of membership in the sets an
      // element of its own.
      std::size_t singles = 0;
      std::size_t sets = 0;
      for (const FactId id : pool.members) {
        ++(space_.fact(id).collection == schema::Collection::One ? singles : sets);
      }
      constexpr std::size_t kSetsMost = 3;
      if (sets > kSetsMost) pool.why_not_whole = "many sets are compared with each other";
      const std::size_t apart = std::size_t{1} << std::min(sets, kSetsMost);
      pool.atoms.copies += singles + (sets > 0 ? apart : 0);
    }
    pools.push_back(std::move(pool));
  }
  return pools;
}

}  // namespace curfew::prove
