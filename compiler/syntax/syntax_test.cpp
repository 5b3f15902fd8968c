#include "compiler/diagnostics/render.h"
#include "compiler/syntax/format.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"
#include "compiler/syntax/string_literal.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <sys/resource.h>

#include <catch2/catch.hpp>

namespace curfew::syntax {
namespace {

using diagnostics::Sink;

// One text, read as far as it goes.
struct Reading {
  source::SourceMap sources;
  Sink sink;
  TokenList tokens;
  Ast ast;

  explicit Reading(std::string text) {
    sources.Add({"test.curfew", std::move(text)});
    tokens = Lex(sources, 0, sink);
    ast = Parse(tokens, sink);
  }
  [[nodiscard]] std::string Errors() const { return RenderText(sink, sources); }
};

// Every golden input, without what stands below it: a corpus of all forms and all mistakes.
std::vector<std::string> GoldenInputs() {
  std::vector<std::string> inputs;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(CURFEW_SOURCE_DIR "/tests/golden")) {
    if (entry.path().extension() != ".curfew") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    inputs.push_back(text.str().substr(0, text.str().find("#--- expected\n")));
  }
  REQUIRE(inputs.size() > 30);
  // Some stages share inputs.
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  return inputs;
}

// What must hold of any text whatever.
void CheckAnyText(const std::string& text) {
  const Reading reading(text);
  for (const diagnostics::Diagnostic& diagnostic : reading.sink.diagnostics()) {
    if (diagnostic.span.is_nowhere()) continue;
    REQUIRE(diagnostic.span.begin <= diagnostic.span.end);
    REQUIRE(diagnostic.span.end <= text.size());
  }
  RenderText(reading.sink, reading.sources);
  // What is declared has a place, also where its head has a mistake: an editor shows both.
  const auto has_place = [&](source::Span span) {
    REQUIRE(span.file == 0);
    REQUIRE(span.begin <= span.end);
    REQUIRE(span.end <= text.size());
  };
  for (const Declaration& declaration : reading.ast.declarations) {
    std::visit([&](const auto& declared) { has_place(declared.span); }, declaration);
    const auto* sandbox = std::get_if<SandboxDecl>(&declaration);
    if (sandbox == nullptr) continue;
    for (const SandboxMember& member : sandbox->members) {
      std::visit([&](const auto& of) { has_place(of.span); }, member);
    }
  }
  if (reading.sink.has_errors()) return;
  const std::string formatted = Format(reading.tokens, reading.ast);
  const Reading again(formatted);
  REQUIRE(again.Errors().empty());
  REQUIRE(Equal(reading.ast, again.ast));
  REQUIRE(Format(again.tokens, again.ast) == formatted);
}

TEST_CASE("every byte that is not white space belongs to one token") {
  const std::string text =
      "deny create # why\n  when a.b == \"c d\" and x >= 2h -> { } \xC3\xA9 @\n";
  source::SourceMap sources;
  Sink sink;
  const TokenList list = Lex(sources, sources.Add({"t", text}), sink);
  std::string rebuilt(text.size(), ' ');
  for (const Token& token : list.tokens) {
    rebuilt.replace(token.begin, token.end - token.begin, list.TextOf(token));
  }
  std::string expected = text;
  for (char& c : expected) {
    if (c == '\n') c = ' ';
  }
  CHECK(rebuilt == expected);
  CHECK(list.tokens[0].starts_line);
  CHECK_FALSE(list.tokens[1].starts_line);
  CHECK(list.tokens[2].kind == TokenKind::Comment);
  CHECK(list.tokens[3].starts_line);
}

TEST_CASE("spans say where a thing stands") {
  const Reading reading("x: deny create when (a or b)\n  because \"no\"\n");
  REQUIRE(reading.Errors().empty());
  const auto& rule = std::get<Rule>(reading.ast.declarations.at(0));
  const auto text = [&](Span span) { return reading.sources.text(span); };
  CHECK(text(rule.span) == "x: deny create when (a or b)\n  because \"no\"");
  CHECK(text(rule.label->span) == "x");
  CHECK(text(rule.actions.at(0).span) == "create");
  CHECK(text(rule.tail.when->span) == "(a or b)");
  CHECK(text(rule.tail.when->operands.at(1).span) == "b");
  CHECK(text(rule.tail.because->span) == "\"no\"");
  CHECK(rule.tail.because->text == "no");
}

TEST_CASE("blocks span up to their brace, and docs belong to what stands below") {
  const Reading reading(
      "# no doc\n\n## one\n##  two\nsandbox a {\n  ## three\n  lifetime { ttl 2h }\n}\n"
      "## lost\n\nimage b { ref \"x\" }\n");
  REQUIRE(reading.Errors().empty());
  const auto& sandbox = std::get<SandboxDecl>(reading.ast.declarations.at(0));
  CHECK(sandbox.doc.lines == std::vector<std::string>{"one", " two"});
  CHECK(reading.sources.text(sandbox.span).ends_with("}\n}"));
  const auto& plane = std::get<Plane>(sandbox.members.at(0));
  CHECK(plane.doc.lines == std::vector<std::string>{"three"});
  CHECK(reading.sources.text(plane.span) == "lifetime { ttl 2h }");
  CHECK(std::get<ImageDecl>(reading.ast.declarations.at(1)).doc.lines.empty());
}

TEST_CASE("string literals and their values are each other's inverse") {
  for (const std::string_view value : {"", "plain", "\"\\\n\t", "\\*", "a\\*b\\c",
                                       "\xC3\xA9\xF0\x9F\x98\x80", "\xE2\x80\xAE", "\r"}) {
    const std::string literal = StringLiteral(value);
    INFO(literal);
    CHECK_FALSE(FindEscapeFault(literal));
    CHECK(StringValue(literal) == value);
  }
  CHECK(StringValue("\"\\u{41}\\u{1f600}\"") == "A\xF0\x9F\x98\x80");
  CHECK(FindEscapeFault("\"a\\x\"")->begin == 2);
  CHECK(StringValue("\"open") == "open");
  CHECK(StringValue("\"open\\") == "open\\");
}

TEST_CASE("a mistake leaves the statements around it in the tree") {
  const Reading reading("deny create\ndeny creat\ndeny exec\n");
  CHECK(reading.sink.error_count() == 1);
  CHECK(reading.ast.declarations.size() == 2);
}

TEST_CASE("about forty characters that hide are refused at each gap between tokens") {
  const std::string text = "deny create when a == \"b\" # c";
  for (const char* character :
       {"\xC2\xAD",         "\xCD\x8F",     "\xD8\x9C",     "\xE1\x85\x9F", "\xE1\x85\xA0",
        "\xE1\x9E\xB4",     "\xE1\x9E\xB5", "\xE1\xA0\x8E", "\xE2\x80\x8B", "\xE2\x80\x8C",
        "\xE2\x80\x8D",     "\xE2\x80\x8E", "\xE2\x80\x8F", "\xE2\x80\xA8", "\xE2\x80\xA9",
        "\xE2\x80\xAA",     "\xE2\x80\xAB", "\xE2\x80\xAC", "\xE2\x80\xAD", "\xE2\x80\xAE",
        "\xE2\x81\xA0",     "\xE2\x81\xA1", "\xE2\x81\xA2", "\xE2\x81\xA3", "\xE2\x81\xA4",
        "\xE2\x81\xA6",     "\xE2\x81\xA7", "\xE2\x81\xA8", "\xE2\x81\xA9", "\xE2\x81\xAF",
        "\xE3\x85\xA4",     "\xEF\xB8\x8F", "\xEF\xBB\xBF", "\xEF\xBE\xA0", "\xEF\xBF\xB9",
        "\xF3\xA0\x80\x81", "\x1B",         "\x07",         "\x7F",         "\r"}) {
    for (std::size_t gap = 0; gap <= text.size(); ++gap) {
      if (gap > 0 && gap < text.size() && text[gap] != ' ') continue;
      Reading reading(text.substr(0, gap) + character + text.substr(gap));
      INFO("gap " << gap << " of " << character);
      REQUIRE(reading.sink.has_errors());
      REQUIRE(reading.sink.diagnostics().front().code / 100 == 10);
    }
  }
}

TEST_CASE("deleting any token, or doubling some, is parsed without harm") {
  for (const std::string& input : GoldenInputs()) {
    const Reading whole(input);
    if (whole.sink.has_errors()) continue;
    const auto& tokens = whole.tokens.tokens;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::string_view text = whole.tokens.TextOf(tokens[i]);
      std::string deleted = input;
      deleted.erase(tokens[i].begin, text.size());
      CheckAnyText(deleted);
      if (i % 4 != 0) continue;
      std::string doubled = input;
      doubled.insert(tokens[i].begin, std::string(text) + " ");
      CheckAnyText(doubled);
    }
  }
}

TEST_CASE("random bytes and mutations of policies do no harm") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  const std::vector<std::string> inputs = GoldenInputs();
  static constexpr std::string_view Bits[] = {"{",    "}",    "(",     ")",   "[",   "]",  "\"",
                                              "\n",   " ",    "deny",  ":",   ",",   "->", "when",
                                              "2h",   "#",    "allow", "not", "and", "\\", "..",
                                              "\xFF", "\xC3", "none",  "GET", "=",   "a.b"};
  for (int round = 0; round < 3000; ++round) {
    std::string text = inputs[below(inputs.size())];
    if (text.size() > 8192) text.resize(8192);
    const std::size_t edits = 1 + below(4);
    for (std::size_t edit = 0; edit < edits && !text.empty(); ++edit) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text.erase(at, 1 + below(20));
          break;
        case 1:
          text.insert(at, Bits[below(std::size(Bits))]);
          break;
        case 2:
          text[at] = static_cast<char>(below(256));
          break;
        default:
          text.insert(at, text.substr(below(text.size()), 1 + below(60)));
          break;
      }
    }
    INFO(text);
    CheckAnyText(text);
  }
}

double ProcessorSeconds() {
  rusage now{};
  ::getrusage(RUSAGE_SELF, &now);
  return static_cast<double>(now.ru_utime.tv_sec) + static_cast<double>(now.ru_utime.tv_usec) / 1e6;
}

std::string Repeat(std::string_view text, std::size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST_CASE("hostile sizes cost in proportion, with few diagnostics", "[size]") {
  // What a text of about `bytes` is made of: a beginning, what is repeated, an end.
  struct Hostile {
    std::string_view name, begin, repeated, end;
  };
  static constexpr Hostile Texts[] = {
      {"parentheses", "deny create when ", "(", ""},
      {"braces", "", "{", ""},
      {"closing braces", "", "}", ""},
      {"pairs of brackets", "", "[]", ""},
      {"a list", "hosts a [", "\"x\",", "]"},
      {"a list without its end", "hosts a [", "\"x\",", ""},
      {"a list with a mistake at its end", "hosts a [", "\"x\",", "==]"},
      {"a conjunction", "deny create when a", " and a", ""},
      {"a chain", "deny create when a", " < a", ""},
      {"a sum", "deny create when a", " + a", ""},
      {"denials", "deny create when ", "not ", "a"},
      {"names", "", "a ", ""},
      {"names by line", "", "a\n", ""},
      {"labels", "", "a:", ""},
      {"statements that end early", "", "deny\n", ""},
      {"statements that take the next line", "", "deny create when\n", ""},
      {"heads without blocks", "", "sandbox a\n", ""},
      {"rules", "", "deny create\n", ""},
      {"blocks", "", "sandbox a { network { tls inspect } }\n", ""},
      {"blocks in one line", "", "sandbox a { network { tls inspect } } ", ""},
      {"statements in one line", "sandbox a { network {", " deny any", "} }"},
      {"strings that never end", "", "\"a\n", ""},
      {"escapes", "deny create because \"", "\\u{", "\""},
      {"one name", "", "a", ""},
      {"one path", "deny create when a", ".a", ""},
      {"comments", "", "# \xC3\xA9\n", ""},
      {"docs", "", "##\n", "deny create"},
      {"spaces", "", " ", "deny create"},
      {"hidden characters", "", "\xE2\x80\xAE", ""},
  };
  const auto seconds_of = [](const Hostile& hostile, std::size_t bytes) {
    const std::string text = std::string(hostile.begin) +
                             Repeat(hostile.repeated, bytes / hostile.repeated.size()) +
                             std::string(hostile.end);
    const double before = ProcessorSeconds();
    const Reading reading(text);
    REQUIRE(reading.sink.diagnostics().size() <= limits::DiagnosticsMax + 1);
    REQUIRE(RenderText(reading.sink, reading.sources).size() < 1024 * 1024);
    if (!reading.sink.has_errors()) Format(reading.tokens, reading.ast);
    return ProcessorSeconds() - before;
  };
  for (const Hostile& hostile : Texts) {
    INFO(hostile.name);
    const double small = seconds_of(hostile, 48 * 1024);
    const double large = seconds_of(hostile, 8 * 48 * 1024);
    // Eight times is linear, sixty-four quadratic; explaining a mistake comes on top of some.
    CHECK(large < 20 * small + 2);
  }
}

TEST_CASE("a statement that is too long is refused in the time that one which fits is read",
          "[size]") {
  const auto seconds_of = [](std::size_t terms, std::size_t errors) {
    const std::string text = "deny create when a == \"x\"" + Repeat(" and a == \"x\"", terms);
    const double before = ProcessorSeconds();
    REQUIRE(Reading(text).sink.error_count() == errors);
    return ProcessorSeconds() - before;
  };
  const double fits = seconds_of(limits::StatementTokensMax / 4 - 2, 0);
  CHECK(seconds_of(limits::StatementTokensMax / 2, 1) < 4 * fits + 0.5);
}

TEST_CASE("a statement has a greatest length, and what stands behind it is still read") {
  const auto list_of = [](std::size_t elements) {
    return Reading("hosts a [" + Repeat("\"x\",", elements) + "]\ndeny creat\n");
  };
  CHECK(list_of(limits::StatementTokensMax / 2 - 2).sink.error_count() == 1);
  const Reading reading = list_of(limits::StatementTokensMax / 2);
  REQUIRE(reading.sink.error_count() == 2);
  CHECK(reading.sink.diagnostics()[0].code == diag::StatementTooLong.code);
  CHECK(reading.sink.diagnostics()[1].code == diag::MisspeltWord.code);
}

}  // namespace
}  // namespace curfew::syntax
