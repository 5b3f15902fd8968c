// What the prover is asked about single rules, and what it answers: whether a rule changes any
// answer of its set. The same library answers as for prover.h.
#pragma once

#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/module/policy_module.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace curfew::prove {

enum class Use : std::uint8_t {
  Unknown,      // it changes an answer, or nobody can say within the budget
  IdleDeny,     // proven: whatever it denies the others do not let through either
  DeadAllow,    // proven: no request for which it counts is allowed
  CoveredAllow  // proven: whatever it allows the others allow too
};

// Work for one rule, and for all of them: what is asked later gets what is left. Steps as StepsMax.
struct UseBudget {
  std::uint64_t each = 400'000;
  std::uint64_t all = 6'000'000;
};

// Asks the library at `path` about each of `rules`, denies and allows of a network or denies of
// other rules, in this order: one that changes nothing counts as taken away for those behind it, so
// that of two that say the same one stays. The answers are in the same order.
Result<std::vector<Use>> FindUses(const std::string& path, ByteView module,
                                  std::span<const module::RuleIndex> rules, UseBudget budget = {});

// ---- The library's side -------------------------------------------------------------------------

// Fills `uses`, one for each of `rules`. As ProveNeversFunction otherwise.
extern "C" using FindUsesFunction =
    int(*)(const std::uint8_t* module, std::size_t bytes, const std::uint32_t* rules,
           std::size_t count, std::uint64_t steps_each, std::uint64_t steps_all, std::uint8_t* uses,
           char* message, std::size_t room);
inline constexpr char FindUsesName[] = "curfew_find_uses_1";

}  // namespace curfew::prove
