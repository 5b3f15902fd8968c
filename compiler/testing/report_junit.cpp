#include "compiler/base/xml_text.h"
#include "compiler/testing/report.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace curfew::testing {
namespace {

// "policies/coding" of "policies/coding.curfew": a dot would part a package from a class.
std::string_view ClassOf(std::string_view file) {
  constexpr std::string_view kExtension = ".curfew";
  if (file.ends_with(kExtension)) file.remove_suffix(kExtension.size());
  return file;
}

std::string CaseOf(const TestReport& test, const source::SourceMap& sources) {
  const std::string_view file = sources.name(test.span.file);
  std::string text =
      fmt::format("    <testcase name=\"{}\" classname=\"{}\" file=\"{}\" line=\"{}\"",
                  XmlAttribute(test.name), XmlAttribute(ClassOf(file)), XmlAttribute(file),
                  sources.PositionOf(test.span.file, test.span.begin).line);
  if (test.passed()) return text + "/>\n";
  std::string message;
  std::string details;
  for (const AskReport& ask : test.asks) {
    if (ask.passed()) continue;
    if (message.empty()) message = ask.failure;
    details += fmt::format("{}:\n  {}\n    expected  {}\n    actual    {}\n    {}\n",
                           sources.Describe(ask.span), ask.question, ask.expected, ask.actual,
                           ask.failure);
    for (const std::string& line : ask.why) details += fmt::format("      {}\n", line);
  }
  if (test.cut_short) details += fmt::format("{}\n", CutShort);
  return text + fmt::format(
                    ">\n      <failure type=\"answer\" message=\"{}\">{}</failure>\n"
                    "    </testcase>\n",
                    XmlAttribute(message), XmlText(details));
}

std::string CountsOf(std::size_t tests, std::size_t failures) {
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\"", tests, failures);
}

struct Suite {
  source::FileId file;
  std::vector<const TestReport*> tests;
};

// By file, in the order in which the files come first.
std::vector<Suite> SuitesOf(const Report& report) {
  std::vector<Suite> suites;
  for (const TestReport& test : report.tests) {
    auto suite = std::find_if(suites.begin(), suites.end(),
                              [&](const Suite& other) { return other.file == test.span.file; });
    if (suite == suites.end()) suite = suites.insert(suite, {test.span.file, {}});
    suite->tests.push_back(&test);
  }
  return suites;
}

}  // namespace

std::string RenderJunit(const Report& report, const source::SourceMap& sources) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"curfew test\" {}>\n",
      CountsOf(report.tests.size(), report.failed()));
  for (const Suite& suite : SuitesOf(report)) {
    const auto failures = std::count_if(suite.tests.begin(), suite.tests.end(),
                                        [](const TestReport* test) { return !test->passed(); });
    text += fmt::format("  <testsuite name=\"{}\" {}>\n", XmlAttribute(sources.name(suite.file)),
                        CountsOf(suite.tests.size(), static_cast<std::size_t>(failures)));
    for (const TestReport* test : suite.tests) text += CaseOf(*test, sources);
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace curfew::testing
