#include "compiler/check/grant_meeting.h"

#include <algorithm>

namespace curfew::check {
namespace {

using model::EgressRule;
using model::EgressTarget;

template <typename Items, typename Meets>
bool SomeMeet(const Items& a, const Items& b, Meets&& meets) {
  return std::any_of(a.begin(), a.end(), [&](const auto& one) {
    return std::any_of(b.begin(), b.end(), [&](const auto& other) { return meets(one, other); });
  });
}

bool TargetsMeet(const EgressTarget& a, const EgressTarget& b) {
  return ((a.http && b.http) || (a.https && b.https) || (a.tcp && b.tcp)) && PlacesMeet(a, b) &&
         PortsMeet(a.ports, b.ports) && (!a.path || !b.path || values::Meet(*a.path, *b.path));
}

bool MethodsMeet(const EgressRule& a, const EgressRule& b) {
  if (a.methods.empty() || b.methods.empty()) return true;
  return SomeMeet(a.methods, b.methods, [](const auto& x, const auto& y) { return x == y; });
}

// A parameter stands once.
bool QueriesMeet(const EgressRule& a, const EgressRule& b) {
  return !SomeMeet(a.query, b.query, [](const auto& x, const auto& y) {
    return x.key == y.key && x.value != y.value;
  });
}

// Whether an allow without `at` reaches an address of the block.
bool IsReachedUnpinned(const values::Cidr& block) {
  const auto special = values::SpecialBlocks();
  return std::none_of(special.begin(), special.end(), [&](const values::SpecialBlock& one) {
    return values::IsBarred(one.range) && values::Covers(one.block, block);
  });
}

bool PinsMeet(const std::vector<values::Cidr>& a, const std::vector<values::Cidr>& b) {
  if (a.empty() && b.empty()) return true;
  if (a.empty() || b.empty()) {
    const auto& pins = a.empty() ? b : a;
    return std::any_of(pins.begin(), pins.end(), IsReachedUnpinned);
  }
  return SomeMeet(a, b,
                  [](const values::Cidr& x, const values::Cidr& y) { return values::Meet(x, y); });
}

}  // namespace

bool PlacesMeet(const EgressTarget& x, const EgressTarget& y) {
  const auto& a = x.place;
  const auto& b = y.place;
  const auto is_address = [](const std::optional<values::Place>& place) {
    return place && std::holds_alternative<values::Cidr>(*place);
  };
  if ((x.internet && is_address(b)) || (y.internet && is_address(a))) return false;
  if (!a || !b) return true;
  const auto* a_host = std::get_if<values::HostPattern>(&*a);
  const auto* b_host = std::get_if<values::HostPattern>(&*b);
  if (a_host != nullptr && b_host != nullptr) return values::Meet(*a_host, *b_host);
  if (a_host != nullptr || b_host != nullptr) return false;
  return values::Meet(std::get<values::Cidr>(*a), std::get<values::Cidr>(*b));
}

bool PortsMeet(const std::vector<model::PortRange>& a, const std::vector<model::PortRange>& b) {
  if (a.empty() || b.empty()) return true;
  return SomeMeet(a, b, [](const model::PortRange& x, const model::PortRange& y) {
    return x.first <= y.last && y.first <= x.last;
  });
}

bool RulesMeet(const EgressRule& a, const EgressRule& b) {
  if (a.websocket != b.websocket || !QueriesMeet(a, b)) return false;
  return MethodsMeet(a, b) && PinsMeet(a.pins, b.pins) &&
         SomeMeet(a.targets, b.targets, TargetsMeet);
}

}  // namespace curfew::check
