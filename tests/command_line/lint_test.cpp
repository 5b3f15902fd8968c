// `curfew lint` and `curfew fix`, run as people and CI run them.
#include "compiler/base/json.h"
#include "tests/command_line/program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::tests {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

constexpr std::string_view kClean = R"(language 1
package acme.lint

image python311 {
  digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
}

## Work on code.
sandbox coding when task.kind == "coding" {
  image    { allow python311 }
  lifetime { ttl 1h }
}

own: require create: caller.id == task.owner
  because "only the owner starts a task"

test "a coding task" {
  given task   { kind: "coding", team: "research", owner: "user:ana" }
  given caller { id: "user:ana" }

  create image python311                  -> allow coding
  egress GET "https://packages.example/"  -> deny coding.network.default
}
)";

// A warning with a fix, an info with a fix, and a comment beside each.
constexpr std::string_view kFindings = R"(
# Nobody works as root.
root: deny exec when exec.user == "root" or exec.cwd == "/" or exec.user == "root"  # twice
  because "nobody works as root"

# Nor as admin.
admin: deny exec when not exec.user != "admin"
  because "nor as admin"
)";

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("lint: silent when clean, 2 for findings of the fail level, 3 for errors, 1 else") {
  const Workplace place;
  place.Write("p.curfew", kClean);
  const Ran clean = place.Shell("curfew lint p.curfew");
  CHECK(clean.err == "");
  CHECK(clean.out == "");
  CHECK(clean.status == 0);

  place.Write("p.curfew", std::string(kClean) + std::string(kFindings));
  const Ran found = place.Shell("curfew lint p.curfew");
  CHECK(found.status == 2);
  CHECK(found.out == "");
  CHECK_THAT(found.err, Contains("[CUR9415]"));
  CHECK_THAT(found.err, Contains("[CUR9511]"));
  CHECK(place.Shell("curfew lint p.curfew --fail-level error").status == 0);
  CHECK(place.Shell("curfew lint p.curfew --severity error").status == 0);
  const Ran clarity = place.Shell("curfew lint p.curfew --category clarity");
  CHECK(clarity.status == 0);  // an info is shown and does not fail
  CHECK_THAT(clarity.err, Contains("[CUR9511]"));
  CHECK_THAT(clarity.err, !Contains("[CUR9415]"));
  CHECK(place.Shell("curfew lint p.curfew --category clarity --fail-level info").status == 2);

  place.Write("bad/p.curfew", "sandbox x {\n");
  const Ran bad = place.Shell("curfew lint bad");
  CHECK(bad.status == 3);
  CHECK_THAT(bad.err, Contains("[CUR2017]"));
  CHECK(place.Shell("curfew lint").status == 1);
  CHECK(place.Shell("curfew lint nowhere").status == 1);
  CHECK(place.Shell("curfew lint p.curfew --category none").status == 1);
  CHECK(place.Shell("curfew lint p.curfew --now yesterday").status == 1);
}

TEST_CASE("lint: every format says the same findings") {
  const Workplace place;
  place.Write("p.curfew", std::string(kClean) + std::string(kFindings));
  const Ran json = place.Shell("curfew lint p.curfew --format json");
  CHECK(json.status == 2);
  CHECK(json.err == "");
  const Result<JsonValue> parsed = ParseJson(json.out);
  REQUIRE(parsed);
  CHECK(parsed->Find("diagnostics")->items.size() == 2);
  const Ran sarif = place.Shell("curfew lint p.curfew --format sarif");
  CHECK(ParseJson(sarif.out).has_value());
  CHECK_THAT(sarif.out, Contains("CUR9415"));
  const Ran junit = place.Shell("curfew lint p.curfew --format junit");
  CHECK(junit.err == "");
  CHECK_THAT(junit.out, Contains("classname=\"CUR9415\"") && Contains("<failure type=\"warning\""));
  const Ran github = place.Shell("curfew lint p.curfew --format github");
  CHECK_THAT(github.out, StartsWith("::warning file=p.curfew"));
  CHECK_THAT(github.out, Contains("::notice file=p.curfew"));
}

TEST_CASE("lint: a suppression is judged for the day that --now says") {
  const Workplace place;
  place.Write("p.curfew",
              std::string(kClean) +
                  Replaced(std::string(kFindings), "# Nobody works as root.",
                           "# curfew: allow CUR9415 until 2027-03-01T00:00:00Z because \"twice\""));
  CHECK(place.Shell("curfew lint p.curfew --now 2027-01-01T00:00:00Z").status == 0);
  const Ran over = place.Shell("curfew lint p.curfew --now 2027-03-01T00:00:00Z");
  CHECK(over.status == 2);
  CHECK_THAT(over.err, Contains("[CUR9004]"));
  CHECK_THAT(over.err, Contains("[CUR9415]"));
}

TEST_CASE("lint: what a file declares that only another names may be for another set") {
  const Workplace place;
  place.Write("hosts.curfew",
              "language 1\nhosts mirrors [\"mirror.example\"]\n"
              "attributes task {\n  ticket: string?\n}\n");
  std::string policy(kClean);
  policy.insert(policy.find("\nimage"), "\nuse \"hosts.curfew\"\n");
  place.Write("p.curfew", policy);
  CHECK(place.Shell("curfew lint --fail-level info p.curfew").err == "");
  const Ran whole = place.Shell("curfew lint --fail-level info p.curfew hosts.curfew");
  CHECK_THAT(whole.err, Contains("[CUR9507]") && Contains("[CUR9508]"));
}

TEST_CASE("lint: explains each code and lists the rules") {
  const Workplace place;
  const Ran page = place.Shell("curfew lint --explain CUR9205");
  CHECK(page.status == 0);
  CHECK_THAT(page.out, StartsWith("# CUR9205 DenyByPath\n"));
  CHECK_THAT(page.out, Contains("## How to fix"));
  CHECK_THAT(place.Shell("curfew lint --explain CUR3004").out, StartsWith("# CUR3004 "));
  // Of an error it says why it is one, and what to do.
  for (const char* code :
       {"CUR1006", "CUR2004", "CUR4002", "CUR5062", "CUR6012", "CUR6501", "CUR9004", "CUR9701"}) {
    const Ran said = place.Shell(fmt::format("curfew lint --explain {}", code));
    INFO(said.out);
    CHECK_THAT(said.out, Contains("## Why\n") && Contains("## How to fix\n"));
  }
  const Ran none = place.Shell("curfew lint --explain CUR1");
  CHECK(none.status == 1);
  CHECK_THAT(none.err, Contains("is no code"));
  const Ran list = place.Shell("curfew lint --list");
  CHECK(list.status == 0);
  CHECK_THAT(list.out, Contains("CUR9101  warning  lifecycle"));
  CHECK_THAT(list.out, Contains("CUR9517  info     clarity"));
}

TEST_CASE("fix: shows, makes and tells its changes, and comments stay") {
  const Workplace place;
  const std::string before = std::string(kClean) + std::string(kFindings);
  std::string after = Replaced(before, " or exec.user == \"root\"  # twice", "  # twice");
  after = Replaced(after, "not exec.user != \"admin\"", "exec.user == \"admin\"");
  place.Write("p.curfew", before);
  const Ran dry = place.Shell("curfew fix p.curfew --dry-run");
  CHECK(dry.status == 2);
  CHECK_THAT(dry.out, StartsWith("--- p.curfew"));
  CHECK_THAT(dry.out, Contains("\n+admin: deny exec when exec.user == \"admin\"\n"));
  CHECK(place.Read("p.curfew") == before);
  // What is shown is a patch.
  CHECK(place.Shell("curfew fix p.curfew --dry-run | patch -p0 -o patched p.curfew").status == 0);
  CHECK(place.Read("patched") == after);

  const Ran one = place.Shell("curfew fix p.curfew --code CUR9511");
  CHECK(one.status == 0);
  CHECK_THAT(one.out, Contains("[CUR9511]"));
  CHECK_THAT(one.out, !Contains("[CUR9415]"));
  const Ran rest = place.Shell("curfew fix p.curfew");
  CHECK(rest.status == 0);
  CHECK_THAT(rest.out, Contains("p.curfew:"));
  CHECK(place.Read("p.curfew") == after);
  CHECK(place.Shell("curfew lint p.curfew").status == 0);
  const Ran again = place.Shell("curfew fix p.curfew");
  CHECK(again.status == 0);
  CHECK(again.out == "");
  CHECK(place.Shell("curfew fix p.curfew --dry-run").status == 0);
}

TEST_CASE("fix: mistakes behind mistakes, as far as they can be mended") {
  const Workplace place;
  std::string broken = Replaced(std::string(kClean), "task.kind ==", "task.knid ==");
  broken = Replaced(broken, "lifetime {", "lifetme {");
  place.Write("p.curfew", broken);
  // A guess is made on top of no other; the next run goes on.
  CHECK(place.Shell("curfew fix p.curfew").status != 1);
  const Ran fixed = place.Shell("curfew fix p.curfew");
  INFO(fixed.err);
  CHECK(fixed.status == 0);
  CHECK(place.Read("p.curfew") == kClean);

  place.Write("p.curfew", Replaced(std::string(kClean), "ttl 1h", "ttl 1x"));
  const Ran left = place.Shell("curfew fix p.curfew");
  CHECK(left.status == 3);
  CHECK_THAT(left.err, Contains("[CUR4002]"));
}

TEST_CASE("fix: bad input is one clear complaint and changes nothing") {
  const Workplace place;
  place.Write("p.curfew", std::string(kClean) + std::string(kFindings));
  CHECK(place.Shell("curfew fix").status == 1);
  CHECK(place.Shell("curfew fix nowhere").status == 1);
  CHECK(place.Shell("curfew fix p.curfew --code CUR1").status == 1);
  CHECK(place.Shell("curfew fix - --dry-run < p.curfew").status == 2);
  CHECK(place.Shell("ln -s p.curfew link.curfew; curfew fix link.curfew").status == 1);
  CHECK(place.Read("p.curfew") == std::string(kClean) + std::string(kFindings));
}

TEST_CASE("fix: standard input goes, mended, to standard output") {
  const Workplace place;
  const std::string before = std::string(kClean) + std::string(kFindings);
  place.Write("p.curfew", before);
  const Ran fixed = place.Shell("curfew fix - < p.curfew");
  CHECK(fixed.status == 0);
  CHECK_THAT(fixed.err, Contains("[CUR9415]") && Contains("<stdin>:"));
  CHECK(place.Read("p.curfew") == before);
  CHECK(place.Shell("curfew fix p.curfew").status == 0);
  CHECK(fixed.out == place.Read("p.curfew"));
  const Ran again = place.Shell("curfew fix - < p.curfew");
  CHECK(again.out == place.Read("p.curfew"));
  CHECK(again.err == "");
  // What cannot be mended is passed on as it is, and said.
  place.Write("p.curfew", Replaced(std::string(kClean), "ttl 1h", "ttl 1x"));
  const Ran left = place.Shell("curfew fix - < p.curfew");
  CHECK(left.status == 3);
  CHECK(left.out == place.Read("p.curfew"));
}

TEST_CASE("fix: a file that only another names is read and not changed") {
  const Workplace place;
  place.Write("p.curfew", Replaced(std::string(kClean), "package acme.lint\n",
                                   "package acme.lint\nuse \"rules/more.curfew\"\n"));
  const std::string more = "language 1\n" + std::string(kFindings);
  place.Write("rules/more.curfew", more);
  CHECK(place.Shell("curfew fix p.curfew").status == 0);
  CHECK(place.Read("rules/more.curfew") == more);
  CHECK(place.Shell("curfew fix p.curfew rules/more.curfew").status == 0);
  CHECK(place.Read("rules/more.curfew") != more);
}

}  // namespace
}  // namespace curfew::tests
