#include "compiler/testing/report.h"

#include "compiler/base/text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace curfew::testing {
namespace {

constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kPlain = "\x1b[0m";

std::string Painted(std::string_view text, std::string_view color, bool wanted) {
  return wanted ? fmt::format("{}{}{}", color, text, kPlain) : std::string(text);
}

void AppendAsk(std::string& text, const AskReport& ask) {
  text += fmt::format("  {}\n", ask.question);
  if (ask.passed()) {
    text += fmt::format("    {}\n", ask.actual);
    return;
  }
  text += fmt::format("    expected  {}\n    actual    {}\n    {}\n", ask.expected, ask.actual,
                      ask.failure);
}

void AppendCoverage(std::string& text, const CoverageReport& coverage) {
  text += fmt::format("{:.1f} % of the rules were met ({} of {})\n", coverage.percent(),
                      coverage.met.size(), coverage.met.size() + coverage.not_met.size());
  for (const std::string& id : coverage.not_met) text += fmt::format("  never met: {}\n", id);
}

// For XML text and attributes; control bytes have no form in XML 1.0.
std::string Xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return escaped;
}

source::Position PositionOf(const source::SourceMap& sources, source::Span span) {
  return sources.PositionOf(span.file, span.begin);
}

}  // namespace

std::string RenderText(const Report& report, const source::SourceMap& sources,
                       const TextOptions& options) {
  std::string text;
  for (const TestReport& test : report.tests) {
    if (test.passed() && !options.verbose) continue;
    text += fmt::format(
        "{}: {} {}\n", sources.Describe(test.span),
        test.passed() ? Painted("ok", kGreen, options.color) : Painted("FAIL", kRed, options.color),
        Printable(test.name));
    for (const AskReport& ask : test.asks) {
      if (ask.passed() && !options.verbose) continue;
      text += fmt::format("  {}:\n", sources.Describe(ask.span));
      AppendAsk(text, ask);
    }
    if (test.cut_short) text += "  nothing further was asked: there is no sandbox\n";
  }
  text += fmt::format("{} passed, {} failed\n", report.passed(), report.failed());
  if (options.coverage) AppendCoverage(text, report.coverage);
  return text;
}

std::string RenderJson(const Report& report, const source::SourceMap& sources) {
  using Json = nlohmann::ordered_json;
  Json tests = Json::array();
  for (const TestReport& test : report.tests) {
    Json asks = Json::array();
    for (const AskReport& ask : test.asks) {
      Json one = {{"line", PositionOf(sources, ask.span).line},
                  {"question", ask.question},
                  {"expected", ask.expected},
                  {"actual", ask.actual},
                  {"passed", ask.passed()}};
      if (!ask.passed()) one["failure"] = ask.failure;
      asks.push_back(std::move(one));
    }
    tests.push_back({{"name", test.name},
                     {"file", sources.name(test.span.file)},
                     {"line", PositionOf(sources, test.span).line},
                     {"passed", test.passed()},
                     {"cut_short", test.cut_short},
                     {"asks", std::move(asks)}});
  }
  const Json document = {{"version", 1},
                         {"passed", report.passed()},
                         {"failed", report.failed()},
                         {"tests", std::move(tests)},
                         {"coverage",
                          {{"percent", report.coverage.percent()},
                           {"met", report.coverage.met},
                           {"not_met", report.coverage.not_met}}}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string RenderJunit(const Report& report, const source::SourceMap& sources) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites>\n<testsuite name=\"curfew\" tests=\"{}\" failures=\"{}\">\n",
      report.tests.size(), report.failed());
  for (const TestReport& test : report.tests) {
    text += fmt::format("<testcase name=\"{}\" classname=\"{}\" file=\"{}\" line=\"{}\"",
                        Xml(test.name), Xml(sources.name(test.span.file)),
                        Xml(sources.name(test.span.file)), PositionOf(sources, test.span).line);
    if (test.passed()) {
      text += "/>\n";
      continue;
    }
    std::string message;
    std::string details;
    for (const AskReport& ask : test.asks) {
      if (ask.passed()) continue;
      if (message.empty()) message = ask.failure;
      details += fmt::format("{}:\n", sources.Describe(ask.span));
      AppendAsk(details, ask);
    }
    text += fmt::format(">\n<failure message=\"{}\">{}</failure>\n</testcase>\n", Xml(message),
                        Xml(details));
  }
  return text + "</testsuite>\n</testsuites>\n";
}

}  // namespace curfew::testing
