#include "compiler/prove/facts.h"

#include "compiler/module/tables.h"
#include "compiler/schema/axioms.h"

#include <algorithm>

namespace curfew::prove {
namespace {

using schema::Axiom;
using schema::TypeKind;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
// The last second of the year 9999, in milliseconds: no later time can be written.
constexpr std::int64_t kTimeMost = 253'402'300'799'000;

// What a request can hold of the type, before any axiom.
void BoundByType(Fact& fact, bool may_be_negative) {
  fact.least = 0;
  fact.most = kMost;
  switch (fact.kind) {
    case TypeKind::Bool:
      fact.most = 1;
      return;
    case TypeKind::Enum:
      fact.most = static_cast<std::int64_t>(fact.enum_values.size()) - 1;
      return;
    case TypeKind::Time:
      fact.most = kTimeMost;
      return;
    case TypeKind::Duration:
      if (may_be_negative) fact.least = -kMost;
      return;
    case TypeKind::Int:
    case TypeKind::Text:
    case TypeKind::Principal:
    case TypeKind::Size:
    case TypeKind::Ip:
    case TypeKind::Cidr:
    case TypeKind::Host:
    case TypeKind::UrlPath:
    case TypeKind::FilePath:
    case TypeKind::Digest:
      return;
  }
}

}  // namespace

bool Fact::is_number() const {
  return module::ClassOf(kind, schema::Collection::One) == module::ValueClass::Integer;
}

bool Fact::is_duration_or_time() const {
  return kind == TypeKind::Duration || kind == TypeKind::Time;
}

FactSpace::FactSpace(schema::Action action, std::span<const module::PolicyModule* const> policies)
    : action_(action), policies_(policies.begin(), policies.end()) {
  AddBuiltIns();
  for (Side side = 0; side < policies_.size(); ++side) AddDeclared(side);
}

std::optional<FactId> FactSpace::FactAt(Side side, schema::Slot slot) const {
  const auto& by_slot = by_slot_[side];
  return slot < by_slot.size() ? by_slot[slot] : std::nullopt;
}

void FactSpace::AddBuiltIns() {
  const auto attributes = schema::AttributesOf(action_);
  for (auto& by_slot : by_slot_) by_slot.resize(attributes.size());
  for (const schema::Attribute& attribute : attributes) {
    const bool is_there = attribute.origin == schema::Origin::Internal ||
                          schema::FindAttribute(action_, attribute.path) != nullptr;
    const bool of_sandbox = attribute.slot >= schema::slot::FirstOfSandbox &&
                            attribute.slot < schema::slot::SharedCount;
    if (!is_there || (action_ == schema::Action::Create && of_sandbox)) continue;
    Fact fact;
    fact.path = attribute.path;
    fact.kind = attribute.type.kind;
    fact.collection = attribute.type.collection;
    fact.origin = attribute.origin;
    if (fact.kind == TypeKind::Enum) {
      const auto words = schema::InfoOf(attribute.type.enumeration).values;
      fact.enum_values.assign(words.begin(), words.end());
    }
    // An egress without a name goes to an address.
    fact.may_be_absent = attribute.type.optional || attribute.origin == schema::Origin::Wish ||
                         attribute.path == "egress.host";
    // What is left of something may be less than nothing.
    const bool of_runtime = attribute.origin == schema::Origin::Verified ||
                            attribute.origin == schema::Origin::Internal;
    BoundByType(fact, of_runtime);
    for (Side side = 0; side < policies_.size(); ++side) {
      fact.slots[side] = attribute.slot;
      by_slot_[side][attribute.slot] = static_cast<FactId>(facts_.size());
    }
    facts_.push_back(std::move(fact));
  }
  for (const schema::Attribute& attribute : attributes) {
    if (const auto id = by_slot_[0][attribute.slot]) Bound(*id, attribute.slot);
  }
}

void FactSpace::Bound(FactId id, schema::Slot slot) {
  Fact& fact = facts_[id];
  for (const Axiom& axiom : schema::AxiomsOf(action_)) {
    if (axiom.slot != slot) continue;
    if (axiom.kind == Axiom::Kind::AtLeast) fact.least = std::max(fact.least, axiom.number);
    if (axiom.kind == Axiom::Kind::AtMost) fact.most = std::min(fact.most, axiom.number);
    if (axiom.kind == Axiom::Kind::NotBelow) fact.not_below = by_slot_[0][axiom.other];
  }
}

void FactSpace::AddDeclared(Side side) {
  const auto declared = policies_[side]->declared();
  for (std::size_t n = 0; n < declared.size(); ++n) {
    Fact fact;
    fact.path = declared[n].path;
    fact.kind = declared[n].kind;
    fact.collection = declared[n].collection;
    fact.enum_values = declared[n].enum_values;
    fact.elements_most = declared[n].elements_most;
    const bool is_restated = declared[n].restated && action_ == schema::Action::Resume;
    fact.may_be_absent = declared[n].optional || is_restated;
    if (fact.path.starts_with("caller.")) fact.origin = schema::Origin::Verified;
    BoundByType(fact, false);
    const schema::Slot slot = schema::DeclaredSlot(action_, n);
    const auto same = std::find_if(facts_.begin(), facts_.end(), [&](const Fact& other) {
      return other.path == fact.path && other.kind == fact.kind &&
             other.collection == fact.collection && other.enum_values == fact.enum_values &&
             other.may_be_absent == fact.may_be_absent && !other.slots[side];
    });
    const auto id = static_cast<FactId>(same - facts_.begin());
    if (same == facts_.end()) facts_.push_back(std::move(fact));
    facts_[id].slots[side] = slot;
    auto& by_slot = by_slot_[side];
    if (by_slot.size() <= slot) by_slot.resize(std::size_t{slot} + 1);
    by_slot[slot] = id;
  }
}

}  // namespace curfew::prove
