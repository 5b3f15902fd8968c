// Nevers of sets that nobody wrote: what is proven no sampled request contradicts, what is refuted
// the interpreter confirms. CURFEW_SEED repeats a run, CURFEW_EFFORT lengthens it.
#include "tests/properties/generated_policy.h"
#include "tests/properties/generated_request.h"
#include "tests/prove/asked.h"

#include <algorithm>
#include <array>

#include <catch2/catch.hpp>

namespace curfew::prove {
namespace {

using properties::Random;

// A set that compiles and has a never.
std::string NextText(Random& random) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::string text = properties::GeneratePolicy(random).Text();
    diagnostics::Sink sink;
    const auto set = properties::CompileSet({text}, sink);
    if (set != nullptr && !NeversOf(set->engine->module()).empty()) return text;
  }
  FAIL("the generator makes no set with a never that compiles");
  return {};
}

TEST_CASE("no request contradicts what is proven, and what is refuted is confirmed") {
  const std::uint64_t seed = properties::SeedFromEnvironment();
  INFO("CURFEW_SEED=" << seed);
  Random random(seed + 11);
  std::array<std::size_t, 3> count{};
  constexpr std::uint64_t kSteps = 20'000'000;
  for (std::size_t s = 0; s < 40 * properties::EffortFromEnvironment(); ++s) {
    const std::string text = NextText(random);
    INFO(text);
    const AskedSet asked = Ask(text, kSteps);
    const module::PolicyModule& policy = asked.set->engine->module();
    for (const Answer& answer : asked.answers) {
      INFO(policy.rule(answer.never).id << " " << answer.text);
      ++count[static_cast<std::size_t>(answer.outcome)];
      if (answer.outcome == Outcome::Refuted) REQUIRE(IsConfirmed(*asked.set, answer));
    }
    properties::RequestGenerator generator(random);
    for (int r = 0; r < 300; ++r) {
      module::Request request = generator.Generate();
      module::VerdictRoom room;
      asked.set->engine->Decide(request, room.verdict);
      if (!module::OnlyNeversDeny(policy, room.verdict)) continue;
      const auto denials = room.verdict.denials.written();
      for (const Answer& answer : asked.answers) {
        if (std::ranges::find(denials, answer.never) == denials.end()) continue;
        INFO(policy.rule(answer.never).id << properties::Describe(request));
        REQUIRE(static_cast<int>(answer.outcome) != static_cast<int>(Outcome::Proven));
      }
    }
  }
  const auto [proven, refuted, undecided] = count;
  WARN("proven " << proven << ", refuted " << refuted << ", undecided " << undecided);
  CHECK(proven > 0);
  CHECK(refuted > 0);
  CHECK(undecided * 2 < proven + refuted + undecided);
}

}  // namespace
}  // namespace curfew::prove
