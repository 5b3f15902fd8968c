#include "runtime/keeper/flow_book.h"

#include "tests/fakes/fake_host.h"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace curfew::keeper {
namespace {

egress::Flow Refused(std::string path, std::string rule = "work.network.default") {
  egress::Flow flow;
  flow.facts.scheme = egress::Scheme::Http;
  flow.facts.host = "files.example";
  flow.facts.port = 80;
  flow.facts.http = egress::Visible::Seen;
  flow.facts.method = "GET";
  flow.facts.path = std::move(path);
  flow.answer.reasons = {{.id = std::move(rule), .message = "why", .file = "a.curfew", .line = 7}};
  flow.started_ms = 1'000;
  flow.duration_ms = 3;
  flow.status = 403;
  return flow;
}

// What was written, as "PATH xTIMES START+DURATION".
struct Written {
  fakes::FakeClock clock;
  std::vector<std::string> lines;
  FlowBook book{clock, [this](const egress::Flow& flow, std::uint64_t times) {
                  lines.push_back(flow.facts.path + " x" + std::to_string(times) + " " +
                                  std::to_string(flow.started_ms) + "+" +
                                  std::to_string(flow.duration_ms));
                }};
};

TEST_CASE("the first refusal of a kind is written at once, and those like it as one record") {
  Written written;
  egress::Flow flow = Refused("/a");
  written.book.Add(flow);
  CHECK(written.lines == std::vector<std::string>{"/a x1 1000+3"});
  for (const std::int64_t start : {2'000, 3'000, 4'000}) {
    flow.started_ms = start;
    written.book.Add(flow);
  }
  written.clock.Advance(FlowBook::TogetherMs - 1);
  written.book.WriteDue();
  CHECK(written.lines.size() == 1);
  written.clock.Advance(1);
  written.book.WriteDue();
  REQUIRE(written.lines.size() == 2);
  CHECK(written.lines[1] == "/a x3 2000+2003");

  written.book.Add(flow);  // a new while begins
  CHECK(written.lines.size() == 3);
  written.clock.Advance(FlowBook::TogetherMs);
  written.book.WriteDue();
  written.book.WriteAll();
  CHECK(written.lines.size() == 3);
}

TEST_CASE(
    "what is still counted at the end is written, and a wall clock that went back harms not") {
  Written written;
  egress::Flow flow = Refused("/a");
  written.book.Add(flow);
  written.book.Add(flow);
  flow.started_ms = 10;
  written.book.Add(flow);
  written.book.Add(Refused("/b"));
  written.book.WriteAll();
  CHECK(written.lines == std::vector<std::string>{"/a x1 1000+3", "/b x1 1000+3", "/a x2 1000+0"});
}

TEST_CASE("only refusals that are alike in every fact, rule and answer are counted together") {
  Written written;
  const egress::Flow flow = Refused("/a");
  written.book.Add(flow);
  const auto is_apart = [&](const auto& change) {
    egress::Flow other = flow;
    change(other);
    const std::size_t before = written.lines.size();
    written.book.Add(other);
    CHECK(written.lines.size() == before + 1);
  };
  is_apart([](egress::Flow& other) { other.facts.path = "/A"; });
  is_apart([](egress::Flow& other) { other.facts.host = "b.example"; });
  is_apart([](egress::Flow& other) { other.facts.port = 81; });
  is_apart([](egress::Flow& other) { other.facts.method = "PUT"; });
  is_apart([](egress::Flow& other) { other.facts.query = ""; });
  is_apart([](egress::Flow& other) { other.facts.ip = values::Address{}; });
  is_apart([](egress::Flow& other) { other.facts.scheme = egress::Scheme::Tcp; });
  is_apart([](egress::Flow& other) { other.facts.stage = schema::Stage::Request; });
  is_apart([](egress::Flow& other) { other.status = 400; });
  is_apart([](egress::Flow& other) { other.answer.generation = 2; });
  is_apart([](egress::Flow& other) { other.answer.class_name = "other"; });
  is_apart([](egress::Flow& other) { other.answer.reasons.front().id = "work.network.b"; });
  is_apart([](egress::Flow& other) { other.answer.reasons.push_back({"x", "", "", 0}); });
  is_apart([](egress::Flow& other) { other.answer.trials.push_back({"x", "", "", 0}); });
  // Not plain refusals at all, so written each time.
  for (int i = 0; i < 2; ++i) {
    is_apart([](egress::Flow& other) { other.answer.allowed = true; });
    is_apart([](egress::Flow& other) { other.answer.reasons.clear(); });
    is_apart([](egress::Flow& other) { other.bytes_in = 1; });
    is_apart([](egress::Flow& other) { other.bytes_out = 1; });
    is_apart([](egress::Flow& other) { other.end = "cut"; });
  }
  // What the records do not tell may differ.
  egress::Flow same = flow;
  same.facts.requests = 9;
  same.facts.total = 9;
  const std::size_t before = written.lines.size();
  written.book.Add(same);
  CHECK(written.lines.size() == before);
}

TEST_CASE("beyond so many kinds each refusal is written, so that none is forgotten") {
  Written written;
  const auto add_all = [&] {
    for (std::size_t i = 0; i < FlowBook::KindsMax + 10; ++i) {
      written.book.Add(Refused("/" + std::to_string(i)));
    }
  };
  add_all();
  add_all();
  CHECK(written.lines.size() == FlowBook::KindsMax + 20);
  written.clock.Advance(FlowBook::TogetherMs);
  written.book.WriteDue();
  CHECK(written.lines.size() == 2 * FlowBook::KindsMax + 20);
}

}  // namespace
}  // namespace curfew::keeper
