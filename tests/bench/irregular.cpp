#include "tests/bench/irregular.h"

#include <array>
#include <random>
#include <string_view>

#include <fmt/format.h>

namespace curfew::bench {
namespace {

constexpr std::string_view Head = R"(language 1
package bench.irregular

attributes task {
  env:    dev | staging | prod
  risk:   low < middling < high
  cost:   int
  tier:   int
  region: string
  labels: set of string
}

image base {
  digest sha256:0000000000000000000000000000000000000000000000000000000000000000
}

sandbox worker when task.kind == "work" {
  image {
    allow     base
    exec      any
    isolation any
  }
  lifetime { ttl 8h }
}

)";

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}

  // Below `count`. Not the library's distribution, which differs between libraries.
  std::uint32_t Below(std::uint32_t count) { return static_cast<std::uint32_t>(random_()) % count; }

  // A condition that most requests meet, on one of their facts.
  std::string Condition() {
    switch (Below(14)) {
      case 0:
        return fmt::format("task.cost < {}", 900 + Below(100));
      case 1:
        return fmt::format("task.tier != {}", Below(1000));
      case 2:
        return fmt::format("task.risk >= {}", Below(8) == 0 ? "middling" : "low");
      case 3:
        return fmt::format("task.env in [{}]", Below(6) == 0 ? "dev, prod" : "dev, staging, prod");
      case 4:
        return fmt::format("task.region matches \"eu-*\"");
      case 5:
        return fmt::format("task.region not in [\"us-{}\", \"us-{}\", \"ap-{}\"]", Below(9),
                           Below(9), Below(9));
      case 6:
        return fmt::format("task.labels intersects [\"common\", \"l{}\"]", Below(40));
      case 7:
        return fmt::format("not (task.labels subset of [\"l{}\", \"l{}\"])", Below(40), Below(40));
      case 8:
        return fmt::format("any l in task.labels where (l == \"common\" or l matches \"l{}*\")",
                           Below(5));
      case 9:
        return fmt::format("now.time_of_day >= {}h", Below(3));
      case 10:
        return fmt::format("sandbox.idle < {}m", 40 + Below(20));
      case 11:
        return fmt::format("exec.program matches \"/usr/bin/**\"");
      case 12:
        return fmt::format("count(exec.args) <= {}", 4 + Below(4));
      default:
        return fmt::format("task.cost + task.tier < {}", 1900 + Below(100));
    }
  }

 private:
  std::mt19937 random_;
};

}  // namespace

Workload IrregularWorkload(std::uint32_t seed, std::size_t rules, std::size_t requests) {
  Draw draw(seed);
  Workload workload;
  workload.rule_count = rules;
  workload.policy = Head;
  for (std::size_t rule = 0; rule < rules; ++rule) {
    const std::uint32_t conditions = 5 + draw.Below(16);
    std::string text;
    for (std::uint32_t i = 0; i < conditions; ++i) {
      text += fmt::format("{}{}", i == 0 ? "" : "\n    and ", draw.Condition());
    }
    // The last is met by few, so that most of a rule is evaluated before it is false.
    workload.policy += fmt::format("r{}: deny exec when {}\n    and task.tier == {}\n", rule, text,
                                   draw.Below(1000));
  }
  for (std::size_t i = 0; i < requests; ++i) {
    workload.requests.push_back(fmt::format(
        R"({{"version": 1, "action": "exec", "now": "2026-09-21T{:02}:{:02}:00Z",)"
        R"( "caller": {{"id": "user:ana", "kind": "human", "groups": [], "operator": false}},)"
        R"( "task": {{"id": "t{}", "owner": "user:ana", "team": "team{}", "kind": "work",)"
        R"( "trigger": "api", "env": "{}", "risk": "{}", "cost": {}, "tier": {},)"
        R"( "region": "eu-{}", "labels": ["common", "l{}", "z{}"]}},)"
        R"( "sandbox": {{"id": "sb", "class": "worker", "age": "1h", "idle": "{}m",)"
        R"( "ttl_left": "7h", "image": "sha256:{:064}", "isolation": "emulated",)"
        R"( "creator": "user:ana"}}, "token": {{"valid": true, "expires_in": "30m"}},)"
        R"( "exec": {{"program": "/usr/bin/tool{}", "args": ["-x", "{}"], "user": "agent",)"
        R"( "cwd": "/work", "terminal": false, "background": false}}}})",
        3 + draw.Below(20), draw.Below(60), i, draw.Below(8),
        std::array{"dev", "staging", "prod"}[draw.Below(3)],
        std::array{"low", "middling", "high"}[draw.Below(3)], draw.Below(900), draw.Below(1000),
        draw.Below(9), draw.Below(40), draw.Below(40), draw.Below(40), 0, draw.Below(100),
        draw.Below(100)));
  }
  return workload;
}

}  // namespace curfew::bench
