#include "compiler/module/request_json.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::module {
namespace {

using schema::TypeKind;

std::vector<DeclaredAttribute> Declared() {
  DeclaredAttribute risk{.path = "task.risk", .kind = TypeKind::Enum, .enum_values = {}};
  risk.enum_values = {"low", "medium", "high"};
  DeclaredAttribute ticket{.path = "task.ticket", .optional = true, .enum_values = {}};
  return {risk, ticket};
}

RequestDecoding Decode(std::string_view text, StatedBy stated_by = StatedBy::Author) {
  const Result<JsonValue> json = ParseJson(text);
  REQUIRE(json);
  return DecodeRequest(*json, Declared(), stated_by);
}

// "pointer: message", one a line.
std::string Problems(std::string_view text, StatedBy stated_by = StatedBy::Author) {
  std::string all;
  const RequestDecoding decoding = Decode(text, stated_by);
  CHECK(decoding.problems.empty() == decoding.decoded.has_value());
  for (const RequestProblem& problem : decoding.problems) {
    if (!all.empty()) all += '\n';
    all += problem.pointer + ": " + problem.message;
  }
  return all;
}

constexpr std::string_view kTask =
    R"("task": {"id": "t1", "owner": "user:ana", "team": "platform", "kind": "coding",
       "trigger": "human", "risk": "medium"})";
constexpr std::string_view kImage =
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

// A create with `more` members in its `create` object.
std::string Create(std::string_view more, std::string_view top = "") {
  return fmt::format(R"({{"version": 1, "action": "create", {}{}, "create": {{"image": "{}"{}}}}})",
                     kTask, top, kImage, more);
}

std::string Egress(std::string_view members, std::string_view top = "") {
  return fmt::format(R"({{"version": 1, "action": "egress"{}, "egress": {{{}}}}})", top, members);
}

TEST_CASE("a create has its facts, its wishes, and leaves the rest unknown or absent") {
  const RequestDecoding decoding =
      Decode(Create(R"(, "ttl": "1h30m", "memory": "2GiB", "cpu": 2, "env": ["TZ", "LANG"])",
                    R"(, "now": "1970-01-01T01:00:00Z", "caller": {"id": "user:ana"})"));
  REQUIRE(decoding);
  const Request& request = decoding.decoded->request;
  CHECK(request.value(schema::slot::CreateTtl).integer == 5'400'000);
  CHECK(request.value(schema::slot::CreateMemory).integer == 2LL << 30);
  CHECK(request.value(schema::slot::CreateCpu).integer == 2);
  CHECK(request.value(schema::slot::CreateEnv).elements()[0].text() == "LANG");
  CHECK(request.value(schema::slot::NowTimeOfDay).integer == 3'600'000);
  CHECK(request.value(schema::slot::TaskTrigger).integer == 0);
  CHECK(request.value(schema::DeclaredSlot(schema::Action::Create, 0)).integer == 1);
  CHECK(request.is_known(schema::DeclaredSlot(schema::Action::Create, 1)));
  CHECK_FALSE(request.is_present(schema::DeclaredSlot(schema::Action::Create, 1)));
  // Left out: a wish is absent, a verified fact unknown, a sandbox's fact never there.
  CHECK(request.is_known(schema::slot::CreateDisk));
  CHECK_FALSE(request.is_present(schema::slot::CreateDisk));
  CHECK_FALSE(request.is_known(schema::slot::CallerGroups));
  CHECK_FALSE(request.is_known(schema::slot::CreateRunning));
  CHECK(request.is_known(schema::slot::SandboxAge));
  CHECK_FALSE(request.is_present(schema::slot::SandboxAge));
}

TEST_CASE("views stay good when the decoding moves") {
  RequestDecoding decoding = Decode(Create("", R"(, "caller": {"groups": ["group:a"]})"));
  REQUIRE(decoding);
  const DecodedRequest moved = std::move(*decoding.decoded);
  decoding.decoded.reset();
  CHECK(moved.request.value(schema::slot::TaskOwner).text() == "user:ana");
  CHECK(moved.request.value(schema::slot::CallerGroups).elements()[0].text() == "group:a");
}

TEST_CASE("views stay good when a vector of decodings grows") {
  static_assert(!std::is_copy_constructible_v<DecodedRequest>);
  std::vector<std::optional<DecodedRequest>> kept;
  for (int i = 0; i < 20; ++i) kept.push_back(Decode(Create("")).decoded);
  for (const auto& decoded : kept) {
    CHECK(decoded->request.value(schema::slot::TaskTeam).text() == "platform");
  }
}

TEST_CASE("an unknown field is a problem at its place, with the nearest name") {
  CHECK(Problems(Create(R"(, "tll": "1h")")) == "/create/tll: unknown field; did you mean `ttl`?");
  CHECK(Problems(Create("", R"(, "calller": {})")) ==
        "/calller: unknown field; did you mean `caller`?");
  CHECK(Problems(Create("", R"(, "egress": {"port": 1})")) == "/egress: unknown field");
  CHECK(Problems(Create("", R"(, "sandbox": {"id": "x"})")) == "/sandbox: unknown field");
  CHECK(Problems(Create(R"(, "a.b": 1)")).starts_with("/create/a.b: a name with a dot"));
  CHECK(Problems(Create("", R"(, "": {})")) == "/: unknown field");
}

TEST_CASE("what is missing is named, all of it at once") {
  CHECK(Problems(R"({"version": 1, "action": "observe", "observe": {}})") ==
        "/observe/what: missing; `observe` is asked with it (one of its words)");
  const std::string all = Problems(R"({"version": 1, "action": "exec"})");
  CHECK(std::count(all.begin(), all.end(), '\n') == 5);  // the six facts of exec
  CHECK(Problems(R"({"action": "observe", "observe": {"what": "logs"}})") ==
        "/version: missing; this is version 1");
  CHECK(Problems(R"({"version": 2, "action": "observe", "observe": {"what": "logs"}})")
            .starts_with("/version: not 1"));
  CHECK(Problems(R"({"version": 1})").starts_with("/action: missing"));
  CHECK(Problems(R"({"version": 1, "action": "exce"})") ==
        "/action: `exce` is unknown; did you mean `exec`?");
  CHECK(Problems("[]") == ": an array where a request, an object, is asked for");
}

TEST_CASE("a value of another type or form is a problem") {
  const auto problem = [](std::string_view more) { return Problems(Create(more)); };
  CHECK(problem(R"(, "ttl": 3600)").starts_with("/create/ttl: an integer where a duration"));
  CHECK(problem(R"(, "ttl": "3600")").starts_with("/create/ttl: "));
  CHECK(problem(R"(, "ttl": "-1h")").starts_with("/create/ttl: "));
  CHECK(problem(R"(, "ttl": null)") == "/create/ttl: null means nothing; leave the field out");
  CHECK(problem(R"(, "cpu": 2.0)").starts_with("/create/cpu: a number with a fraction"));
  CHECK(problem(R"(, "cpu": 1e3)").starts_with("/create/cpu: a number with a fraction"));
  CHECK(problem(R"(, "cpu": 9223372036854775808)").starts_with("/create/cpu: a number with"));
  CHECK(problem(R"(, "cpu": -1)").starts_with("/create/cpu: a negative number"));
  CHECK(problem(R"(, "cpu": "2")").starts_with("/create/cpu: a string where a number"));
  CHECK(problem(R"(, "memory": "2 GiB")").starts_with("/create/memory: "));
  CHECK(problem(R"(, "memory": "17179869184GiB")").starts_with("/create/memory: "));
  CHECK(problem(R"(, "env": "LANG")").starts_with("/create/env: a string where an array"));
  CHECK(problem(R"(, "env": [["LANG"]])").starts_with("/create/env/0: an array where a string"));
  CHECK(problem(R"(, "env": ["A", "A"])") == "/create/env: a set that holds an element twice");
  CHECK(problem(R"(, "isolation": "KVM")") ==
        "/create/isolation: `KVM` is none of its words: kvm, any");
  CHECK(Problems(Create("", R"(, "caller": "user:ana")")) ==
        "/caller: a string where an object is asked for");
  CHECK(Problems(Create("", R"(, "caller": {"id": "ana"})")).starts_with("/caller/id: "));
  CHECK(
      Problems(Create("", R"(, "now": {"weekday": "mon"})")).starts_with("/now: an object where"));
}

TEST_CASE("sets and strings have their limits") {
  std::string groups = R"(, "caller": {"groups": [)";
  for (std::size_t i = 0; i <= limits::SetElementsDefault; ++i) {
    groups += fmt::format("{}\"group:g{}\"", i == 0 ? "" : ",", i);
  }
  CHECK(Problems(Create("", groups + "]}")) == "/caller/groups: 65 elements; at most 64 are read");
  const std::string text(limits::RequestStringBytesMax + 1, 'a');
  CHECK(Problems(Create(fmt::format(R"(, "class": "{}")", text)))
            .starts_with("/create/class: a string of 65537 bytes"));
}

TEST_CASE("a caller states no verified fact, and the task only once") {
  CHECK(Problems(Create("", R"(, "caller": {"id": "user:root"})"), StatedBy::Caller) ==
        "/caller/id: the runtime verifies this itself; it cannot be stated");
  CHECK(Problems(Create(R"(, "running": 1)"), StatedBy::Caller)
            .starts_with("/create/running: the runtime verifies"));
  CHECK(Problems(Create("", R"(, "host": {"capabilities": []})"), StatedBy::Caller)
            .starts_with("/host/capabilities: the runtime verifies"));
  const std::string exec = fmt::format(
      R"({{"version": 1, "action": "observe", {}, "observe": {{"what": "logs"}}}})", kTask);
  CHECK(Problems(exec) == "");
  CHECK(Problems(exec, StatedBy::Caller).starts_with("/task/id: the task is stated once"));
  CHECK(Problems(Create(""), StatedBy::Caller) == "");
}

TEST_CASE("each action is asked with what is stated of it, and its wishes may be left out") {
  const auto ask = [](std::string_view action, std::string_view members) {
    return Problems(fmt::format(R"({{"version": 1, "action": "{}"{}}})", action, members),
                    StatedBy::Caller);
  };
  CHECK(Problems(Create(R"(, "persist": ["deps"])"), StatedBy::Caller) == "");
  CHECK(ask("resume", "") == "");
  CHECK(ask("resume", R"(, "resume": {"ttl": "1h", "secrets": ["token"]})") == "");
  CHECK(ask("resume", R"(, "snapshot": {"age": "1h"})")
            .starts_with("/snapshot/age: the runtime verifies"));
  CHECK(ask("exec", R"(, "exec": {"program": "/bin/sh", "args": [], "user": "root", "cwd": "/",
                       "terminal": false, "background": true})") == "");
  CHECK(ask("expose", R"(, "expose": {"port": 8080, "to": "user:ana"})") == "");
  CHECK(ask("snapshot", R"(, "snapshot": {"kind": "disk"})") == "");
  CHECK(ask("snapshot", R"(, "snapshot": {"kind": "memory", "owner": "group:a", "reason": "why",
                           "expires_in": "1h"})") == "");
  CHECK(ask("snapshot", R"(, "snapshot": {"kind": "frozen"})").starts_with("/snapshot/kind: "));
  CHECK(ask("snapshot", R"(, "snapshot": {"kind": "disk", "lineage_expires_in": "1h"})")
            .starts_with("/snapshot/lineage_expires_in: the runtime verifies"));
  CHECK(ask("snapshot", "").starts_with("/snapshot/kind: missing"));
  for (const char* way : {"import", "export"}) {
    INFO(way);
    const std::string file =
        fmt::format(R"(, "{}": {{"path": "/work/a", "size": "1MiB", "kind": "file"}})", way);
    CHECK(ask(way, file) == "");
    CHECK(ask(way, "").starts_with(fmt::format("/{}/path: missing", way)));
  }
  CHECK(ask("extend", R"(, "extend": {"by": "30m"})") == "");
  CHECK(ask("extend", R"(, "extend": {"by": "30m", "hard_end_in": "1h"})")
            .starts_with("/extend/hard_end_in: the runtime verifies"));
  CHECK(ask("observe", R"(, "observe": {"what": "records"})") == "");
  // The gateway asks, and a caller never.
  CHECK(ask("egress", R"(, "egress": {"scheme": "https"})")
            .starts_with("/egress/scheme: the runtime verifies"));
}

TEST_CASE("a resume may state again what is declared so, and nothing else of the task") {
  DeclaredAttribute again{.path = "task.again", .restated = true, .enum_values = {}};
  const auto decode = [&](std::string_view text, StatedBy stated_by) {
    const Result<JsonValue> json = ParseJson(text);
    REQUIRE(json);
    return DecodeRequest(*json, std::span(&again, 1), stated_by);
  };
  const schema::Slot slot = schema::DeclaredSlot(schema::Action::Resume, 0);
  const auto stated =
      decode(R"({"version": 1, "action": "resume", "task": {"again": "b"}})", StatedBy::Caller);
  REQUIRE(stated);
  CHECK(stated.decoded->request.value(slot).text() == "b");
  // What it leaves out the runtime knows.
  const auto left_out = decode(R"({"version": 1, "action": "resume"})", StatedBy::Caller);
  REQUIRE(left_out);
  CHECK_FALSE(left_out.decoded->request.is_known(slot));
  CHECK_FALSE(decode(R"({"version": 1, "action": "observe", "observe": {"what": "logs"},
                         "task": {"again": "b"}})",
                     StatedBy::Caller));
  CHECK_FALSE(
      decode(R"({"version": 1, "action": "resume", "task": {"kind": "b"}})", StatedBy::Caller));
}

TEST_CASE("a name brings its canonical form, and an address is no name") {
  const RequestDecoding decoding = Decode(Egress(
      R"("scheme": "https", "host": "API.Example.com.", "port": 443, "path": "/a/%7eb/../c")"));
  REQUIRE(decoding);
  const Request& request = decoding.decoded->request;
  CHECK(request.value(schema::slot::EgressHost).text() == "api.example.com");
  CHECK(request.value(schema::slot::EgressPath).text() == "/a/c");
  CHECK_FALSE(request.is_known(schema::slot::EgressIp));
  CHECK_FALSE(request.is_known(schema::slot::EgressMethod));
  CHECK(request.is_known(schema::slot::EgressQuery));
  const RequestDecoding stream = Decode(Egress(R"("scheme": "tcp", "host": "db.example")"));
  REQUIRE(stream);
  CHECK(stream.decoded->request.is_known(schema::slot::EgressMethod));

  for (const char* host : {"10.0.0.1", "0x7f.1", "2130706433", "::1", "a b", "ex\\u3002ample.com",
                           "a.example\\u0000.com", ""}) {
    INFO(host);
    CHECK(Problems(Egress(fmt::format(R"("host": "{}")", host))).starts_with("/egress/host: "));
  }
  const RequestDecoding address = Decode(Egress(R"("ip": "::ffff:10.0.0.1")"));
  REQUIRE(address);
  CHECK(address.decoded->request.is_known(schema::slot::EgressHost));
  CHECK_FALSE(address.decoded->request.is_present(schema::slot::EgressHost));
  CHECK(address.decoded->request.value(schema::slot::EgressIp).text() ==
        std::string_view("\0\0\0\0\0\0\0\0\0\0\xFF\xFF\x0A\0\0\x01", 16));
}

TEST_CASE("paths that two servers could read in two ways are refused") {
  for (const char* path : {"/a%2f..%2fb", "/a%00", "/a\\\\b", "/a%", "/a%zz", "relative"}) {
    INFO(path);
    CHECK(Problems(Egress(fmt::format(R"("path": "{}")", path))).starts_with("/egress/path: "));
  }
}

TEST_CASE("ports and methods keep to their lists") {
  CHECK(Problems(Egress(R"("port": 0)")) ==
        "/egress/port: 0 is out of range; it must be at least 1");
  CHECK(Problems(Egress(R"("port": 65979)")) ==
        "/egress/port: 65979 is out of range; it must be at most 65535");
  for (const char* method : {"get", "CONNECT", "TRACE", "GET ", "X"}) {
    CHECK(Problems(Egress(fmt::format(R"("method": "{}")", method))).starts_with("/egress/method"));
  }
  CHECK(Problems(Egress(R"("scheme": "tcp", "method": "GET")")) ==
        "/egress/method: a byte stream (`tcp`) has no method");
}

TEST_CASE("a stage knows what it can know") {
  const RequestDecoding name = Decode(Egress(R"("host": "a.example")", R"(, "stage": "name")"));
  REQUIRE(name);
  CHECK(name.decoded->request.stage() == schema::Stage::Name);
  CHECK_FALSE(name.decoded->request.is_known(schema::slot::EgressMethod));
  CHECK(Problems(Egress(R"("ip": "192.0.2.1")", R"(, "stage": "name")"))
            .starts_with("/egress/ip: not known yet at the stage `name`"));
  CHECK(Problems(Egress(R"("ip": "192.0.2.1")", R"(, "stage": "address")")) == "");
  CHECK(Problems(Create("", R"(, "stage": "name")")) ==
        "/stage: only `egress` is judged in stages");
}

TEST_CASE("what is left of a lifetime may be over") {
  const RequestDecoding over = Decode(
      R"({"version": 1, "action": "observe", "observe": {"what": "logs"},
          "sandbox": {"ttl_left": "-5s"}})");
  REQUIRE(over);
  CHECK(over.decoded->request.value(schema::slot::SandboxTtlLeft).integer == -5000);
}

TEST_CASE("a doubled member is a problem at its place, and text that is no JSON is none") {
  const auto doubled = DecodeRequestText(
      R"({"version": 1, "action": "observe", "observe": {"what": "logs", "what": "logs"}})",
      Declared(), StatedBy::Author);
  REQUIRE(doubled);
  CHECK_FALSE(doubled->decoded);
  REQUIRE(doubled->problems.size() == 1);
  CHECK(doubled->problems[0].pointer == "/observe/what");
  CHECK_FALSE(DecodeRequestText("{", Declared(), StatedBy::Author));
}

TEST_CASE("problems are bounded") {
  std::string many = R"({"version": 1, "action": "observe", "observe": {"what": "logs")";
  for (int i = 0; i < 1000; ++i) many += fmt::format(R"(, "x{}": 1)", i);
  CHECK(Decode(many + "}}").problems.size() == 20);
}

}  // namespace
}  // namespace curfew::module
