// The facts that a question is about: those of one action, over one policy set or over two that are
// compared. A fact that both sets know by the same path and type is one fact, wherever each of them
// keeps it.
#pragma once

#include "compiler/module/policy_module.h"
#include "compiler/schema/schema.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace curfew::prove {

using FactId = std::uint32_t;
using Side = std::uint8_t;  // which of the sets: 0, or 1
inline constexpr std::size_t SidesMax = 2;

struct Fact {
  std::string path;
  schema::TypeKind kind = schema::TypeKind::Text;
  schema::Collection collection = schema::Collection::One;
  schema::Origin origin = schema::Origin::Stated;
  std::vector<std::string> enum_values;
  std::uint32_t elements_most = limits::SetElementsDefault;
  bool may_be_absent = false;
  // What the schema's axioms and the type say of a number.
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::optional<FactId> not_below;
  std::array<std::optional<schema::Slot>, SidesMax> slots;

  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_duration_or_time() const;
};

class FactSpace {
 public:
  // `policies` must outlive the space.
  FactSpace(schema::Action action, std::span<const module::PolicyModule* const> policies);

  [[nodiscard]] schema::Action action() const { return action_; }
  [[nodiscard]] std::size_t sides() const { return policies_.size(); }
  [[nodiscard]] const module::PolicyModule& policy(Side side) const { return *policies_[side]; }
  [[nodiscard]] const module::Tables& tables(Side side) const { return policies_[side]->tables(); }
  [[nodiscard]] std::span<const Fact> facts() const { return facts_; }
  [[nodiscard]] const Fact& fact(FactId id) const { return facts_[id]; }
  // A slot that no request of the action has (create's slots of sandboxes) is no fact.
  [[nodiscard]] std::optional<FactId> FactAt(Side side, schema::Slot slot) const;
  // A built-in one.
  [[nodiscard]] FactId BuiltIn(schema::Slot slot) const { return *FactAt(0, slot); }

 private:
  void AddBuiltIns();
  void AddDeclared(Side side);
  void Bound(FactId id, schema::Slot slot);

  schema::Action action_;
  std::vector<const module::PolicyModule*> policies_;
  std::vector<Fact> facts_;
  std::array<std::vector<std::optional<FactId>>, SidesMax> by_slot_;
};

}  // namespace curfew::prove
