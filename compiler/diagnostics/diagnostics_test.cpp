#include "compiler/diagnostics/render.h"
#include "compiler/diagnostics/sink.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace curfew::diagnostics {
namespace {

TEST_CASE("a report carries message, notes and fixes, and sorts by place") {
  source::SourceMap sources;
  const auto file = sources.Add({"p.curfew", "language 1\ndeny\tcreat\n"});
  Sink sink;
  sink.Report({file, 16, 21}, diag::MisspeltWord, "creat", "create")
      .Note({file, 0, 8}, diag::DeclaredHere, "language")
      .Fix({file, 16, 21}, "create");
  sink.Report({file, 9, 10}, diag::CannotFollow, "1", "language");
  CHECK(sink.error_count() == 2);
  CHECK(RenderText(sink, sources) ==
        "p.curfew:1:10: error: `1` cannot follow `language` [CUR2002]\n"
        "    1 | language 1\n"
        "      |          ^\n"
        "p.curfew:2:6: error: unknown word `creat`; did you mean `create`? [CUR2004]\n"
        "    2 | deny creat\n"
        "      |      ^~~~~\n"
        "p.curfew:1:1: note: `language` is declared here\n"
        "      = help: write `create` instead of `creat`\n"
        "2 errors\n");
  CHECK(RenderText(sink, sources, Color::Always).find("\x1b[1;31m") != std::string::npos);

  const auto json = nlohmann::json::parse(RenderJson(sink, sources));
  CHECK(json["version"] == 1);
  const auto& second = json["diagnostics"][1];
  CHECK(second["code"] == "CUR2004");
  CHECK(second["severity"] == "error");
  CHECK(second["file"] == "p.curfew");
  CHECK(second["range"]["start"] == nlohmann::json{{"line", 2}, {"column", 6}, {"offset", 16}});
  CHECK(second["fixes"][0]["replacement"] == "create");
  CHECK(second["notes"][0]["message"] == "`language` is declared here");
}

TEST_CASE("nothing in a source reaches the terminal as a control") {
  source::SourceMap sources;
  const auto file = sources.Add({"a\x1b[2J.curfew", "x \x1b[2J \xFF \xE2\x80\xAE y"});
  Sink sink;
  sink.Report({file, 2, 3}, diag::InvalidCharacter, "\x1b");
  const std::string text = RenderText(sink, sources);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("\xE2\x80\xAE") == std::string::npos);
  CHECK_NOTHROW(nlohmann::json::parse(RenderJson(sink, sources)));
}

TEST_CASE("a long line is shown as a window") {
  source::SourceMap sources;
  const auto file = sources.Add({"p", std::string(1'000'000, 'a') + "!"});
  Sink sink;
  sink.Report({file, 1'000'000, 1'000'001}, diag::InvalidCharacter, "!");
  CHECK(RenderText(sink, sources).size() < 1000);
}

TEST_CASE("a name as long as a file is cut in a message, a note and a help") {
  source::SourceMap sources;
  const std::string name(100'000, 'a');
  const auto file = sources.Add({"p", name});
  Sink sink;
  sink.Report({file, 0, 1}, diag::NameTaken, name)
      .Note({file, 0, 1}, diag::DeclaredHere, name)
      .Fix({file, 0, 1}, name);
  CHECK(RenderText(sink, sources).size() < 2000);
  CHECK(sink.diagnostics()[0].message.find(std::string(120, 'a') + "…") != std::string::npos);
  CHECK(sink.diagnostics()[0].fixes[0].replacement == name);
  // No code point is cut, short words of a long text stay, and the text has an end too.
  CHECK(Fitting("é" + name) == "é" + std::string(118, 'a') + "…");
  CHECK(Fitting("a" + std::string(59, 'b') + " " + name + " end") ==
        "a" + std::string(59, 'b') + " " + std::string(120, 'a') + "… end");
  std::string words;
  while (words.size() < 5000) words += "word ";
  CHECK(Fitting(words).size() < 1010);
  CHECK(Fitting(words).ends_with("word …"));
  CHECK(Fitting(words.substr(0, 900)) == words.substr(0, 900));
}

TEST_CASE("errors are bounded, counted, and the cut is said") {
  source::SourceMap sources;
  const auto file = sources.Add({"p", "x"});
  Sink sink;
  for (int i = 0; i < 1000; ++i) {
    sink.Report({file, 0, 1}, diag::InvalidCharacter, std::to_string(i)).Fix({file, 0, 1}, "y");
  }
  CHECK(sink.error_count() == 1000);
  CHECK(sink.diagnostics().size() == limits::DiagnosticsMax + 1);
  CHECK(sink.Sorted().back().code == diag::TooManyErrors.code);
}

TEST_CASE("what concerns the whole set has no place") {
  const source::SourceMap sources;
  Sink sink;
  sink.Report({}, diag::EmptyFile);
  CHECK(RenderText(sink, sources).starts_with("policy set: error: "));
  CHECK_FALSE(nlohmann::json::parse(RenderJson(sink, sources))["diagnostics"][0].contains("file"));
}

}  // namespace
}  // namespace curfew::diagnostics
