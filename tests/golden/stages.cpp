#include "compiler/check/check.h"
#include "compiler/diagnostics/render.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/ir/encode.h"
#include "compiler/ir/print.h"
#include "compiler/lower/lower.h"
#include "compiler/model/print.h"
#include "compiler/syntax/format.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"
#include "compiler/testing/report.h"
#include "tests/golden/stage.h"

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

Printed RunCheck(const source::SourceMap& sources) {
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  const model::PolicyModel model = check::Check(trees, sources, sink);
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

// The tests that the set carries, every question of them, and the rules that none met.
Printed RunTests(const source::SourceMap& sources) {
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
  const testing::Report report =
      testing::RunTests(model, sources, engine, [](std::string_view) { return true; });
  return {RenderText(report, sources, {.verbose = true, .coverage = true}), report.failed() > 0};
}

constexpr Stage All[] = {
    {"syntax", RunSyntax, 1000, 2999}, {"fmt", RunFormat, 0, 0}, {"check", RunCheck, 3000, 6999},
    {"lower", RunLower, 0, 0},         {"test", RunTests, 0, 0},
};

}  // namespace

std::span<const Stage> Stages() { return All; }

}  // namespace curfew::golden
