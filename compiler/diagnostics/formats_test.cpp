// The formats for machines: what README.md promises of them, and that nothing in a name, a message
// or a source breaks one.
#include "compiler/diagnostics/render.h"

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace curfew::diagnostics {
namespace {

using nlohmann::json;

json Sarif(const Sink& sink, const source::SourceMap& sources) {
  return json::parse(RenderSarif(sink, sources, "1.2.3"));
}

std::string UriOf(std::string name) {
  source::SourceMap sources;
  const auto file = sources.Add({std::move(name), "x"});
  Sink sink;
  sink.Report({file, 0, 1}, diag::EmptyFile);
  return Sarif(sink, sources)
      .at("/runs/0/results/0/locations/0/physicalLocation/artifactLocation"_json_pointer)
      .dump();
}

std::string Github(std::string name, source::Span span, std::string_view seen) {
  source::SourceMap sources;
  sources.Add({std::move(name), "one\ntwo\n"});
  Sink sink;
  sink.Report(span, diag::InvalidCharacter, seen);
  return RenderGithub(sink, sources);
}

TEST_CASE("SARIF: the rules are the registry, also when nothing was found") {
  const json document = Sarif(Sink(), source::SourceMap());
  CHECK(document["version"] == "2.1.0");
  REQUIRE(document["runs"].size() == 1);
  const json& run = document["runs"][0];
  CHECK(run["results"] == json::array());
  CHECK(run["columnKind"] == "unicodeCodePoints");
  CHECK(run["originalUriBaseIds"].contains("%SRCROOT%"));
  const json& driver = run["tool"]["driver"];
  CHECK(driver["name"] == "curfew");
  CHECK(driver["version"] == "1.2.3");
  REQUIRE(driver["rules"].size() == Registry().size());
  for (std::size_t i = 0; i < Registry().size(); ++i) {
    const json& rule = driver["rules"][i];
    CHECK(rule["id"] == CodeName(Registry()[i].code));
    CHECK(rule["name"] == Registry()[i].name);
    for (const char* text : {"shortDescription", "fullDescription", "help"}) {
      CHECK_FALSE(rule[text]["text"].get<std::string>().empty());
    }
    // SARIF calls an info a note.
    const bool is_info = Registry()[i].severity == Severity::Info;
    CHECK(rule["defaultConfiguration"]["level"] ==
          (is_info ? std::string("note") : std::string(NameOf(Registry()[i].severity))));
  }
}

TEST_CASE("SARIF: a result has its rule, its places in code points, and its fix") {
  source::SourceMap sources;
  const auto file = sources.Add({"p.curfew", "# é𝕏 creat\nlanguage 1\n"});
  Sink sink;
  sink.Report({file, 9, 14}, diag::MisspeltWord, "creat", "create")
      .Note({file, 15, 23}, diag::DeclaredHere, "language")
      .Fix({file, 9, 14}, "create")
      .Fix({file, 25, 25}, "s");
  const json run = Sarif(sink, sources)["runs"][0];
  const json& result = run["results"][0];
  CHECK(result["ruleId"] == "CUR2004");
  CHECK(run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"] == "CUR2004");
  CHECK(result["level"] == "error");
  CHECK(result["message"]["text"] == "unknown word `creat`; did you mean `create`?");
  const json place = {
      {"artifactLocation", {{"uri", "p.curfew"}, {"uriBaseId", "%SRCROOT%"}}},
      {"region", {{"startLine", 1}, {"startColumn", 6}, {"endLine", 1}, {"endColumn", 11}}}};
  CHECK(result["locations"] == json::array({{{"physicalLocation", place}}}));
  const json& related = result["relatedLocations"][0];
  CHECK(related["message"]["text"] == "`language` is declared here");
  CHECK(related["physicalLocation"]["region"]["startLine"] == 2);
  REQUIRE(result["fixes"].size() == 1);
  REQUIRE(result["fixes"][0]["artifactChanges"].size() == 1);
  const json& change = result["fixes"][0]["artifactChanges"][0];
  CHECK(change["artifactLocation"]["uri"] == "p.curfew");
  REQUIRE(change["replacements"].size() == 2);
  CHECK(change["replacements"][0]["deletedRegion"] == place["region"]);
  CHECK(change["replacements"][0]["insertedContent"]["text"] == "create");
  const json& insertion = change["replacements"][1]["deletedRegion"];
  CHECK(insertion["startColumn"] == insertion["endColumn"]);
  CHECK(insertion["startLine"] == insertion["endLine"]);
}

TEST_CASE("SARIF: a message is no template and no link; what has no place says none") {
  Sink sink;
  sink.Report({}, diag::InvalidCharacter, "{0} [a](https://evil.example)");
  const json result = Sarif(sink, source::SourceMap())["runs"][0]["results"][0];
  CHECK(result["message"]["text"] ==
        "`{{0}} [a] (https://evil.example)` begins nothing in the language");
  CHECK_FALSE(result.contains("locations"));
}

TEST_CASE("SARIF: names of files are URIs") {
  const auto relative = [](const std::string& uri) {
    return json{{"uri", uri}, {"uriBaseId", "%SRCROOT%"}}.dump();
  };
  CHECK(UriOf("./a/b.curfew") == relative("a/b.curfew"));
  CHECK(UriOf("a b%/é#?.curfew") == relative("a%20b%25/%C3%A9%23%3F.curfew"));
  CHECK(UriOf("c:d") == relative("c%3Ad"));
  CHECK(UriOf("<stdin>") == relative("%3Cstdin%3E"));
  CHECK(UriOf("\xff\n") == relative("%FF%0A"));
  CHECK(UriOf("../p") == relative("../p"));
  CHECK(UriOf("/tmp//a b") == json{{"uri", "file:///tmp/a%20b"}}.dump());
}

TEST_CASE("GitHub: one command a diagnostic, escaped, columns only within a line") {
  CHECK(Github("./p.curfew", {0, 4, 7}, "x") ==
        "::error file=p.curfew,line=2,col=1,endLine=2,endColumn=4,title=CUR1010::"
        "`x` begins nothing in the language\n");
  CHECK(Github("p", {0, 1, 6}, "x") ==
        "::error file=p,line=1,endLine=2,title=CUR1010::`x` begins nothing in the language\n");
  CHECK(Github("p", {}, "x") == "::error title=CUR1010::`x` begins nothing in the language\n");
  CHECK(Github("a:b,c%d\r\n::stop", {0, 0, 1}, "1:2,3%4\r\n::stop") ==
        "::error file=a%3Ab%2Cc%25d%0D%0A%3A%3Astop,line=1,col=1,endLine=1,endColumn=2,"
        "title=CUR1010::`1:2,3%254%0D%0A::stop` begins nothing in the language\n");
  CHECK(Github("\x1b[2Jé\xff", {0, 0, 1}, "\x1b").find('\x1b') == std::string::npos);
}

TEST_CASE("GitHub: second locations and fixes are further lines of the message") {
  source::SourceMap sources;
  const auto file = sources.Add({"p", "creat\n"});
  Sink sink;
  sink.Report({file, 0, 5}, diag::MisspeltWord, "creat", "create")
      .Note({file, 0, 5}, diag::FirstHere)
      .Fix({file, 0, 5}, "create");
  CHECK(RenderGithub(sink, sources) ==
        "::error file=p,line=1,col=1,endLine=1,endColumn=6,title=CUR2004::unknown word `creat`; "
        "did you mean `create`?%0Ap:1:1: note: first stated here%0A"
        "help: write `create` instead of `creat`\n");
}

TEST_CASE("any bytes in names, sources, messages and fixes give valid documents") {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): a test repeats itself
  const auto bytes = [&random](std::size_t count) {
    std::string text(count, '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    source::SourceMap sources;
    const auto file = sources.Add({bytes(12), bytes(60)});
    Sink sink;
    for (std::uint32_t at = 0; at < 60; at += 7) {
      const auto end = at + static_cast<std::uint32_t>(random() % (60 - at));
      sink.Report({file, at, end}, diag::InvalidCharacter, bytes(9))
          .Note({file, at, at}, diag::DeclaredHere, bytes(5))
          .Fix({file, at, at + 1}, bytes(4));
    }
    CHECK(json::parse(RenderJson(sink, sources))["diagnostics"].size() == 9);
    CHECK(Sarif(sink, sources)["runs"][0]["results"].size() == 9);
    const std::string commands = RenderGithub(sink, sources);
    CHECK(std::count(commands.begin(), commands.end(), '\n') == 9);
    CHECK(std::none_of(commands.begin(), commands.end(),
                       [](char c) { return c != '\n' && static_cast<unsigned char>(c) < 0x20; }));
  }
}

}  // namespace
}  // namespace curfew::diagnostics
