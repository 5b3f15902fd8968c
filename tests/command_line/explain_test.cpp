// explain: why a request is answered as it is, and what would turn the answer.
#include "tests/command_line/program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::tests {
namespace {

using Catch::Matchers::Contains;

constexpr std::string_view kPolicy = R"(language 1
attributes task { risk: low < medium < high }
image base { digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }
sandbox work when task.kind == "work" and task.team in ["platform", "payments"] {
  image      { allow base  isolation any  exec "/usr/bin/**"  size cpu 1 at most 2 }
  lifetime   { ttl 1h at most 2h }
  filesystem { export "/work/out/**" at most 1MiB }
  network { tls inspect
    npm: allow GET, HEAD "https://npm.example/simple/**"
    db:  allow connect "db.example:5432"
         deny any "https://npm.example/simple/evil/**" because "it is evil"
  }
}
deny exec when exec.program == "/usr/bin/nc" because "no netcat"
deny create when task.risk > low because "too risky"
)";

std::string Egress(const std::string& method, const std::string& host, const std::string& path) {
  return fmt::format(
      R"({{"version": 1, "action": "egress", "now": "2026-11-29T00:00:00Z",
 "caller": {{"id": "user:ana", "kind": "human", "groups": [], "operator": false}},
 "task": {{"id": "t", "owner": "user:ana", "team": "platform", "kind": "work",
          "trigger": "human", "risk": "low"}},
 "sandbox": {{"class": "work", "creator": "user:ana", "ttl_left": "1h", "age": "5m"}},
 "egress": {{"scheme": "https", "host": "{}", "ip": "93.184.216.34", "port": 443, "method": "{}",
            "path": "{}", "bytes": "0B", "requests": 1, "total": "0B"}}}})",
      host, method, path);
}
std::string Create(const std::string& kind, const std::string& risk, const std::string& ttl) {
  return fmt::format(
      R"({{"version": 1, "action": "create", "now": "2026-11-29T00:00:00Z",
 "caller": {{"id": "user:ana", "kind": "human", "groups": [], "operator": false}},
 "task": {{"id": "t", "owner": "user:ana", "team": "platform", "kind": "{}",
          "trigger": "human", "risk": "{}"}},
 "create": {{"image": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "ttl": "{}", "running": 1}}}})",
      kind, risk, ttl);
}

Ran Explain(const std::string& request, const std::string& more = {}) {
  const Workplace place;
  place.Write("p.curfew", kPolicy);
  place.Write("r.json", request);
  return place.Shell("curfew explain p.curfew --request r.json " + more);
}

TEST_CASE("a denial names the clause that decided, what it saw, and what would turn it") {
  const Ran ran = Explain(Egress("POST", "npm.example", "/simple/x"));
  INFO(ran.out << ran.err);
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Contains("denied by work.network.default") &&
                          Contains("work.network.npm  p.curfew:9 would, but\n"
                                   "      fails      egress.method in [\"GET\", \"HEAD\"]\n"
                                   "                 egress.method is \"POST\"\n") &&
                          Contains("it would be allowed with\n"
                                   "  egress.method \"GET\" (it is \"POST\")\n") &&
                          Contains("in `network { … }` of class `work`: allow POST "
                                   "\"https://npm.example/simple/x\"\n"));
}

TEST_CASE("several facts are changed together where one is not enough") {
  const Ran elsewhere = Explain(Egress("POST", "other.example", "/simple/x"));
  CHECK_THAT(elsewhere.out, Contains("  egress.host \"npm.example\" (it is \"other.example\")\n"
                                     "  and egress.method \"GET\" (it is \"POST\")\n"));
  // A deny and a missing allow at once.
  const Ran evil = Explain(Egress("POST", "npm.example", "/simple/evil/x"));
  CHECK_THAT(evil.out,
             Contains("denied by work.network.deny_") && Contains("it is evil") &&
                 Contains("  egress.method \"GET\" (it is \"POST\")\n"
                          "  and egress.path \"/simple/x\" (it is \"/simple/evil/x\")\n") &&
                 Contains("take away or narrow `work.network.deny_"));
}

TEST_CASE("an allow is explained too, and what would have it denied") {
  const Ran ran = Explain(Egress("GET", "npm.example", "/simple/x"));
  CHECK_THAT(ran.out, Contains("allowed by work.network.npm  p.curfew:9") &&
                          Contains("holds      egress.path meets \"/simple/**\"") &&
                          Contains("it would be denied with\n") &&
                          Contains("take away `work.network.npm` at p.curfew:9"));
}

TEST_CASE("bounds, classes and rules of the set are told in the author's terms") {
  const Ran long_lived = Explain(Create("work", "low", "3h"));
  CHECK_THAT(long_lived.out, Contains("denied by work.lifetime.ttl") &&
                                 Contains("create.ttl is 3h") &&
                                 Contains("  create.ttl 2h (it is 3h)\n"));
  const Ran risky = Explain(Create("work", "high", "1h"));
  CHECK_THAT(risky.out, Contains("too risky") && Contains("holds      task.risk > low") &&
                            Contains("task.risk is high") &&
                            Contains("  task.risk low (it is high)\n"));
  const Ran nobody = Explain(Create("play", "low", "1h"));
  CHECK_THAT(nobody.out, Contains("denied by class.none") &&
                             Contains("fails      task.kind == \"work\"") &&
                             Contains("  task.kind \"work\" (it is \"play\")\n"));
}

TEST_CASE("what cannot be changed by anybody is not offered as a change of policy") {
  const std::string metadata = Egress("GET", "npm.example", "/simple/x").replace(0, 0, "");
  std::string request = metadata;
  request.replace(request.find("93.184.216.34"), 13, "169.254.169.254");
  const Ran ran = Explain(request);
  CHECK_THAT(ran.out, Contains("denied by builtin.address") && !Contains("or with a policy"));
}

TEST_CASE("explanations are JSON for programs, and a document that does not fit is told as such") {
  const Ran json =
      Explain(Egress("POST", "npm.example", "/simple/x"),
              "--format json | python3 -c 'import json, sys; d = json.load(sys.stdin);"
              " print(d[\"decision\"], d[\"why\"][\"lacks\"][0][\"nearest\"][0][\"id\"],"
              " d[\"request_changes\"][\"alternatives\"][0],"
              " len(d[\"policy_changes\"]))'");
  CHECK(json.out ==
        "deny work.network.npm [{'path': 'egress.method', 'now': 'is \"POST\"', 'to': "
        "'\"GET\"'}] 1\n");
  const Ran unfit = Explain(R"({"version": 1, "action": "egress", "egres": {}})");
  CHECK(unfit.status == 0);
  CHECK_THAT(unfit.out, Contains("request.invalid") && Contains("/egres"));
  CHECK(Explain("{").status == 1);
  const Ran none = Explain(Egress("POST", "npm.example", "/simple/x"), "--budget 1");
  CHECK_THAT(none.out,
             Contains("no change of the request was found") && Contains("not every one was tried"));
}

}  // namespace
}  // namespace curfew::tests
