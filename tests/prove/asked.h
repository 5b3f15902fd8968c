// A policy as text, and what the prover says of its nevers.
#pragma once

#include "compiler/prove/prover.h"
#include "tests/properties/compiled_set.h"

#include <memory>
#include <string>
#include <vector>

namespace curfew::prove {

struct AskedSet {
  std::unique_ptr<properties::Compiled> set;
  std::vector<Answer> answers;  // of its nevers, by id
};

// Fails the test where the text does not compile.
AskedSet Ask(const std::string& text, std::uint64_t steps = StepsMax);

// Whether the interpreter says of the answer's request what Refuted claims.
bool IsConfirmed(const properties::Compiled& set, const Answer& answer);

}  // namespace curfew::prove
