#include "compiler/check/check.h"
#include "compiler/diagnostics/render.h"
#include "compiler/import/import.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/ir/encode.h"
#include "compiler/ir/print.h"
#include "compiler/lint/lint.h"
#include "compiler/lower/lower.h"
#include "compiler/model/print.h"
#include "compiler/prove/check_nevers.h"
#include "compiler/prove/check_uses.h"
#include "compiler/syntax/format.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"
#include "compiler/testing/report.h"
#include "compiler/values/quantity.h"
#include "tests/golden/stage.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace curfew::golden {

namespace {

Printed RunSyntax(const source::SourceMap& sources) {
  diagnostics::Sink sink;
  std::string text;
  for (const syntax::Ast& ast : syntax::ParseAll(sources, sink)) text += syntax::Print(ast);
  if (sink.has_errors()) return {diagnostics::RenderText(sink, sources), true};
  return {std::move(text), false};
}

// The formatted text, when its promises hold for it: same tree, and a fixed point.
Printed RunFormat(const source::SourceMap& sources) {
  std::string text;
  for (source::FileId file = 0; file < sources.size(); ++file) {
    diagnostics::Sink sink;
    const syntax::TokenList tokens = syntax::Lex(sources, file, sink);
    const syntax::Ast ast = syntax::Parse(tokens, sink);
    if (sink.has_errors()) return {diagnostics::RenderText(sink, sources), true};
    const std::string formatted = syntax::Format(tokens, ast);
    source::SourceMap again;
    again.Add({"formatted", formatted});
    const syntax::TokenList tokens_again = syntax::Lex(again, 0, sink);
    const syntax::Ast ast_again = syntax::Parse(tokens_again, sink);
    if (sink.has_errors()) return {"broken: " + diagnostics::RenderText(sink, again), true};
    if (!syntax::Equal(ast, ast_again)) return {"the tree has changed\n" + formatted, true};
    if (syntax::Format(tokens_again, ast_again) != formatted) {
      return {"not a fixed point\n" + formatted, true};
    }
    text += formatted;
  }
  return {std::move(text), false};
}

// 2026-06-01T00:00:00Z, by which trials are over.
constexpr std::int64_t kNowMs = 1'780'272'000'000;

Printed RunCheck(const source::SourceMap& sources) {
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  const model::PolicyModel model = check::Check(trees, sources, sink);
  check::CheckTrialEnds(model, kNowMs, sink);
  if (sink.has_errors()) return {diagnostics::RenderText(sink, sources), true};
  return {model::Print(model), false};
}

// Decision code, which is proven as it is built.
Printed RunLower(const source::SourceMap& sources) {
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  const model::PolicyModel model = check::Check(trees, sources, sink);
  if (sink.has_errors()) return {diagnostics::RenderText(sink, sources), true};
  const auto code = lower::Lower(model, sources);
  if (!code) return {code.error().message + "\n", true};
  return {ir::Print(*code), false};
}

// Every never of a set, by the prover beside this program.
Printed RunProve(const source::SourceMap& sources) {
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  const model::PolicyModel model = check::Check(trees, sources, sink);
  if (sink.has_errors()) return {diagnostics::RenderText(sink, sources), true};
  const auto code = lower::Lower(model, sources);
  if (!code) return {code.error().message + "\n", true};
  prove::CheckNevers(model, ir::Encode(*code), prove::LibraryBesideProgram(), sink);
  if (sink.has_errors()) return {diagnostics::RenderText(sink, sources), true};
  return {"proven\n", false};
}

// Runs the tests that the set carries and prints what came out.
template <typename Print>
Printed TestAndPrint(const source::SourceMap& sources, const Print& print) {
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  const model::PolicyModel model = check::Check(trees, sources, sink);
  if (sink.has_errors()) return {diagnostics::RenderText(sink, sources), true};
  const auto code = lower::Lower(model, sources);
  if (!code) return {code.error().message + "\n", true};
  const Bytes bytes = ir::Encode(*code);
  auto policy = module::PolicyModule::Load(bytes, 0);
  if (!policy) return {policy.error().message + "\n", true};
  const interpret::Interpreter engine(*std::move(policy));
  const testing::Report report = testing::RunTests(model, sources, engine, code->written,
                                                   [](std::string_view) { return true; });
  return {print(report), report.failed() > 0};
}

// Every question of every test, and the rules that none met.
Printed RunTests(const source::SourceMap& sources) {
  return TestAndPrint(sources, [&sources](const testing::Report& report) {
    return RenderText(report, sources, {.verbose = true, .coverage = true});
  });
}

// What came of the tests, in each format.
Printed RunReports(const source::SourceMap& sources) {
  return TestAndPrint(sources, [&sources](const testing::Report& report) {
    return fmt::format("text\n{}\njson\n{}\njunit\n{}", RenderText(report, sources, {}),
                       RenderJson(report, sources), RenderJunit(report, sources));
  });
}

// The policy that comes of another product's, what the import says, and what a check says then.
Printed RunImport(const source::SourceMap& sources) {
  const import::Imported made =
      import::Import({std::string(sources.name(0)), std::string(sources.text(0))}, "golden", {});
  std::string text = RenderText(made.diagnostics, made.sources);
  if (!made.policy) return {std::move(text), made.diagnostics.has_errors()};
  source::SourceMap again;
  again.Add({"imported.curfew", *made.policy});
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(again, sink);
  if (!sink.has_errors()) check::Check(trees, again, sink);
  text += fmt::format("\npolicy\n{}\nits check\n{}", *made.policy, RenderText(sink, again));
  return {std::move(text), made.diagnostics.has_errors() && sink.has_errors()};
}

// The findings on one set.
Printed LintSet(const source::SourceMap& sources) {
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  const model::PolicyModel model = check::Check(trees, sources, sink);
  if (sink.has_errors()) return {diagnostics::RenderText(sink, sources), true};
  const auto code = lower::Lower(model, sources);
  if (!code) return {code.error().message + "\n", true};
  prove::CheckUses(model, ir::Encode(*code), prove::LibraryBesideProgram(), sink);
  const module::Tables tables = ir::View(*code);
  diagnostics::Sink findings;
  lint::Lint(trees, sources, &model,
             {.now_ms = *values::ParseTime("2026-11-30T00:00:00Z"),
              .category = {},
              .warnings = sink.diagnostics(),
              .code = &tables},
             findings);
  return {RenderText(findings, sources), !findings.diagnostics().empty()};
}

// Each file behind the first is a set of its own, with the first beside it.
Printed RunLint(const source::SourceMap& sources) {
  if (sources.size() == 1) return LintSet(sources);
  Printed all;
  for (source::FileId file = 1; file < sources.size(); ++file) {
    source::SourceMap set;
    set.Add({std::string(sources.name(0)), std::string(sources.text(0))});
    set.Add({std::string(sources.name(file)), std::string(sources.text(file))});
    const Printed one = LintSet(set);
    all.text += one.text;
    all.failed = all.failed || one.failed;
  }
  return all;
}

// A SARIF log with only the rules that its results name, and indices into those, so that a new
// diagnostic changes no golden file. An index that led to another rule stays as it was.
std::string WithRulesMet(std::string_view sarif) {
  using Json = nlohmann::ordered_json;
  Json log = Json::parse(sarif);
  Json& run = log["runs"][0];
  Json& results = run["results"];
  const Json rules = std::exchange(run["tool"]["driver"]["rules"], Json::array());
  Json& met = run["tool"]["driver"]["rules"];
  for (std::size_t i = 0; i < rules.size(); ++i) {
    bool is_met = false;
    for (Json& result : results) {
      if (result["ruleId"] != rules[i]["id"] || result["ruleIndex"] != i) continue;
      result["ruleIndex"] = met.size();
      is_met = true;
    }
    if (is_met) met.push_back(rules[i]);
  }
  return log.dump(2) + "\n";
}

// The diagnostics of a set in each format; text coloured too, its escapes written as \e.
Printed RunFormats(const source::SourceMap& sources) {
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  if (!sink.has_errors()) check::Check(trees, sources, sink);
  std::string colored;
  for (const char c : RenderText(sink, sources, diagnostics::Color::Always)) {
    colored += c == '\x1b' ? std::string("\\e") : std::string(1, c);
  }
  return {fmt::format("text\n{}\ntext, coloured\n{}\njson\n{}\nsarif\n{}\njunit\n{}\ngithub\n{}",
                      RenderText(sink, sources), colored, RenderJson(sink, sources),
                      WithRulesMet(RenderSarif(sink, sources, "1.2.3")), RenderJunit(sink, sources),
                      RenderGithub(sink, sources)),
          sink.has_errors()};
}

constexpr Stage All[] = {
    {"syntax", RunSyntax, 1000, 2999},
    {"fmt", RunFormat, 0, 0},
    {"check", RunCheck, 3000, 6499},
    {"lower", RunLower, 0, 0},
    {"prove", RunProve, 6500, 6999},
    {"test", RunTests, 0, 0},
    {"reports", RunReports, 0, 0},
    {"formats", RunFormats, 0, 0},
    {"import", RunImport, 9700, 9799, ".yaml"},
    {"lint", RunLint, 9000, 9599},
};

}  // namespace

std::span<const Stage> Stages() { return All; }

}  // namespace curfew::golden
