// decision_bench ENGINE WORKLOAD POLICY_OUT (WORKLOAD: a JSON file, or irregular:SEED): compiles
// the workload's policy (and leaves its text in POLICY_OUT for whoever wants to read it), checks
// every answer, measures the CPU time of a decision, and prints one line of JSON. ENGINE is native,
// prepared, interpreter or unindexed; or recorded-block or recorded-count: native code without and
// with a record of each decision, in turn, whose ring waits for its reader or drops.
#include "compiler/record/byte_ring.h"
#include "compiler/record/record_writer.h"
#include "compiler/record/recorded_facts.h"
#include "tests/bench/decision_set.h"
#include "tests/bench/irregular.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

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

// Empties a ring, as whoever keeps records would: it copies them away, and looks again after a
// while when there are none.
class Sink {
 public:
  explicit Sink(record::ByteRing& ring)
      : ring_(ring), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

 private:
  void Run(const std::stop_token& stop) {
    std::vector<std::uint8_t> kept(4 * record::ByteRing::RecordBytesMax);
    while (!stop.stop_requested()) {
      std::size_t used = 0;
      while (used + record::ByteRing::RecordBytesMax <= kept.size()) {
        const ByteView one = ring_.Next();
        if (one.empty()) break;
        std::memcpy(kept.data() + used, one.data(), one.size());
        used += one.size();
      }
      ring_.Release();
      if (used == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    ring_.Close();
  }

  record::ByteRing& ring_;
  std::jthread thread_;
};

struct RecordCost {
  double plain_ns = 0;      // medians, of a decision
  double recorded_ns = 0;   // with its record
  double more_ns = 0;       // of what the two of a pair of batches differ by
  double dropped = 0;       // the share of decisions
  double record_bytes = 0;  // of one record, on average
};

// Of the records of all requests, on average.
double RecordBytes(const bench::DecisionSet& set, const record::RecordedFacts& facts) {
  record::ByteRing ring(record::ByteRing::BytesMin, record::WhenFull::Count);
  record::RecordWriter writer(ring);
  module::VerdictRoom room;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    (void)set.Allows(i, room.verdict);
    if (set.request(i) == nullptr) continue;
    writer.Write(facts, *set.request(i), room.verdict);
    bytes += ring.Next().size();
    ring.Release();
  }
  return static_cast<double>(bytes) / static_cast<double>(set.size());
}

// Pairs of batches, without records and with them.
RecordCost MeasureRecorded(const bench::DecisionSet& set, record::WhenFull when_full) {
  constexpr std::uint64_t BatchNs = 60'000'000;
  constexpr std::size_t PairCount = 11;
  const record::RecordedFacts facts(set.module());
  record::ByteRing ring(std::size_t{1} << 20, when_full);
  record::RecordWriter writer(ring);
  const Sink sink(ring);
  module::VerdictRoom room;
  std::size_t allowed = 0;
  const auto plain_round = [&] {
    for (std::size_t i = 0; i < set.size(); ++i) allowed += set.Allows(i, room.verdict) ? 1 : 0;
  };
  const auto recorded_round = [&] {
    for (std::size_t i = 0; i < set.size(); ++i) {
      allowed += set.Allows(i, room.verdict) ? 1 : 0;
      const module::Request* const request = set.request(i);
      if (request != nullptr) writer.Write(facts, *request, room.verdict);
    }
  };
  const auto ns_of = [&](std::uint64_t rounds, const auto& round) {
    const std::uint64_t start = ThreadCpuNs();
    for (std::uint64_t i = 0; i < rounds; ++i) round();
    return static_cast<double>(ThreadCpuNs() - start) / static_cast<double>(rounds * set.size());
  };
  const double first = ns_of(1, recorded_round) * static_cast<double>(set.size());
  const auto rounds = static_cast<std::uint64_t>(std::max(BatchNs / std::max(first, 1.0), 1.0));
  std::vector<double> plain;
  std::vector<double> recorded;
  std::vector<double> more;
  for (std::size_t pair = 0; pair < PairCount; ++pair) {
    plain.push_back(ns_of(rounds, plain_round));
    recorded.push_back(ns_of(rounds, recorded_round));
    more.push_back(recorded.back() - plain.back());
  }
  CURFEW_CHECK(allowed % (2 * rounds * PairCount + 1) == 0, "decisions are deterministic");
  for (std::vector<double>* each : {&plain, &recorded, &more}) std::ranges::sort(*each);
  return {.plain_ns = plain[PairCount / 2],
          .recorded_ns = recorded[PairCount / 2],
          .more_ns = more[PairCount / 2],
          .dropped = static_cast<double>(ring.dropped()) /
                     static_cast<double>(std::max<std::uint64_t>(writer.sequence(), 1)),
          .record_bytes = RecordBytes(set, facts)};
}

std::optional<record::WhenFull> WhenFullOf(std::string_view word) {
  if (word == "recorded-block") return record::WhenFull::Block;
  if (word == "recorded-count") return record::WhenFull::Count;
  return std::nullopt;
}

std::optional<bench::Engine> EngineOf(std::string_view word) {
  if (word == "native" || WhenFullOf(word)) return bench::Engine::Native;
  if (word == "prepared") return bench::Engine::Prepared;
  if (word == "interpreter") return bench::Engine::Interpreter;
  if (word == "unindexed") return bench::Engine::Unindexed;
  return std::nullopt;
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

int Run(bench::Engine engine, std::optional<record::WhenFull> when_full, const char* workload_path,
        const char* policy_path) {
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
  if (when_full) {
    const RecordCost cost = MeasureRecorded(*set, *when_full);
    fmt::print(
        R"({{"rules": {}, "plain_ns": {:.1f}, "recorded_ns": {:.1f}, "more_ns": {:.1f}, "dropped": {:.4f}, "record_bytes": {:.0f}, "bad": {}}})"
        "\n",
        set->workload().rule_count, cost.plain_ns, cost.recorded_ns, cost.more_ns, cost.dropped,
        cost.record_bytes, wrong.size());
    return 0;
  }
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
               "usage: decision_bench native|prepared|interpreter|unindexed|recorded-block|"
               "recorded-count "
               "WORKLOAD|irregular:SEED POLICY_OUT\n");
    return 1;
  }
  return Run(*engine, WhenFullOf(argv[1]), argv[2], argv[3]);
}
