#include "runtime/evidence/flows.h"

#include <catch2/catch.hpp>

namespace curfew::evidence {
namespace {

FlowRecord Asked(std::string host, bool allowed) {
  FlowRecord flow;
  flow.scheme = "http";
  flow.host = std::move(host);
  flow.ip = "203.0.113.10";
  flow.port = 80;
  flow.method = "GET";
  flow.path = "/a";
  flow.stage = "request";
  flow.allowed = allowed;
  flow.rules = {{allowed ? "work.network.files" : "work.network.default", "why", "a.curfew", 7}};
  flow.class_name = "work";
  flow.generation = 1;
  flow.started_ms = 1'770'000'000'000;
  flow.duration_ms = 12;
  flow.status = allowed ? 200 : 403;
  return flow;
}

Record RecordOf(Json facts, RecordKind kind = RecordKind::Flow) {
  return {.sequence = 1, .kind = kind, .at_ms = 1, .facts = std::move(facts)};
}

TEST_CASE("a flow on record is read back as it was written") {
  FlowRecord flow = Asked("files.example", true);
  flow.query = "x=1";
  flow.trials = {{"work.trial", "would deny", "b.curfew", 3}};
  flow.bytes_out = 5;
  flow.bytes_in = 1234;
  flow.end = "the upstream closed early";
  const Result<FlowReading> reading = ReadFlow(RecordOf(FlowFacts(flow)));
  REQUIRE(reading);
  REQUIRE(reading->flow);
  CHECK(FlowFacts(*reading->flow) == FlowFacts(flow));
  CHECK(reading->flow->bytes_in == 1234);
  CHECK(reading->flow->query == "x=1");
  CHECK(Place(reading->flow->rules.front()) == "work.network.files (a.curfew:7)");

  Json more = FlowFacts(flow);
  more["surprise"] = 1;
  CHECK_FALSE(ReadFlow(RecordOf(more)));
  Json less = FlowFacts(flow);
  less.erase("bytes_in");
  CHECK_FALSE(ReadFlow(RecordOf(less)));
}

TEST_CASE("what a guest makes long or hostile is bounded and cannot forge a line") {
  FlowRecord flow = Asked("files.example", false);
  flow.path = "/" + std::string(100'000, 'a');
  flow.query = "a\nb\x1b[2J\xff";
  const Result<FlowReading> reading = ReadFlow(RecordOf(FlowFacts(flow)));
  REQUIRE(reading);
  CHECK(reading->flow->path.size() < 5000);
  CHECK(reading->flow->query->find('\n') == std::string::npos);
  CHECK(reading->flow->query->find('\x1b') == std::string::npos);
}

TEST_CASE("the summary counts places, rules and bytes, and a cut flow on both sides") {
  FlowRecord whole = Asked("files.example", true);
  whole.bytes_in = 100;
  FlowRecord failed = Asked("files.example", true);
  failed.end = "files.example:80 cannot be reached";
  FlowRecord cut = Asked("files.example", false);
  cut.bytes_in = 10;
  cut.end = "cut";
  FlowRecord by_address = Asked("", false);
  by_address.scheme = "";
  by_address.ip = "2001:db8::1";
  const std::vector<Record> records = {RecordOf({{"note", "of another kind"}}, RecordKind::Note),
                                       RecordOf(FlowFacts(whole)),
                                       RecordOf(FlowFacts(failed)),
                                       RecordOf(FlowFacts(cut)),
                                       RecordOf(FlowFacts(by_address)),
                                       RecordOf(LostFlowsFacts(3))};
  const Result<FlowSummary> summary = SummariseFlows(records);
  REQUIRE(summary);
  CHECK(summary->reached == std::vector<ReachedPlace>{{.place = "http://files.example:80",
                                                       .requests = 3,
                                                       .failed = 2,
                                                       .bytes_out = 0,
                                                       .bytes_in = 110}});
  CHECK(summary->refused ==
        std::vector<RefusedPlace>{
            {"http://files.example:80", "work.network.default (a.curfew:7)", 1},
            {"connect://[2001:db8::1]:80", "work.network.default (a.curfew:7)", 1}});
  CHECK(summary->lost == 3);

  const Result<std::string> text = Canonical(EncodeFlowSummary(*summary));
  REQUIRE(text);
  const Result<JsonValue> json = ParseCanonical(*text);
  REQUIRE(json);
  const Result<FlowSummary> again = DecodeFlowSummary(*json);
  REQUIRE(again);
  CHECK(*again == *summary);
}

TEST_CASE("refusals that were counted together count as many in the summary") {
  FlowRecord many = Asked("files.example", false);
  many.times = 40;
  const Result<FlowReading> reading = ReadFlow(RecordOf(FlowFacts(many)));
  REQUIRE(reading);
  CHECK(reading->flow->times == 40);
  const std::vector<Record> records = {RecordOf(FlowFacts(Asked("files.example", false))),
                                       RecordOf(FlowFacts(many))};
  const Result<FlowSummary> summary = SummariseFlows(records);
  REQUIRE(summary);
  CHECK(summary->refused.front().requests == 41);

  CHECK_FALSE(FlowFacts(Asked("files.example", false)).contains("times"));
  const auto is_refused = [&](const char* member, const Json& value) {
    Json facts = FlowFacts(many);
    facts[member] = value;
    CHECK_FALSE(ReadFlow(RecordOf(facts)));
  };
  is_refused("times", 1);
  is_refused("times", 0);
  is_refused("times", -2);
  is_refused("allowed", true);
  is_refused("bytes_in", 1);
  is_refused("bytes_out", 1);
  is_refused("end", "cut");
}

TEST_CASE("more places than a summary holds are counted") {
  std::vector<Record> records;
  for (std::size_t i = 0; i < FlowPlacesMax + 10; ++i) {
    const FlowRecord flow = Asked("h" + std::to_string(i) + ".example", false);
    records.push_back(RecordOf(FlowFacts(flow)));
    records.push_back(RecordOf(FlowFacts(flow)));
  }
  const Result<FlowSummary> summary = SummariseFlows(records);
  REQUIRE(summary);
  CHECK(summary->refused.size() == FlowPlacesMax);
  CHECK(summary->refused_omitted == 10);
  CHECK(summary->refused.front().requests == 2);
}

}  // namespace
}  // namespace curfew::evidence
