// The workload's policy, written as a person would, answers as the workload expects. The small
// workload beside this file is the shared generator's, with 10 rules and 70 requests.
#include "tests/bench/decision_set.h"

#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

using namespace curfew;

namespace {

const std::string PolicyPath = "small_workload.curfew";

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

bench::Workload SmallWorkload() {
  auto workload = bench::ReadWorkload(ReadFile(CURFEW_BENCH_FOLDER "/small_workload.json"));
  if (!workload) FAIL(workload.error().message);
  return *std::move(workload);
}

}  // namespace

TEST_CASE("the shared egress workload is answered as it expects") {
  bench::Workload workload = SmallWorkload();
  REQUIRE(workload.rule_count == 10);
  REQUIRE(workload.requests.size() == 70);
  const auto engine =
      GENERATE(bench::Engine::Native, bench::Engine::Interpreter, bench::Engine::Unindexed);
  const auto set = bench::DecisionSet::Make(std::move(workload), PolicyPath, engine);
  if (!set) FAIL(set.error().message);
  for (const std::size_t index : set->WrongAnswers()) {
    UNSCOPED_INFO(set->Explain(index));
  }
  CHECK(set->WrongAnswers().empty());
}

TEST_CASE("a wrong expectation is seen") {
  bench::Workload workload = SmallWorkload();
  workload.allowed[0] = !workload.allowed[0];
  const auto set =
      bench::DecisionSet::Make(std::move(workload), PolicyPath, bench::Engine::Interpreter);
  if (!set) FAIL(set.error().message);
  CHECK(set->WrongAnswers() == std::vector<std::size_t>{0});
}

TEST_CASE("a workload that lacks something is refused by name") {
  const auto refused = bench::ReadWorkload(R"({"rules": [], "blocked": [], "reqs": []})");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("`expected`") != std::string::npos);
}
