// `curfew test --coverage`: clauses seen both ways, those of a class's `when` among them.
#include "tests/command_line/program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::tests {
namespace {

using Catch::Matchers::Contains;

std::string SetWith(std::string_view further) {
  return fmt::format(R"(language 1
image box {{ digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }}
sandbox work when task.kind == "work" and task.team == "a" {{
  image    {{ allow box }}
  lifetime {{ ttl 1h }}
}}
test "one" {{
  given caller {{ id: "user:ana" }}
  given task   {{ kind: "work", team: "a", owner: "user:ana" }}
  create image box -> allow work
  close
  create image sha256:0f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 -> deny work.image.allow
  close
  create image box, ttl 2h -> deny work.lifetime.ttl
  close
{}}}
)",
                     further);
}

TEST_CASE("a class's own condition counts both ways, in text, JSON and against a threshold") {
  const Workplace place;
  place.Write("p.curfew", SetWith(""));
  const Ran text = place.Shell("curfew test p.curfew --coverage");
  INFO(text.out << text.err);
  CHECK(text.status == 0);
  CHECK_THAT(text.out, Contains("never failed: work: task.kind == \"work\"") &&
                           Contains("never failed: work: task.team == \"a\""));
  const Ran json = place.Shell("curfew test p.curfew --format json");
  CHECK_THAT(json.out, Contains("\"clause\": \"task.team == \\\"a\\\"\""));
  CHECK(place.Shell("curfew test p.curfew --clause-threshold 100").status == 2);

  place.Write(
      "p.curfew",
      SetWith("  given task { team: \"b\" }\n  create image box -> deny class.none\n"
              "  given task { kind: \"x\" }\n  create image box -> deny class.none\n"
              "  given task { kind: \"work\", team: \"a\" }\n  create image box -> allow work\n"
              "  exec \"/bin/x\" -> deny work.image.exec\n  after 1h\n"
              "  exec \"/bin/x\" -> deny work.lifetime.ttl\n"));
  const Ran whole = place.Shell("curfew test p.curfew --coverage --clause-threshold 100");
  INFO(whole.out << whole.err);
  CHECK(whole.status == 0);
  CHECK_THAT(whole.out, !Contains("never failed"));
}

}  // namespace
}  // namespace curfew::tests
