// `bench`: what it measures is told and kept, and held against what was kept. How fast anything is
// stands in no test.
#include "compiler/base/json.h"
#include "tests/command_line/program.h"

#include <catch2/catch.hpp>

namespace curfew::tests {
namespace {

using Catch::Matchers::Contains;

constexpr std::string_view kPolicy = R"(language 1
image base { digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }
sandbox work when task.kind == "work" {
  image    { allow base  isolation any }
  lifetime { ttl 1h at most 2h }
}
)";
constexpr std::string_view kRequests =
    R"({"version": 1, "action": "observe", "observe": {"what": "logs"}, "caller": {"id": "user:ana"}, "sandbox": {"class": "work", "creator": "user:ana", "ttl_left": "1h"}}

{"version": 1, "action": "observe", "observe": {"what": "logs"}, "caller": {"id": "user:bo"}, "sandbox": {"class": "work", "creator": "user:ana", "ttl_left": "1h"}}
)";

struct Scene : Workplace {
  Scene() {
    Write("p.curfew", kPolicy);
    Write("r.jsonl", kRequests);
  }
};

TEST_CASE("bench measures both engines beside a yardstick, and keeps what it found") {
  const Scene place;
  const Ran text = place.Shell("curfew bench p.curfew --requests r.jsonl --passes 3");
  CHECK(text.status == 0);
  CHECK(text.err == "");
  CHECK_THAT(text.out, Contains("2 requests: ") && Contains("interpreter") && Contains("native") &&
                           Contains("yardstick"));
  const Ran json = place.Shell(
      "curfew bench --policy p.curfew --requests - --passes 3 --format json --save kept.json "
      "< r.jsonl");
  REQUIRE(json.status == 0);
  const auto told = ParseJson(json.out);
  REQUIRE(told);
  CHECK(told->Find("requests")->integer == 2);
  CHECK(told->Find("allowed")->integer + told->Find("undecided")->integer <= 2);
  CHECK(told->Find("engines")->items.size() == 2);
  const auto kept = ParseJson(place.Read("kept.json"));
  REQUIRE(kept);
  CHECK(kept->Find("requests_digest")->text == told->Find("requests_digest")->text);
}

TEST_CASE("bench ends with 2 where it is slower than what was kept") {
  const Scene place;
  REQUIRE(
      place.Shell("curfew bench p.curfew --requests r.jsonl --passes 3 --save kept.json").status ==
      0);
  const Ran fine = place.Shell(
      "sed 's/\"per_yardstick\": [0-9.]*/\"per_yardstick\": 1000000/' kept.json > slow.json; "
      "curfew bench p.curfew --requests r.jsonl --passes 3 --compare slow.json --threshold 0%");
  CHECK(fine.status == 0);
  CHECK_THAT(fine.err, Contains("interpreter: -"));
  const Ran slower = place.Shell(
      "sed 's/\"per_yardstick\": [0-9.]*/\"per_yardstick\": 0.0001/' kept.json > fast.json; "
      "curfew bench p.curfew --requests r.jsonl --passes 3 --compare fast.json --threshold 1000");
  CHECK(slower.status == 2);
  CHECK_THAT(slower.err, Contains("above the threshold"));
}

TEST_CASE("bench says what it cannot measure") {
  const Scene place;
  place.Write("empty.jsonl", "\n");
  place.Write("bad.jsonl", "{\"version\": 1}\n");
  place.Write("other.json", R"({"version": 1, "requests_digest": "x", "engines": []})");
  place.Write("wrong.curfew", "language 1\ndeny create when task.kidn == \"x\"\n");
  CHECK(place.Shell("curfew bench p.curfew --requests empty.jsonl").status == 1);
  const Ran bad = place.Shell("curfew bench p.curfew --requests bad.jsonl");
  CHECK(bad.status == 1);
  CHECK_THAT(bad.err, Contains("bad.jsonl:1: /action: missing"));
  CHECK(place.Shell("curfew bench wrong.curfew --requests r.jsonl").status == 3);
  CHECK(place.Shell("curfew bench p.curfew --requests nowhere.jsonl").status == 1);
  CHECK(place.Shell("curfew bench p.curfew --requests r.jsonl --threshold much").status == 1);
  CHECK(place.Shell("curfew bench p.curfew --requests r.jsonl --compare r.jsonl").status == 1);
  const Ran other =
      place.Shell("curfew bench p.curfew --requests r.jsonl --passes 3 --compare other.json");
  CHECK(other.status == 1);
  CHECK_THAT(other.err, Contains("other requests"));
}

}  // namespace
}  // namespace curfew::tests
