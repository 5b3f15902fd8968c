// What is too large: each limit has a code, in every format, and says so at once.
#include "tests/command_line/program.h"

#include <filesystem>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::tests {
namespace {

using Catch::Matchers::Contains;

constexpr std::string_view kImage =
    "image box { digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 "
    "}\n";

std::string SetOf(std::string_view rules) {
  return fmt::format("{}sandbox c {{\n  image {{ allow box }}\n  lifetime {{ ttl 1h }}\n{}}}\n",
                     kImage, rules);
}

TEST_CASE("a file of 100 MB is refused by a code, wherever it comes from") {
  const Workplace place;
  place.Write("p/ok.curfew", SetOf(""));
  place.Write("p/big.curfew", "");
  std::filesystem::resize_file(place.path() / "p/big.curfew", 100'000'000);
  for (const char* verb : {"check", "check --format json", "check --format sarif",
                           "check --format junit", "check --format github", "lint", "fmt -l", "fix",
                           "test", "inspect", "compile -o out.bundle"}) {
    const Ran ran = place.Shell(fmt::format("curfew {} p", verb));
    INFO(verb << "\n" << ran.out << ran.err);
    CHECK(ran.status == 3);
    CHECK_THAT(ran.out + ran.err, Contains("CUR6006"));
    CHECK_THAT(ran.out + ran.err, Contains("big.curfew"));
  }
  const Ran piped = place.Shell("curfew check - < p/big.curfew");
  CHECK(piped.status == 3);
  CHECK_THAT(piped.err, Contains("<stdin>:1:1") && Contains("[CUR6006]"));
  place.Write("q/use.curfew", "use \"big.curfew\"\n" + SetOf(""));
  const Ran used = place.Shell("mv p/big.curfew q/; curfew check q/use.curfew");
  CHECK(used.status == 3);
  CHECK_THAT(used.err, Contains("use.curfew:1:5") && Contains("larger than 16 MiB"));
}

TEST_CASE("a set of too many files or bytes is refused by a code") {
  const Workplace place;
  REQUIRE(place
              .Shell("mkdir many large; cd many; for i in $(seq 4097); do : > $i.curfew; done; "
                     "cd ../large; for i in 1 2 3 4 5; do truncate -s 16M $i.curfew; done")
              .status == 0);
  for (const char* verb : {"check", "lint", "fmt -l", "fix", "test"}) {
    INFO(verb);
    const Ran many = place.Shell(fmt::format("curfew {} many", verb));
    CHECK(many.status == 3);
    CHECK_THAT(many.err, Contains("[CUR6007]"));
    const Ran large = place.Shell(fmt::format("curfew {} large", verb));
    CHECK(large.status == 3);
    CHECK_THAT(large.err, Contains("[CUR6008]"));
  }
}

TEST_CASE("a set whose decisions would take too long is refused by a code") {
  const Workplace place;
  std::string text =
      "attributes task { a: set of string at most 1024  b: set of string at most 1024 }\n";
  for (int i = 0; i < 400; ++i) {
    text += fmt::format("deny exec when task.a intersects task.b and exec.user == \"u{}\"\n", i);
  }
  place.Write("p.curfew", text + SetOf(""));
  const Ran ran = place.Shell("curfew check p.curfew");
  INFO(ran.err);
  CHECK(ran.status == 3);
  CHECK_THAT(ran.err, Contains("policy set: error:") && Contains("[CUR6012]"));
}

TEST_CASE("a word as long as a file does not become the message") {
  const Workplace place;
  const std::string word(100'000, 'a');
  for (const std::string& text :
       {SetOf(fmt::format("deny exec when task.{} == \"x\"\n", word)), word + "\n",
        SetOf(fmt::format("network {{ deny {} }}\n", word)),
        SetOf(fmt::format("deny exec when task.kind == {}\n", word)),
        SetOf(fmt::format("{}: deny exec\n", word)), SetOf(fmt::format("deny {}\n", word)),
        SetOf(fmt::format("network {{ allow GET \"https://{}/\" }}\n", word.substr(0, 60'000))),
        SetOf(fmt::format("identity {{ access \"{}\" }}\n", word.substr(0, 60'000)))}) {
    place.Write("p.curfew", text);
    // In JSON a fix is whole, for a tool to make.
    for (const char* how : {"check", "check --format github"}) {
      const Ran ran = place.Shell(fmt::format("curfew {} p.curfew", how));
      INFO(how << " " << (ran.out + ran.err).substr(0, 300));
      CHECK(ran.status == 3);
      CHECK(ran.out.size() + ran.err.size() < 4000);
    }
  }
}

TEST_CASE("a long line of many rules is read in the time of many lines") {
  const Workplace place;
  std::string text;
  for (int i = 0; i < 4000; ++i)
    text += fmt::format("r{}: deny exec when exec.user == \"u{}\" ", i, i);
  place.Write("p.curfew", text + SetOf(""));
  CHECK(place.Shell("curfew check p.curfew").status == 0);
}

}  // namespace
}  // namespace curfew::tests
