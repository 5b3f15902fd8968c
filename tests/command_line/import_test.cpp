// `import` as people run it: where the result goes, where the diagnostics go, and the statuses.
#include "tests/command_line/program.h"

#include <catch2/catch.hpp>

namespace curfew::tests {
namespace {

using Catch::Matchers::Contains;

constexpr std::string_view kSource =
    "sandbox: research\nrules:\n- {domain: evil.example, action: deny}\n";
constexpr const char* Whole =
    "--ttl 30m --image "
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

TEST_CASE("what is left out is asked for, and the result does not compile before it is there") {
  const Workplace place;
  place.Write("p.yaml", kSource);
  const Ran ran = place.Shell("curfew import p.yaml -o p.curfew");
  CHECK(ran.status == 3);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err, Contains("p.yaml:1:1: error: no image is named by its digest") &&
                          Contains("[CUR9721]"));
  CHECK(place.Shell("curfew check p.curfew").status == 3);
  CHECK(place.Shell("curfew fmt --check p.curfew").status == 0);
}

TEST_CASE("with what it asks for, the result is valid and on standard output") {
  const Workplace place;
  place.Write("p.yaml", kSource);
  const Ran ran = place.Shell(std::string("curfew import p.yaml ") + Whole + " > p.curfew");
  INFO(ran.err);
  CHECK(ran.status == 0);
  CHECK(place.Shell("curfew check p.curfew").status == 0);
  const Ran piped = place.Shell(std::string("curfew import - < p.yaml ") + Whole);
  CHECK_THAT(piped.out, Contains("# <stdin>:3") && Contains("deny \"evil.example\""));
}

TEST_CASE("--check writes nothing, and the formats are those of check") {
  const Workplace place;
  place.Write("p.yaml", kSource);
  const Ran text = place.Shell("curfew import p.yaml --check -o p.curfew; s=$?; ls; exit $s");
  CHECK(text.status == 3);
  CHECK(text.out == "p.yaml\n");
  CHECK_THAT(place.Shell("curfew import p.yaml --check --format json").out,
             Contains("\"code\": \"CUR9720\""));
  CHECK_THAT(place.Shell("curfew import p.yaml --check --format sarif").out,
             Contains("\"ruleId\": \"CUR9721\""));
  CHECK(place.Shell("curfew import p.yaml --format json").status == 1);
}

TEST_CASE("what is no policy, and what cannot be read") {
  const Workplace place;
  place.Write("p.yaml", "kind: Deployment\n");
  const Ran unknown = place.Shell("curfew import p.yaml -o p.curfew; s=$?; ls; exit $s");
  CHECK(unknown.status == 3);
  CHECK(unknown.out == "p.yaml\n");
  CHECK_THAT(unknown.err, Contains("an OpenShell policy"));
  CHECK(place.Shell("curfew import absent.yaml").status == 1);
  CHECK(place.Shell("curfew import p.yaml --image latest").status == 1);
  CHECK(place.Shell("curfew import p.yaml --ttl 1w").status == 1);
}

TEST_CASE("no secret is on any stream") {
  const Workplace place;
  place.Write("p.yaml",
              "sandbox: a\nrules:\n- {domain: x.example, token: hunter2}\n"
              "- {domain: y.example, tokenInjection: ghp_0123456789abcdefghij}\n");
  for (const char* const format : {"text", "json", "sarif", "junit", "github"}) {
    const Ran ran = place.Shell(std::string("curfew import p.yaml -o p.curfew --format ") + format +
                                " 2>&1; cat p.curfew");
    CHECK_THAT(ran.out, Contains("CUR9709"));
    CHECK_THAT(ran.out, !Contains("hunter2") && !Contains("ghp_0123456789abcdefghij"));
  }
}

}  // namespace
}  // namespace curfew::tests
