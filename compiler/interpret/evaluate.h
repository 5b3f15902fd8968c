// One condition on one request: true, false, or unknown because of a fact. Total, without
// allocation; recursion is as deep as the verifier allows.
#pragma once

#include "compiler/module/request.h"
#include "compiler/module/tables.h"

#include <cstdint>

namespace curfew::interpret {

enum class TruthValue : std::uint8_t { False, True, Unknown };

struct Truth {
  TruthValue value = TruthValue::False;
  schema::Slot slot = 0;  // whose fact is missing, where Unknown

  [[nodiscard]] bool is_true() const { return value == TruthValue::True; }
  [[nodiscard]] bool is_false() const { return value == TruthValue::False; }
  [[nodiscard]] bool is_unknown() const { return value == TruthValue::Unknown; }
};

inline Truth Known(bool value) { return {value ? TruthValue::True : TruthValue::False, 0}; }
inline Truth Missing(schema::Slot slot) { return {TruthValue::Unknown, slot}; }

// Both hold: false decides, and then unknown.
inline Truth Both(Truth a, Truth b) {
  if (a.is_false() || b.is_true()) return a;
  if (b.is_false() || a.is_true()) return b;
  return a;
}

// `condition` is a node, or NoIndex, which always holds.
Truth Evaluate(const module::Tables& tables, const module::Facts& facts, std::uint32_t condition);

// One node within a quantifier (`element` is what it looks at), or without one (null): what native
// code asks for where it has no code of its own.
Truth EvaluateNode(const module::Tables& tables, const module::Facts& facts, std::uint32_t node,
                   const module::Value* element);

}  // namespace curfew::interpret
