// What the prover is asked about a policy set, and what it answers. The prover itself is a library
// of its own, libcurfew_prove.so, because only a set that says `never` pays for loading it; this
// header is what both sides agree on, and ProveNevers opens the library. How it proves is not
// here: README.md.
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

// About one `never`: is there a request for which its condition is true and which the set without
// its nevers allows? Every fact of the request is known, present or absent as its type allows;
// stated and verified facts are free within the axioms of the schema; an egress is at its last
// stage.
enum class Outcome : std::uint8_t {
  Proven,    // there is none
  Refuted,   // here is one, and the interpreter has confirmed it: only nevers deny it
  Undecided  // the budget ended, or the question is not one that the prover can ask
};

struct Answer {
  module::RuleIndex never = 0;
  Outcome outcome = Outcome::Undecided;
  // Refuted: the request as JSON, as `curfew eval --request` reads it (request_json.h, by an
  // author), and the allows that count for it. Undecided: a sentence that says why.
  std::string text;
  std::vector<module::RuleIndex> allows;
};

// The rules of the set that are marked never, ascending.
std::vector<module::RuleIndex> NeversOf(const module::PolicyModule& policy);

// How much work is spent on one never. Steps are counted, not timed, so that the answer is the same
// on every machine and on every day.
inline constexpr std::uint64_t StepsMax = 200'000'000;

// Asks the library at `path`, which stays open, about each of `nevers`; the answers are in their
// order. `module` are the bytes of a module. Unsupported where there is no such library or it is of
// another version.
Result<std::vector<Answer>> ProveNevers(const std::string& path, ByteView module,
                                        std::span<const module::RuleIndex> nevers,
                                        std::uint64_t steps = StepsMax);

// The library that stands beside this program, wherever that is.
std::string LibraryBesideProgram();

// ---- The library's side -------------------------------------------------------------------------

// An Answer, as it is handed over: whose bytes are good until `take` returns.
extern "C" struct RawAnswer {
  std::uint32_t never;
  std::uint32_t outcome;  // an Outcome
  const char* text;
  std::size_t text_bytes;
  const std::uint32_t* allows;
  std::size_t allow_count;
};
extern "C" using TakeAnswer = void(*)(void* into, const RawAnswer* answer);

// The library's function: calls `take` once for each of `nevers`, in their order, and returns 0; or
// returns -1 and says in `message` why it cannot (a module that does not load). Its name is raised
// with every change of what it takes or gives.
extern "C" using ProveNeversFunction = int(*)(
    const std::uint8_t* module, std::size_t bytes, const std::uint32_t* nevers, std::size_t count,
    std::uint64_t steps, TakeAnswer take, void* into, char* message, std::size_t room);
inline constexpr char ProveNeversName[] = "curfew_prove_nevers_1";
inline constexpr char LibraryName[] = "libcurfew_prove.so";

}  // namespace curfew::prove
