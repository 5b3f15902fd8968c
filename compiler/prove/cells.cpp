#include "compiler/prove/cells.h"

#include "compiler/schema/axioms.h"
#include "compiler/values/path.h"
#include "compiler/values/variable.h"

#include <algorithm>

namespace curfew::prove {
namespace {

using module::NodeOp;
using module::Value;
using schema::TypeKind;

Domain DomainOf(const Fact& fact, const Atoms& atoms) {
  switch (fact.kind) {
    case TypeKind::Host:
      return HostDomain(atoms);
    case TypeKind::Ip:
      return AddressDomain(atoms);
    case TypeKind::UrlPath:
      return PathDomain(atoms, true);
    case TypeKind::FilePath:
      return PathDomain(atoms, false);
    case TypeKind::Digest:
      return DigestDomain(atoms);
    case TypeKind::Cidr:
      return {{atoms.constants.begin(), atoms.constants.end()}, true, {}};
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Text:
    case TypeKind::Principal:
    case TypeKind::Duration:
    case TypeKind::Size:
    case TypeKind::Time:
    case TypeKind::Enum:
      break;
  }
  if (fact.path == "egress.method") return MethodDomain();
  if (fact.path == "egress.query") return QueryDomain(atoms);
  return TextDomain(atoms, fact.kind);
}

std::string Folded(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return folded;
}

}  // namespace

bool FitsAxioms(const FactSpace& space, FactId id, std::string_view text) {
  const Fact& fact = space.fact(id);
  for (const schema::Axiom& axiom : schema::AxiomsOf(space.action())) {
    if (space.FactAt(0, axiom.slot) != id) continue;
    const bool is_group = text.starts_with("group:");
    if (axiom.kind == schema::Axiom::Kind::NoGroup && is_group) return false;
    if (axiom.kind == schema::Axiom::Kind::OnlyGroups && !is_group) return false;
    if (axiom.kind == schema::Axiom::Kind::NoNul && text.find('\0') != text.npos) return false;
    if (axiom.kind == schema::Axiom::Kind::FreeVariables &&
        (!values::IsVariableName(text) || !values::ReservedBy(text).empty())) {
      return false;
    }
  }
  if (fact.path == "egress.method") {
    const Domain methods = MethodDomain();
    return std::find(methods.values.begin(), methods.values.end(), text) != methods.values.end();
  }
  return true;
}

Cells::Cells(const FactSpace& space, Pool pool, module::ValueArena& arena)
    : space_(space), pool_(std::move(pool)), why_not_(pool_.why_not_whole) {
  const Fact& first = space_.fact(pool_.members.front());
  is_number_ = first.is_number();
  if (is_number_) {
    FillNumbers();
  } else if (first.collection == schema::Collection::List) {
    FillLists(arena);
  } else {
    FillTexts(arena);
  }
}

// Elements of a set of numbers: each number that is compared with, and one on either side of it.
void Cells::FillNumbers() {
  const Fact& fact = space_.fact(pool_.members.front());
  std::set<std::int64_t> numbers;
  if (fact.kind == TypeKind::Bool || fact.kind == TypeKind::Enum) {
    for (std::int64_t n = fact.least; n <= fact.most; ++n) numbers.insert(n);
  } else {
    const std::int64_t step = fact.is_duration_or_time() ? 1000 : 1;
    numbers.insert(fact.least);
    for (const std::int64_t n : pool_.numbers) {
      if (n > fact.least + step) numbers.insert(n - step);
      numbers.insert(n);
      if (n < fact.most - step) numbers.insert(n + step);
    }
    if (pool_.atoms.copies > 1 || fact.is_duration_or_time()) {
      why_not_ = "numbers of a set are counted, or are parts of a second";
    }
  }
  for (const std::int64_t n : numbers) {
    if (n >= fact.least && n <= fact.most) values_.push_back(Value::OfInteger(n));
  }
}

void Cells::FillTexts(module::ValueArena& arena) {
  // A pool of several facts is of one kind; where it is of texts, all of them are.
  Domain domain = DomainOf(space_.fact(pool_.members.front()), pool_.atoms);
  if (!domain.is_whole && why_not_.empty()) why_not_ = domain.why_not;
  for (std::string& text : domain.values) {
    by_text_.emplace(text, values_.size());
    values_.push_back(Value::OfText(arena.Keep(std::move(text))));
  }
  const bool is_one = pool_.members.size() == 1 && !pool_.is_compared &&
                      space_.fact(pool_.members.front()).collection == schema::Collection::One;
  if (is_one) Unite();
}

void Cells::FillLists(module::ValueArena& arena) {
  ListDomain domain = ListsDomain(pool_.atoms);
  if (pool_.is_compared) domain.is_whole = false;
  if (!domain.is_whole && why_not_.empty()) why_not_ = domain.why_not;
  const FactId fact = pool_.members.front();
  for (const auto& list : domain.values) {
    std::vector<Value> items;
    bool fits = list.size() <= space_.fact(fact).elements_most;
    for (const std::string& text : list) {
      fits = fits && FitsAxioms(space_, fact, text);
      items.push_back(Value::OfText(arena.Keep(text)));
    }
    if (fits) values_.push_back(Value::OfItems(arena.Keep(std::move(items))));
  }
  if (pool_.members.size() == 1) Unite();
}

// Of values that every leaf says the same of, the first stays.
void Cells::Unite() {
  const FactId fact = pool_.members.front();
  std::map<std::vector<std::uint8_t>, std::size_t> known;
  std::vector<Value> kept;
  by_text_.clear();
  const bool is_list = space_.fact(fact).collection == schema::Collection::List;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!is_list && !FitsAxioms(space_, fact, values_[i].text())) continue;
    std::vector<std::uint8_t> said;
    for (const auto& [side, leaf] : pool_.leaves) {
      const auto slot = space_.fact(fact).slots[side];
      said.push_back(static_cast<std::uint8_t>(Judge(side, leaf, *slot, i, nullptr).value));
      said.push_back(HoldsForSure(side, leaf, i) ? 1 : 0);
    }
    if (!known.emplace(std::move(said), kept.size()).second) continue;
    if (!is_list) by_text_.emplace(values_[i].text(), kept.size());
    kept.push_back(values_[i]);
  }
  values_ = std::move(kept);
}

std::optional<std::size_t> Cells::Find(std::string_view text) const {
  const auto found = by_text_.find(text);
  return found == by_text_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> Cells::Find(std::int64_t number) const {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].integer == number) return i;
  }
  return std::nullopt;
}

interpret::Truth Cells::Judge(Side side, std::uint32_t leaf, schema::Slot slot, std::size_t cell,
                              const Value* element) const {
  module::Facts facts;
  facts.values[slot] = values_[cell];
  module::Facts::Assign(facts.known, slot, true);
  module::Facts::Assign(facts.present, slot, true);
  return interpret::EvaluateNode(space_.tables(side), facts, leaf, element);
}

bool Cells::IsWide(Side side, std::uint32_t leaf) const {
  const module::Tables& t = space_.tables(side);
  const module::NodeRecord& node = t.nodes[leaf];
  if (node.op != NodeOp::PathIn) return false;
  const auto patterns = t.patterns.subspan(node.b, node.c);
  return std::any_of(patterns.begin(), patterns.end(), [](const module::PatternRecord& pattern) {
    return static_cast<values::Reading>(pattern.mode) == values::Reading::Wide;
  });
}

bool Cells::HoldsForSure(Side side, std::uint32_t leaf, std::size_t cell) const {
  const module::Tables& t = space_.tables(side);
  const module::NodeRecord& node = t.nodes[leaf];
  if (!IsWide(side, leaf)) return false;
  const std::string path = Folded(values_[cell].text());
  const auto patterns = t.patterns.subspan(node.b, node.c);
  return std::any_of(patterns.begin(), patterns.end(), [&](const module::PatternRecord& pattern) {
    return values::MatchesPathGlob(Folded(t.TextOf(pattern.text)), path, values::Reading::Exact);
  });
}

}  // namespace curfew::prove
