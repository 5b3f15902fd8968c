#include "compiler/tool/measure.h"

#include "compiler/base/check.h"
#include "compiler/module/verdict.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

namespace curfew::tool {
namespace {

constexpr double kPassNs = 20e6;  // long against the clock's steps, short against a machine's moods
constexpr std::size_t kYardstickHosts = 4096;

double ThreadNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Something to time: `calls` calls in one run.
struct Work {
  std::size_t calls = 0;
  std::function<void()> run;
  std::size_t repeats = 1;
  std::vector<double> samples = {};

  double RunOnce() const {
    const double begin = ThreadNs();
    for (std::size_t i = 0; i < repeats; ++i) run();
    return (ThreadNs() - begin) / static_cast<double>(calls * repeats);
  }
  // Warms the caches, and finds how often the work has to be done.
  void Prepare() {
    const double ns = std::max(RunOnce(), 0.1) * static_cast<double>(calls);
    repeats = std::clamp<std::size_t>(static_cast<std::size_t>(kPassNs / ns), 1, 1'000'000);
  }
};

// What nobody reads is not computed: the compiler is told that somebody does.
void Read(std::uint64_t value) { asm volatile("" : : "r"(value) : "memory"); }

class Yardstick {
 public:
  Yardstick() {
    for (std::size_t i = 0; i < kYardstickHosts; ++i) {
      names_.push_back(
          fmt::format("host{:04}.zone{:02}.example", i * 2654435761U % 10'000, i % 37));
    }
    for (const std::string& name : names_) table_.emplace(name, table_.size());
  }
  [[nodiscard]] Work MakeWork() const {
    return {.calls = kYardstickHosts, .run = [this] {
              std::uint64_t sum = 0;
              for (std::size_t i = 0; i < kYardstickHosts; ++i) {
                sum += table_.find(names_[i * 1237 % kYardstickHosts])->second;
              }
              Read(sum);
            }};
  }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string_view, std::uint64_t> table_;
};

Work DecisionsOf(const module::DecisionEngine& engine, std::span<const module::Request> requests) {
  return {.calls = requests.size(), .run = [&engine, requests] {
            module::VerdictRoom room;
            std::uint64_t allowed = 0;
            for (const module::Request& request : requests) {
              engine.Decide(request, room.verdict);
              allowed += room.verdict.effect == module::Effect::Allow ? 1 : 0;
            }
            Read(allowed);
          }};
}

double MedianOf(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

Timing TimingOf(const std::vector<double>& samples) {
  const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  return {.median = MedianOf(samples), .low = *low, .high = *high};
}

}  // namespace

Measurement Measure(std::span<const module::DecisionEngine* const> engines,
                    std::span<const module::Request> requests, std::size_t passes) {
  CURFEW_CHECK(!requests.empty() && passes > 0, "there is something to measure");
  const Yardstick yardstick;
  std::vector<Work> works = {yardstick.MakeWork()};
  for (const module::DecisionEngine* engine : engines) {
    works.push_back(DecisionsOf(*engine, requests));
  }
  for (Work& work : works) work.Prepare();
  for (std::size_t pass = 0; pass < passes; ++pass) {
    for (Work& work : works) work.samples.push_back(work.RunOnce());
  }
  Measurement measured{.yardstick = TimingOf(works.front().samples), .engines = {}};
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const std::vector<double>& samples = works[i + 1].samples;
    std::vector<double> ratios;
    for (std::size_t pass = 0; pass < passes; ++pass) {
      ratios.push_back(samples[pass] / works.front().samples[pass]);
    }
    measured.engines.push_back({.engine = std::string(engines[i]->kind()),
                                .timing = TimingOf(samples),
                                .per_yardstick = MedianOf(std::move(ratios))});
  }
  return measured;
}

}  // namespace curfew::tool
