// prove and diff: what no request can do, and what a change does, each with a request that shows
// it, which `eval` then answers as was said.
#include "tests/command_line/program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::tests {
namespace {

using Catch::Matchers::Contains;

std::string Policy(std::string_view network, std::string_view rules) {
  return fmt::format(R"(language 1
image base {{ digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }}
sandbox work when task.kind == "work" {{
  image    {{ allow base }}
  lifetime {{ ttl 1h at most 2h }}
  network  {{
    tls inspect
    docs: allow GET "https://a.example/docs/**"
    {}
  }}
}}
{}
)",
                     network, rules);
}

TEST_CASE("prove says of each never whether it holds, and exits by the worst") {
  const Workplace place;
  place.Write("good.curfew",
              Policy("", R"(plain: never egress when egress.port == 80 because "no")"));
  const Ran good = place.Shell("curfew prove good.curfew");
  INFO(good.out << good.err);
  CHECK(good.status == 0);
  CHECK(good.out == "proven     set.plain  good.curfew:12: no\n");

  const Ran asked = place.Shell(
      "curfew prove good.curfew --never 'egress when egress.host matches \"*.example\"' "
      "--never 'exec when exec.program matches \"/bin/**\"'");
  INFO(asked.out << asked.err);
  CHECK(asked.status == 2);
  CHECK_THAT(asked.out, Contains("refuted    set.asked_1") && Contains("work.network.docs") &&
                            Contains("egress.host is \"a.example\"") &&
                            Contains("proven     set.asked_2"));

  const Ran wrong = place.Shell("curfew prove good.curfew --never 'egress when egress.hots == 1'");
  CHECK(wrong.status == 3);
  CHECK_THAT(wrong.err, Contains("--never 1:1"));
  CHECK(place.Shell("curfew prove nothing.curfew").status == 1);
  place.Write("none.curfew", Policy("", ""));
  CHECK(place.Shell("curfew prove none.curfew").status == 1);
  const Ran spent =
      place.Shell("curfew prove none.curfew --steps 1 --never 'egress when egress.port == 443'");
  INFO(spent.out << spent.err);
  CHECK(spent.status == 4);
  CHECK_THAT(spent.out, Contains("undecided  set.asked_1") && Contains("budget"));
}

TEST_CASE("the request of a counterexample is one that eval reads and the set allows") {
  const Workplace place;
  place.Write("p.curfew", Policy("", ""));
  const Ran ran = place.Shell(
      "curfew prove p.curfew --format json --never 'egress when egress.port == 443' | "
      "python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)[\"request\"]))' "
      "> r.json; curfew eval p.curfew --request r.json");
  INFO(ran.out << ran.err);
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Contains("work.network.docs"));
}

TEST_CASE("diff says which way a change goes, and shows it") {
  const Workplace place;
  place.Write("old.curfew", Policy("", ""));
  place.Write("new.curfew", Policy(R"(deny any "https://a.example/docs/secret/**")", ""));
  const Ran same = place.Shell("curfew diff old.curfew old.curfew");
  CHECK(same.status == 0);
  CHECK(same.out == "the set as a whole: same\n");

  const Ran tightens = place.Shell("curfew diff old.curfew new.curfew");
  INFO(tightens.out << tightens.err);
  CHECK(tightens.status == 2);
  CHECK_THAT(tightens.out, Contains("work egress: tightens\n") &&
                               Contains("allowed before by work.network.docs, denied now by") &&
                               Contains("/docs/secret") &&
                               Contains("the set as a whole: tightens\n"));
  const Ran relaxes = place.Shell("curfew diff new.curfew old.curfew");
  CHECK_THAT(relaxes.out, Contains("the set as a whole: relaxes\n"));

  place.Write("longer.curfew", [] {
    std::string text = Policy("", "");
    return text.replace(text.find("ttl 1h"), 6, "ttl 2h");
  }());
  const Ran plan = place.Shell("curfew diff old.curfew longer.curfew");
  INFO(plan.out << plan.err);
  CHECK(plan.status == 2);
  CHECK_THAT(plan.out, Contains("work create: another plan\n  ttl        1h at most 2h → 2h\n"));

  const Ran json = place.Shell(
      "curfew compile old.curfew -o old.bundle > /dev/null && "
      "curfew diff old.bundle new.curfew --format json | "
      "python3 -c 'import json, sys; d = json.load(sys.stdin); print(d[\"change\"]); "
      "print(json.dumps(d[\"actions\"][0][\"tightens\"][\"request\"]), file=open(\"r.json\", "
      "\"w\"))'"
      "; curfew eval old.curfew --request r.json > /dev/null && "
      "! curfew eval new.curfew --request r.json > /dev/null");
  INFO(json.out << json.err);
  CHECK(json.status == 0);
  CHECK(json.out == "tightens\n");

  place.Write("broken.curfew", "sandbox {");
  CHECK(place.Shell("curfew diff old.curfew broken.curfew").status == 3);
  CHECK(place.Shell("curfew diff old.curfew").status == 1);
}

}  // namespace
}  // namespace curfew::tests
