// What is proven, what is refuted and by what request, and what is left undecided.
#include "tests/prove/asked.h"

#include <algorithm>
#include <string_view>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::prove {
namespace {

constexpr std::string_view kHead = R"(language 1
package tests.prove
attributes task {
  ticket: string?
  risk: low < medium < high
  reviewers: set of principal
}
attributes caller { level: int }
image box { digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }
sandbox work when task.kind == "work" {
  image {
    allow box
    exec  "/usr/bin/**"
    size  cpu 1 at most 4, memory 1GiB at most 4GiB, disk 1GiB at most 8GiB
  }
  filesystem {
    scratch "/work" 1GiB
    import  "/work/in/**" at most 1GiB
    export  "/work/out/**" at most 200MiB
    snapshot disk { expires 24h at most 72h size at most 10GiB keep 3 }
  }
  network {
    tls inspect
    read: allow GET, HEAD "https://a.example/docs/**", "http://b.example/**"
    wide: allow GET "https://**.wide.example/**"
    db:   allow connect "db.example:5432" at "10.20.0.0/16"
    ask:  allow POST "https://q.example/api" query mode == "safe"
          deny any "https://a.example/docs/secret/**"
    expose 8080 to task.owner for at most 30m
  }
  lifetime { ttl 2h at most 8h  renew at most 2 times by 1h }
}
sandbox tight narrows work when task.team == "pay" {
  network { deny POST any }
}
)";

struct Case {
  std::string_view rules;
  Outcome outcome;
  std::string_view shown = {};  // in the counterexample, or in the reason
};

void Check(const Case& c) {
  INFO(c.rules);
  const AskedSet asked = Ask(std::string(kHead) + std::string(c.rules) + "\n");
  REQUIRE(asked.answers.size() == 1);
  const Answer& answer = asked.answers.front();
  INFO(answer.text);
  CHECK(static_cast<int>(answer.outcome) == static_cast<int>(c.outcome));
  if (answer.outcome == Outcome::Refuted) CHECK(IsConfirmed(*asked.set, answer));
  CHECK(answer.text.find(c.shown) != std::string::npos);
}

TEST_CASE("nevers of hosts and addresses") {
  const Case cases[] = {
      {R"(n1: never egress when has egress.ip and egress.ip in "169.254.0.0/16")", Outcome::Proven},
      {R"(n1: never egress when has egress.ip and egress.ip in "10.0.0.0/8")", Outcome::Refuted,
       "db.example"},
      {R"(n1: never egress when has egress.ip and egress.ip in "10.21.0.0/16")", Outcome::Proven},
      {R"(n1: never egress when egress.host matches "*.example")", Outcome::Refuted, ".example"},
      {R"(n1: never egress when egress.host matches "*.wide.example")", Outcome::Refuted,
       "x.wide.example"},
      {R"(n1: never egress when egress.host == "wide.example")", Outcome::Proven},
      {R"(n1: never egress when egress.host matches "**.other.example")", Outcome::Proven},
      {R"(n1: never egress when egress.host matches "**.b.wide.example" and egress.port != 443)",
       Outcome::Proven},
      {R"(never egress when egress.host == "evil.wide.example" because "x"
deny egress when egress.host matches "**.wide.example")",
       Outcome::Proven},
      {R"(n1: never egress when egress.host matches "**.wide.example"
deny egress when egress.host matches "*.wide.example")",
       Outcome::Refuted, "x.x.wide.example"},
      {R"(n1: never egress when egress.port in [22, 25, 5432])", Outcome::Refuted, "5432"},
      {R"(n1: never egress when egress.port < 80)", Outcome::Proven},
      {R"(n1: never egress when egress.scheme == tcp and egress.port == 443)", Outcome::Proven},
  };
  for (const Case& c : cases) Check(c);
}

TEST_CASE("nevers of paths, methods and queries") {
  const Case cases[] = {
      {R"(n1: never egress when has egress.path and egress.path matches "/docs/secret/**")",
       Outcome::Refuted, "/docs/secret"},
      {R"(n1: never egress when egress.host == "a.example" and has egress.path
  and egress.path matches "/docs/secret/**")",
       Outcome::Proven},
      {R"(n1: never egress when egress.host == "a.example" and has egress.path
  and not (egress.path matches "/docs/**"))",
       Outcome::Proven},
      {R"(n1: never egress when egress.host == "a.example" and has egress.path
  and egress.path matches "/docs/*/secret")",
       Outcome::Refuted, "/docs/"},
      {R"(n1: never egress when egress.host == "a.example" and has egress.path
  and egress.path matches "/docs/s*t/x")",
       Outcome::Refuted, "/docs/s"},
      {R"(n1: never egress when has egress.method and egress.method in ["PUT", "DELETE"])",
       Outcome::Proven},
      {R"(n1: never egress when has egress.method and egress.method == "POST")", Outcome::Refuted,
       "mode=safe"},
      {R"(n1: never egress when task.team == "pay" and has egress.method and egress.method == "POST"
  and sandbox.class == "tight")",
       Outcome::Proven},
      {R"(n1: never egress when has egress.method and egress.method == "POST" and has egress.query
  and egress.query == "mode=wild")",
       Outcome::Undecided},
      {R"(n1: never exec when exec.program matches "/usr/bin/*")", Outcome::Refuted, "/usr/bin/"},
      {R"(n1: never exec when exec.program matches "/bin/**")", Outcome::Proven},
      {R"(n1: never exec when exec.args starts ["push"] and "--force" in exec.args
deny exec when "--force" in exec.args)",
       Outcome::Proven},
      {R"(n1: never exec when exec.args starts ["push", "--force"])", Outcome::Refuted,
       R"(["push", "--force")"},
      {R"(n1: never export when export.path == "/work/out/core" or export.size > 200MiB
deny export when export.path matches "/work/out/c*")",
       Outcome::Proven},
  };
  for (const Case& c : cases) Check(c);
}

TEST_CASE("nevers of numbers and time") {
  const Case cases[] = {
      {R"(n1: never create when create.cpu > 4)", Outcome::Proven},
      {R"(n1: never create when create.cpu > 3)", Outcome::Refuted, R"("cpu": 4)"},
      {R"(n1: never create when create.ttl > 8h)", Outcome::Proven},
      {R"(n1: never create when create.cpu + create.running > 10)", Outcome::Refuted},
      {R"(n1: never create when create.cpu + create.running > 10
deny create when create.running > 6)",
       Outcome::Proven},
      {R"(n1: never egress when sandbox.age < sandbox.idle)", Outcome::Refuted},
      {R"(n1: never export when export.total < export.size)", Outcome::Proven},
      {R"(n1: never egress when now.time_of_day >= 24h)", Outcome::Proven},
      {R"(n1: never egress when now < 1970-01-02T00:00:00Z and now.weekday != thu)",
       Outcome::Proven},
      {R"(n1: never egress when now.weekday in [sat, sun] and now.time_of_day > 12h)",
       Outcome::Refuted},
      {R"(n1: never resume when snapshot.age > 72h)", Outcome::Proven},
      {R"(n1: never resume when snapshot.age > 71h)", Outcome::Refuted},
      {R"(n1: never create when task.risk > medium
deny create when task.risk == high)",
       Outcome::Proven},
      {R"(n1: never create when task.risk >= medium
deny create when task.risk == high)",
       Outcome::Refuted, "medium"},
      {R"(n1: never extend when extend.times > 2)", Outcome::Proven},
  };
  for (const Case& c : cases) Check(c);
}

// What a create leaves out has a value for rules, and none for the checks of what it says: no disk
// is a disk of nothing, and a disk of nothing may not be asked for.
TEST_CASE("checks judge a request as it came") {
  Case c{R"(sandbox plain when task.kind == "plain" { image { allow box } lifetime { ttl 1h } }
n1: never create when create.disk == 0B and create.running > 0
)",
         Outcome::Refuted};
  std::string rules(c.rules);
  // So many that all denials are brought in.
  for (int i = 1; i < 9; ++i) rules += fmt::format("deny create when create.running == {}\n", i);
  c.rules = rules;
  Check(c);
}

TEST_CASE("nevers of callers, sets and texts") {
  const Case cases[] = {
      {R"(n1: never create when caller.id != task.owner)", Outcome::Refuted},
      {R"(n1: never create when caller.id != task.owner and not (task.owner in caller.groups)
require create: task.owner in caller.groups or caller.id == task.owner)",
       Outcome::Proven},
      {R"(n1: never create when task.owner == caller.id and task.owner in caller.groups)",
       Outcome::Proven},
      {R"(n1: never create when caller.id == "group:all")", Outcome::Proven},
      {R"(n1: never observe when caller.id == "user:eve" and not caller.operator
  and caller.id != task.owner and caller.id != sandbox.creator and not (task.owner in caller.groups))",
       Outcome::Proven},
      {R"(n1: never create when caller.id in task.reviewers
deny create when any r in task.reviewers where (r == caller.id))",
       Outcome::Proven},
      {R"(n1: never create when count(task.reviewers) < 2 and caller.id in task.reviewers)",
       Outcome::Refuted, R"("reviewers": [)"},
      {R"(n1: never create when count(task.reviewers) >= 2
require create: count(task.reviewers) < 2)",
       Outcome::Proven},
      {R"(n1: never create when has task.ticket and task.ticket matches "OPS-*"
deny create when has task.ticket and task.ticket matches "OPS*")",
       Outcome::Proven},
      {R"(n1: never create when has task.ticket and task.ticket matches "OPS*"
deny create when has task.ticket and task.ticket matches "OPS-*")",
       Outcome::Refuted, R"("ticket": "OPS)"},
      {R"(n1: never create when not has task.ticket
require create: has task.ticket)",
       Outcome::Proven},
      {R"(n1: never create when task.team != "pay" and has create.class and create.class == "tight")",
       Outcome::Proven},
      {R"(n1: never create when task.kind != "work")", Outcome::Proven},
      {R"(n1: never observe when sandbox.class == "legacy")", Outcome::Refuted, "legacy"},
      {R"(n1: never exec when sandbox.class == "legacy")", Outcome::Proven},
      {R"(n1: never create when all r in task.reviewers where (r != "user:ana"))",
       Outcome::Refuted},
      {R"(n1: never create when "user:ana" in task.reviewers and none r in task.reviewers where (r == "user:ana"))",
       Outcome::Proven},
  };
  for (const Case& c : cases) Check(c);
}

}  // namespace
}  // namespace curfew::prove
