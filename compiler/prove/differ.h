// What the prover is asked about two policy sets, and what it answers: of each action and class
// whether the new set denies something that the old one allowed (it *tightens*), or allows
// something that the old one denied (it *relaxes*), with a request that shows it. The same library
// answers as for prover.h.
#pragma once

#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/schema/schema.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace curfew::prove {

enum class Differs : std::uint8_t { No, Yes, Undecided };

// A request that one set allows and the other does not; or why nobody can say.
struct Direction {
  Differs differs = Differs::No;
  std::string request;  // Yes: JSON, as the set that allows it reads it
  std::string other;    // Yes: the same as the other set reads it
  std::string why;      // Undecided
};

struct Difference {
  schema::Action action = schema::Action::Create;
  std::string class_name;  // empty: a sandbox whose class neither set has
  Direction tightens;      // allowed by the old set, denied by the new
  Direction relaxes;       // denied by the old set, allowed by the new
};

// Creates that both sets allow, and that get another plan: their class says otherwise, or another
// class is selected. Those of which it is proven that there are none are not told.
struct PlanDifference {
  std::string class_name;
  std::string now_class;  // in the new set
  Direction example;      // Yes, with a create; or Undecided
};

struct SetDifference {
  std::vector<Difference> actions;  // those where anything differs or is undecided
  std::vector<PlanDifference> plans;
};

// How much work is spent on one action of one class, in one direction.
inline constexpr std::uint64_t DiffStepsMax = 200'000'000;

// Asks the library at `path`. Modules' bytes, as PolicyModule::Load wants them.
Result<SetDifference> DiffSets(const std::string& path, ByteView before, ByteView after,
                               std::uint64_t steps = DiffStepsMax);

// ---- The library's side -------------------------------------------------------------------------

extern "C" struct RawText {
  const char* data;
  std::size_t size;
};
extern "C" struct RawDirection {
  std::uint32_t differs;  // a Differs
  RawText request;
  RawText other;
  RawText why;
};
// A Difference; or, where `is_plan`, a PlanDifference, whose example is `tightens`.
extern "C" struct RawDifference {
  std::uint32_t is_plan;
  std::uint32_t action;
  RawText class_name;
  RawText now_class;  // of a plan
  RawDirection tightens;
  RawDirection relaxes;
};
extern "C" using TakeDifference = void(*)(void* into, const RawDifference* difference);
extern "C" using DiffSetsFunction =
    int(*)(const std::uint8_t* before, std::size_t before_bytes, const std::uint8_t* after,
           std::size_t after_bytes, std::uint64_t steps, TakeDifference take, void* into,
           char* message, std::size_t room);
inline constexpr char DiffSetsName[] = "curfew_diff_sets_2";

}  // namespace curfew::prove
