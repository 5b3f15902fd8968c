// `test --watch` on real files: it runs again when they change, in whatever way editors change
// them, and a person who has seen enough ends it with 0.
#include "tests/command_line/program.h"

#include <catch2/catch.hpp>

namespace curfew::tests {
namespace {

using Catch::Matchers::Contains;

constexpr std::string_view kPolicy = R"(language 1
use "rules.curfew"
test "closed" {
  given task   { kind: "a", owner: "user:ana" }
  given caller { id: "user:ana" }
  create -> deny
}
)";

TEST_CASE("the tests run again when a file changes, also one that another names") {
  const Workplace place;
  place.Write("p/policy.curfew", kPolicy);
  place.Write("p/rules.curfew", "deny create because \"closed\"\n");
  // Waits until the output has so many lines of a result, at most a minute.
  const Ran ran = place.Shell(
      "until_lines() { for i in $(seq 600); do [ $(grep -c \"$1\" out) -ge $2 ] && return; "
      "sleep 0.1; done; echo \"no $1\"; }\n"
      "\"$program\" test --watch p/policy.curfew >out 2>err & pid=$!\n"
      "until_lines '1 passed' 1\n"
      "echo 'deny create because \"still closed\"' > p/new; mv p/new p/rules.curfew\n"
      "until_lines '1 passed' 2\n"
      "echo 'deny create becuase' > p/rules.curfew\n"
      "for i in $(seq 600); do grep -q error: err && break; sleep 0.1; done\n"
      "echo 'deny create because \"mended\"' > p/rules.curfew\n"
      "until_lines '1 passed' 3\n"
      "kill -INT $pid; wait $pid; echo status $?; cat err");
  INFO(ran.out << ran.err);
  CHECK_THAT(ran.out, Contains("status 0") && Contains("error:") && !Contains("no 1 passed"));
}

TEST_CASE("standard input cannot be watched") {
  const Workplace place;
  const Ran ran = place.Shell("curfew test --watch - </dev/null");
  CHECK(ran.status == 1);
  CHECK_THAT(ran.err, Contains("--watch needs files"));
}

}  // namespace
}  // namespace curfew::tests
