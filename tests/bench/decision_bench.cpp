// decision_bench ENGINE WORKLOAD POLICY_OUT (WORKLOAD: a JSON file, or irregular:SEED): compiles
// the workload's policy (and leaves its text in POLICY_OUT for whoever wants to read it), checks
// every answer, measures the CPU time of a decision, and prints one line of JSON. ENGINE is native,
// prepared, interpreter or unindexed.
#include "tests/bench/decision_set.h"
#include "tests/bench/irregular.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>

using namespace curfew;

namespace {

std::uint64_t ThreadCpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

struct Cost {
  double median_ns = 0;
  double least_ns = 0;
  double p50_ns = 0;  // of single decisions by the wall's clock, with what it costs to read it
  double p99_ns = 0;
};

// As the floor samples itself.
void Sample(const bench::DecisionSet& set, Cost& cost) {
  constexpr std::size_t SampleCount = 4096;
  module::VerdictRoom room;
  std::vector<double> samples;
  for (std::size_t i = 0; i < SampleCount; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    (void)set.Allows(i % set.size(), room.verdict);
    const auto taken = std::chrono::steady_clock::now() - begin;
    samples.push_back(std::chrono::duration<double, std::nano>(taken).count());
  }
  std::sort(samples.begin(), samples.end());
  cost.p50_ns = samples[SampleCount / 2];
  cost.p99_ns = samples[SampleCount * 99 / 100];
}

std::optional<bench::Engine> EngineOf(std::string_view word) {
  if (word == "native") return bench::Engine::Native;
  if (word == "prepared") return bench::Engine::Prepared;
  if (word == "interpreter") return bench::Engine::Interpreter;
  if (word == "unindexed") return bench::Engine::Unindexed;
  return std::nullopt;
}

// Eleven batches over all requests, each of about 60 ms, as the floor measures itself.
Cost Measure(const bench::DecisionSet& set) {
  constexpr std::uint64_t BatchNs = 60'000'000;
  constexpr std::size_t BatchCount = 11;
  module::VerdictRoom room;
  std::size_t allowed = 0;
  const auto round = [&] {
    for (std::size_t i = 0; i < set.size(); ++i) allowed += set.Allows(i, room.verdict) ? 1 : 0;
  };
  const std::uint64_t begin = ThreadCpuNs();
  round();
  const std::uint64_t first = std::max<std::uint64_t>(ThreadCpuNs() - begin, 1);
  const std::uint64_t rounds = std::max<std::uint64_t>(BatchNs / first, 1);
  std::vector<double> batches;
  for (std::size_t batch = 0; batch < BatchCount; ++batch) {
    const std::uint64_t start = ThreadCpuNs();
    for (std::uint64_t i = 0; i < rounds; ++i) round();
    batches.push_back(static_cast<double>(ThreadCpuNs() - start) /
                      static_cast<double>(rounds * set.size()));
  }
  // Every round allowed as many as the first: the work was done.
  CURFEW_CHECK(allowed % (rounds * BatchCount + 1) == 0, "decisions are deterministic");
  std::sort(batches.begin(), batches.end());
  Cost cost{.median_ns = batches[BatchCount / 2], .least_ns = batches.front()};
  Sample(set, cost);
  return cost;
}

// A file, or `irregular:SEED`.
Result<bench::Workload> Workload(std::string_view name) {
  constexpr std::string_view irregular = "irregular:";
  if (name.starts_with(irregular)) {
    std::uint32_t seed = 0;
    const std::string_view number = name.substr(irregular.size());
    const auto end = number.data() + number.size();
    if (std::from_chars(number.data(), end, seed).ptr != end || number.empty()) {
      return Failure(FailureCode::Malformed, "the seed is no number");
    }
    return bench::IrregularWorkload(seed, 200, 256);
  }
  std::ifstream in{std::string(name), std::ios::binary};
  const std::string json(std::istreambuf_iterator<char>(in), {});
  if (!in) return Failure(FailureCode::System, "cannot be read");
  return bench::ReadWorkload(json);
}

int Run(bench::Engine engine, const char* workload_path, const char* policy_path) {
  auto workload = Workload(workload_path);
  if (!workload) {
    fmt::print(stderr, "decision_bench: {}: {}\n", workload_path, workload.error().message);
    return 1;
  }
  const auto set = bench::DecisionSet::Make(*std::move(workload), policy_path, engine);
  if (!set) {
    fmt::print(stderr, "decision_bench: {}\n", set.error().message);
    return ExitStatusOf(set.error().code);
  }
  const std::vector<std::size_t> wrong = set->WrongAnswers();
  for (const std::size_t index : wrong) fmt::print(stderr, "{}\n", set->Explain(index));
  const Cost cost = Measure(*set);
  fmt::print(
      R"({{"rules": {}, "ns_med": {:.1f}, "ns_min": {:.1f}, "p50_ns": {:.0f}, "p99_ns": {:.0f}, "load_ms": {:.1f}, "engine_ms": {:.1f}, "bytes": {}, "bad": {}}})"
      "\n",
      set->workload().rule_count, cost.median_ns, cost.least_ns, cost.p50_ns, cost.p99_ns,
      set->compile_ms(), set->engine_ms(), set->module_bytes(), wrong.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto engine = argc == 4 ? EngineOf(argv[1]) : std::nullopt;
  if (!engine) {
    fmt::print(stderr,
               "usage: decision_bench native|prepared|interpreter|unindexed "
               "WORKLOAD|irregular:SEED POLICY_OUT\n");
    return 1;
  }
  return Run(*engine, argv[2], argv[3]);
}
