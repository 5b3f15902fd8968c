// What is on record of a decision can be asked again, and the answer is the same.
#include "compiler/record/record_reader.h"
#include "compiler/record/record_writer.h"
#include "tests/properties/compiled_set.h"
#include "tests/properties/generated_policy.h"
#include "tests/properties/generated_request.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::properties {
namespace {

using module::Verdict;

constexpr std::size_t kPolicies = 60;
constexpr std::size_t kRequestsEach = 400;

std::string RulesText(std::span<const module::RuleIndex> rules, bool is_cut) {
  return fmt::format("[{}{}]", fmt::join(rules, ","), is_cut ? ",…" : "");
}
std::string TextOf(const module::RuleList& list) {
  return RulesText(list.written(), list.overflowed());
}
std::string TextOf(const record::RecordedRules& rules) {
  return RulesText(rules.rules, rules.is_cut);
}

// All that an answer is, in one line; of a verdict or of a record of one.
template <typename Answered>
std::string TextOf(const Answered& answered) {
  return fmt::format("{} of class {} by generation {}{}, denials {}, allows {}, trials {}",
                     static_cast<int>(answered.effect), answered.class_index, answered.generation,
                     answered.undecided ? fmt::format(", missing {}", answered.undecided_slot) : "",
                     TextOf(answered.denials), TextOf(answered.allows), TextOf(answered.trials));
}

TEST_CASE("what is on record can be asked again, and the answer is the same") {
  const std::uint64_t seed = SeedFromEnvironment();
  Random random(seed);
  record::ByteRing ring(record::ByteRing::BytesMin, record::WhenFull::Count);
  record::RecordWriter writer(ring);
  record::RecordReader reader;
  std::size_t answered = 0;
  std::size_t unread = 0;
  for (std::size_t made = 0; made < kPolicies * EffortFromEnvironment();) {
    const PolicyText policy = GeneratePolicy(random);
    diagnostics::Sink sink;
    const auto set = CompileSet({policy.Text()}, sink);
    if (set == nullptr) continue;  // the checker refuses it
    ++made;
    const record::RecordedFacts facts(set->engine->module());
    RequestGenerator generator(random);
    for (std::size_t i = 0; i < kRequestsEach; ++i) {
      const module::Request request = generator.Generate();
      module::VerdictRoom room;
      set->engine->Decide(request, room.verdict);
      REQUIRE(writer.Write(facts, request, room.verdict));
      ByteView bytes = ring.Next();
      const auto record = reader.Read(bytes);
      ring.Release();
      INFO("CURFEW_SEED=" << seed << "\n" << policy.Text() << Describe(request));
      REQUIRE(record);
      REQUIRE(bytes.empty());
      REQUIRE(record::CheckAskable(*record, facts));
      REQUIRE(TextOf(*record) == TextOf(room.verdict));
      module::VerdictRoom again;
      set->engine->Decide(record->request, again.verdict);
      REQUIRE(TextOf(again.verdict) == TextOf(room.verdict));
      ++answered;
      unread += record->request.facts().known == request.facts().known ? 0 : 1;
    }
  }
  // Most requests know more than the rules read, or the facts would not have been chosen at all.
  CHECK(unread * 2 > answered);
}

}  // namespace
}  // namespace curfew::properties
