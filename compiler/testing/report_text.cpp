#include "compiler/base/text.h"
#include "compiler/source/shown.h"
#include "compiler/testing/report.h"

#include <fmt/format.h>

namespace curfew::testing {
namespace {

using source::Shown;

struct Palette {
  std::string_view bad, good, bold, plain;
};
constexpr Palette Plain{};
constexpr Palette Colored{"\x1b[1;31m", "\x1b[32m", "\x1b[1m", "\x1b[0m"};

void AppendAsk(std::string& text, const AskReport& ask, const Palette& palette) {
  text += fmt::format("  {}\n", Shown(ask.question));
  if (ask.passed()) {
    text += fmt::format("    {}\n", Shown(ask.actual));
    return;
  }
  text += fmt::format("    expected  {}{}{}\n    actual    {}{}{}\n    {}\n", palette.good,
                      Shown(ask.expected), palette.plain, palette.bad, Shown(ask.actual),
                      palette.plain, Shown(ask.failure));
  for (const std::string& line : ask.why) text += fmt::format("      {}\n", Shown(line));
}

void AppendCoverage(std::string& text, const CoverageReport& coverage) {
  text += fmt::format("{:.1f} % of the rules were met ({} of {})\n", coverage.percent(),
                      coverage.met.size(), coverage.met.size() + coverage.not_met.size());
  for (const std::string& id : coverage.not_met) text += fmt::format("  never met: {}\n", id);
  text += fmt::format("{:.1f} % of the clauses were met both ways ({} of {})\n",
                      coverage.clause_percent(), coverage.clauses_met(), coverage.clauses.size());
  for (const ClauseReport& clause : coverage.clauses) {
    if (clause.both()) continue;
    const std::string_view lack = clause.held     ? "never failed"
                                  : clause.failed ? "never held"
                                                  : "never seen";
    text += fmt::format("  {}: {}: {}\n", lack, clause.id, Shown(clause.text));
  }
}

}  // namespace

std::string RenderText(const Report& report, const source::SourceMap& sources,
                       const TextOptions& options) {
  const Palette& palette = options.color ? Colored : Plain;
  const auto place = [&sources](source::Span span) {
    return Printable(sources.Describe(span), 4096);
  };
  std::string text;
  for (const TestReport& test : report.tests) {
    if (test.passed() && !options.verbose) continue;
    text += fmt::format("{}{}:{} {}{}{} {}\n", palette.bold, place(test.span), palette.plain,
                        test.passed() ? palette.good : palette.bad, test.passed() ? "ok" : "FAIL",
                        palette.plain, Printable(test.name));
    for (const AskReport& ask : test.asks) {
      if (ask.passed() && !options.verbose) continue;
      text += fmt::format("  {}:\n", place(ask.span));
      AppendAsk(text, ask, palette);
    }
    if (test.cut_short) text += fmt::format("  {}\n", CutShort);
  }
  text += fmt::format("{} passed, {}{} failed{}\n", report.passed(),
                      report.failed() > 0 ? palette.bad : "", report.failed(),
                      report.failed() > 0 ? palette.plain : "");
  if (options.coverage) AppendCoverage(text, report.coverage);
  return text;
}

}  // namespace curfew::testing
