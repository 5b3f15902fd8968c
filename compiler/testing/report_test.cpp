#include "compiler/testing/report.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace curfew::testing {
namespace {

// A report about two files: one test passed, one failed.
Report Made(std::string name, std::string failure) {
  Report report;
  report.tests.push_back(
      {"fine", {1, 0, 4}, {{{1, 0, 4}, "exec", "allow", "allow", "", {}}}, false});
  report.tests.push_back(
      {std::move(name),
       {0, 2, 6},
       {{{0, 2, 6}, "exec \"<a>\"", "allow", "deny x & y", std::move(failure), {}}},
       true});
  return report;
}

source::SourceMap Sources(std::string first) {
  source::SourceMap sources;
  sources.Add({std::move(first), "x\ntest\n"});
  sources.Add({"b.curfew", "test\n"});
  return sources;
}

TEST_CASE("JUnit: a suite for each file, a case for each test, both operands of a failure") {
  CHECK(RenderJunit(Made("é <&\">", "it is\tdenied"), Sources("a/a.curfew")) ==
        R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="curfew test" tests="2" failures="1" errors="0" skipped="0">
  <testsuite name="b.curfew" tests="1" failures="0" errors="0" skipped="0">
    <testcase name="fine" classname="b" file="b.curfew" line="1"/>
  </testsuite>
  <testsuite name="a/a.curfew" tests="1" failures="1" errors="0" skipped="0">
    <testcase name="é &lt;&amp;&quot;&gt;" classname="a/a" file="a/a.curfew" line="2">
      <failure type="answer" message="it is&#9;denied">a/a.curfew:2:1:
  exec "&lt;a&gt;"
    expected  allow
    actual    deny x &amp; y
    it is)"
        "\t"
        R"(denied
nothing further was asked: there is no sandbox
</failure>
    </testcase>
  </testsuite>
</testsuites>
)");
  CHECK(RenderJunit({}, {}) ==
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"curfew test\" tests=\"0\" failures=\"0\" errors=\"0\" skipped=\"0\">\n"
        "</testsuites>\n");
}

TEST_CASE("JUnit: what XML has no form for is replaced") {
  const std::string text =
      RenderJunit(Made(std::string("\0\x01\r\x1b\x7f\xc2\x85\xff\xef\xbf\xbe", 11), "x\xc3"),
                  Sources("\xfe.curfew"));
  for (const char c : text) {
    const bool is_control = (c >= 0 && c < 0x20 && c != '\n') || c == 0x7f;
    CHECK_FALSE(is_control);
  }
  std::string replaced;
  for (int i = 0; i < 8; ++i) replaced += "\ufffd";
  CHECK(text.find("name=\"" + replaced + "\"") != std::string::npos);
  CHECK(text.find("message=\"x\ufffd\"") != std::string::npos);
  CHECK(text.find("name=\"\ufffd.curfew\"") != std::string::npos);
}

TEST_CASE("text: coloured on demand, and no control reaches a terminal") {
  const Report report = Made("\x1b[2J", "because \x1b[2J");
  const auto sources = Sources("a\x1b[2J.curfew");
  const std::string plain = RenderText(report, sources, {.verbose = true});
  CHECK(plain.find('\x1b') == std::string::npos);
  const std::string colored = RenderText(report, sources, {.verbose = true, .color = true});
  CHECK(colored.find("\x1b[1;31mFAIL\x1b[0m") != std::string::npos);
  CHECK(colored.find("expected  \x1b[32mallow\x1b[0m") != std::string::npos);
  CHECK(colored.find("\x1b[2J") == std::string::npos);
}

TEST_CASE("JSON: any bytes give a valid document") {
  const auto document =
      nlohmann::json::parse(RenderJson(Made("\xff\x01", "\xc3"), Sources("\xfe.curfew")));
  CHECK(document["failed"] == 1);
  CHECK(document["tests"][1]["file"] == "\ufffd.curfew");
  CHECK(document["tests"][1]["asks"][0]["failure"] == "\ufffd");
}

}  // namespace
}  // namespace curfew::testing
