// What holds of every request beyond the types of its facts: a total counts the part, a group is no
// caller, an age is not negative. Data, so that all can read the same: a request is measured by it
// when it is decoded and again at the gate (module/request_axioms.h), decision code judges the
// stated numbers by it once more (lower), and a prover may take it for granted.
#pragma once

#include "compiler/schema/schema.h"

#include <cstdint>
#include <span>

namespace curfew::schema {

struct Axiom {
  enum class Kind : std::uint8_t {
    AtLeast,       // the number is `number` or more
    AtMost,        // the number is `number` or less
    NotBelow,      // the number is not below the one at `other`
    NoGroup,       // the principal is no group
    OnlyGroups,    // every principal of the set is a group
    NoNul,         // no text of the list holds a NUL, which would end it for the kernel
    FreeVariables  // every text names an environment variable that is not reserved
  };
  Kind kind;
  Slot slot;
  std::int64_t number = 0;
  Slot other = 0;
};

// Of a fact that is unknown or absent nothing is said.
std::span<const Axiom> AxiomsOf(Action action);

}  // namespace curfew::schema
