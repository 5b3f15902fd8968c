#include "compiler/lint/lint.h"

#include "compiler/check/check.h"
#include "compiler/diagnostics/render.h"
#include "compiler/lint/scripts.h"
#include "compiler/lint/suppression.h"
#include "compiler/syntax/parse.h"
#include "compiler/values/quantity.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::lint {
namespace {

using Catch::Matchers::Contains;

constexpr std::string_view kNow = "2026-11-30T00:00:00Z";

// What is found in `text` with the rules of one category.
std::string Found(const std::string& text, std::optional<Category> category) {
  source::SourceMap sources;
  sources.Add({"p", text});
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  const model::PolicyModel model = check::Check(trees, sources, sink);
  INFO(RenderText(sink, sources));
  REQUIRE_FALSE(sink.has_errors());
  diagnostics::Sink findings(FindingsMax);
  Lint(trees, sources, &model,
       {.now_ms = *values::ParseTime(kNow), .category = category, .warnings = {}}, findings);
  return RenderText(findings, sources);
}

constexpr std::string_view kImage =
    "image python311 { digest "
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }\n";

// A class whose life is a finding, with `before` above and `behind` after it.
std::string LongLife(std::string_view before, std::string_view behind) {
  return fmt::format(
      "{}sandbox coding when task.kind == \"coding\" {{\n  image {{ allow python311 }}\n  lifetime "
      "{{\n{}    ttl 30d {}\n    idle 1h then close\n  }}\n}}\n",
      kImage, before, behind);
}

constexpr std::string_view kAllow =
    "# curfew: allow CUR9101 until 2027-03-01T00:00:00Z because \"a build farm\"";

TEST_CASE("a suppression is of its line, or of the next line that says something") {
  CHECK_THAT(Found(LongLife("", ""), Category::Lifecycle), Contains("CUR9101"));
  CHECK(Found(LongLife(fmt::format("    {}\n", kAllow), ""), Category::Lifecycle) == "");
  CHECK(Found(LongLife(fmt::format("    {}\n\n    # more\n", kAllow), ""), Category::Lifecycle) ==
        "");
  CHECK(Found(LongLife("", kAllow), Category::Lifecycle) == "");
  // On another line it is of no use, and that is said.
  const std::string elsewhere =
      Found(fmt::format("{}\n{}", kAllow, LongLife("", "")), Category::Lifecycle);
  CHECK_THAT(elsewhere, Contains("[CUR9101]"));
  CHECK_THAT(elsewhere, Contains("[CUR9005]"));
  // Unless its rule was not looked for.
  CHECK(Found(fmt::format("{}\n{}", kAllow, LongLife("", "")), Category::Reach) == "");
}

TEST_CASE("a suppression has a code, an end within a year, and a reason") {
  const auto found = [](std::string_view comment) {
    return Found(LongLife(fmt::format("    {}\n", comment), ""), Category::Lifecycle);
  };
  CHECK_THAT(found("# curfew: allow CUR9101"), Contains("[CUR9001]"));
  CHECK_THAT(found("# curfew: allow CUR9101 until 2027-03-01T00:00:00Z"), Contains("[CUR9001]"));
  CHECK_THAT(found("# curfew: allow CUR9101 until 2027-03-01T00:00:00Z because \"\""),
             Contains("[CUR9001]"));
  CHECK_THAT(found("# curfew: ignore"), Contains("[CUR9001]"));
  CHECK_THAT(found("# curfew: allow CUR9999 until 2027-03-01T00:00:00Z because \"x\""),
             Contains("[CUR9002]"));
  CHECK_THAT(found("# curfew: allow CUR3001 until 2027-03-01T00:00:00Z because \"x\""),
             Contains("[CUR9003]"));
  const std::string over =
      found("# curfew: allow CUR9101 until 2026-11-30T00:00:00Z because \"x\"");
  CHECK_THAT(over, Contains("[CUR9004]"));
  CHECK_THAT(over, Contains("[CUR9101]"));
  CHECK_THAT(found("# curfew: allow CUR9101 until 2030-01-01T00:00:00Z because \"x\""),
             Contains("[CUR9006]"));
  // What speaks of Curfew in a sentence is none.
  CHECK_FALSE(ReadSuppression("# see curfew: allow").has_value());
  CHECK_FALSE(ReadSuppression("# curfew allows it").has_value());
}

TEST_CASE("one suppression is of all findings of its code on the line, and of no other code") {
  const std::string text =
      Found(fmt::format(
                "{}sandbox coding when task.kind == \"coding\" {{\n  image {{ allow python311 }}\n"
                "  lifetime {{ ttl 30d }} {}\n}}\n",
                kImage, kAllow),
            Category::Lifecycle);
  CHECK_THAT(text, !Contains("[CUR9101]"));
  CHECK_THAT(text, Contains("[CUR9102]"));
}

TEST_CASE("a class whose machines only come from snapshots is tested by their resumption") {
  const auto found = [](std::string_view snapshot) {
    return Found(fmt::format(R"({}
## One attempt.
sandbox attempt when task.kind == "attempt" {{
  image      {{ allow python311 }}
  filesystem {{ snapshot disk {{ expires 1h at most 2h  size at most 1GiB }} }}
  lifetime   {{ ttl 1h }}
}}
test "a branch" {{
  given task     {{ kind: "attempt", owner: "user:ana" }}
  given caller   {{ id: "user:ana" }}
  given snapshot {{ class: "attempt", owner: "user:ana", image: python311, age: 1m, expires_in: 59m }}
  resume{}        -> allow attempt
  resume snapshot memory -> deny attempt.filesystem.snapshot
}}
)",
                             kImage, snapshot),
                 Category::Clarity);
  };
  CHECK_THAT(found(" snapshot disk"), !Contains("CUR9504"));
  CHECK_THAT(found(""), Contains("CUR9504"));
}

TEST_CASE("letters of two scripts within one word are mixed, in two words they are not") {
  CHECK_FALSE(MixedScripts("platform"));
  CHECK_FALSE(MixedScripts("платформа platform"));
  CHECK_FALSE(MixedScripts("α-test"));
  CHECK(MixedScripts("pl\xd0\xb0tform") ==
        std::pair<std::string_view, std::string_view>("Latin", "Cyrillic"));
  CHECK_FALSE(MixedScripts("\xff\xfe"));
}

TEST_CASE("what looks like Latin letters is known, also in the ASCII form of a host") {
  CHECK(LatinTwin("\xd1\x80\xd0\xb0\xd1\x83.example")->text == "pay.example");
  CHECK(LatinTwin("\xd1\x80\xd0\xb0\xd1\x83")->script == "Cyrillic");
  CHECK_FALSE(LatinTwin("pay"));
  CHECK_FALSE(LatinTwin("платформа"));
  CHECK_FALSE(LatinTwin("\xd0\xb0"));
  CHECK_FALSE(LatinTwin("\xff\xfe"));
  CHECK(AsShown("https://xn--bcher-kva.example/") ==
        "https://b\xc3\xbc"
        "cher.example/");
  CHECK(AsShown("*.xn--mnchen-3ya.example") == "*.m\xc3\xbcnchen.example");
  CHECK(AsShown("xn--r8jz45g.example") == "\xe4\xbe\x8b\xe3\x81\x88.example");
  CHECK(LatinTwin(AsShown("xn--80ak6aa92e.example"))->text == "apple.example");
  // What is no such form stays.
  CHECK(AsShown("xn--\xff.example") == "xn--\xff.example");
  CHECK(AsShown("xn--99999999.example") == "xn--99999999.example");
  CHECK(AsShown("xn--.example") == "xn--.example");
}

TEST_CASE("what is removed takes its line along only where nothing else stands on it") {
  source::SourceMap sources;
  const std::string text = "a\n  b # c\n  d\ne f\n";
  const auto file = sources.Add({"p", text});
  const auto removed = [&](std::string_view what) {
    const auto begin = static_cast<std::uint32_t>(text.find(what));
    const auto span =
        RemovalOf(sources, {file, begin, begin + static_cast<std::uint32_t>(what.size())});
    return text.substr(0, span.begin) + text.substr(span.end);
  };
  CHECK(removed("d") == "a\n  b # c\ne f\n");
  CHECK(removed("b") == "a\n  # c\n  d\ne f\n");
  CHECK(removed("# c") == "a\n  b\n  d\ne f\n");
  CHECK(removed("f") == "a\n  b # c\n  d\ne\n");
}

TEST_CASE("of more findings than are shown the last thing said is TooManyFindings") {
  const auto unused = [](std::size_t lists) {
    std::string text(kImage);
    for (std::size_t i = 0; i < lists; ++i) {
      text += fmt::format("hosts h{} [\"h.example\"]\n", i);
    }
    text += "sandbox coding { image { allow python311 }  lifetime { ttl 1h } }\n";
    return Found(text, Category::Clarity);
  };
  const std::string code = "[" + diagnostics::CodeName(9007) + "]";
  CHECK_THAT(unused(FindingsMax / 2), !Contains(code));
  CHECK_THAT(unused(FindingsMax + 1), Contains(code));
}

TEST_CASE("ten thousand rules of one host are judged in time, and so are as many suppressions") {
  std::string text(kImage);
  text +=
      "sandbox coding when task.kind == \"coding\" {\n  image { allow python311 }\n  network {\n";
  for (int i = 0; i < 10'000; ++i) {
    text += fmt::format(
        "    {}\n    r{}: allow GET \"http://h.example/{}/**\" at \"10.0.0.0/24\"\n", kAllow, i, i);
  }
  text += "  }\n  lifetime { ttl 1h }\n}\n";
  CHECK_THAT(Found(text, std::nullopt), Contains("[CUR9005]"));
}

}  // namespace
}  // namespace curfew::lint
