#include "compiler/testing/report.h"

#include <nlohmann/json.hpp>

namespace curfew::testing {

std::string RenderJson(const Report& report, const source::SourceMap& sources) {
  using Json = nlohmann::ordered_json;
  const auto line_of = [&sources](source::Span span) {
    return sources.PositionOf(span.file, span.begin).line;
  };
  Json tests = Json::array();
  for (const TestReport& test : report.tests) {
    Json asks = Json::array();
    for (const AskReport& ask : test.asks) {
      Json one = {{"line", line_of(ask.span)},
                  {"question", ask.question},
                  {"expected", ask.expected},
                  {"actual", ask.actual},
                  {"passed", ask.passed()}};
      if (!ask.passed()) {
        one["failure"] = ask.failure;
        one["why"] = ask.why;
      }
      asks.push_back(std::move(one));
    }
    tests.push_back({{"name", test.name},
                     {"file", sources.name(test.span.file)},
                     {"line", line_of(test.span)},
                     {"passed", test.passed()},
                     {"cut_short", test.cut_short},
                     {"asks", std::move(asks)}});
  }
  Json clauses = Json::array();
  for (const ClauseReport& clause : report.coverage.clauses) {
    clauses.push_back({{"id", clause.id},
                       {"clause", clause.text},
                       {"held", clause.held},
                       {"failed", clause.failed}});
  }
  const Json document = {{"version", 1},
                         {"passed", report.passed()},
                         {"failed", report.failed()},
                         {"tests", std::move(tests)},
                         {"coverage",
                          {{"percent", report.coverage.percent()},
                           {"met", report.coverage.met},
                           {"not_met", report.coverage.not_met},
                           {"clause_percent", report.coverage.clause_percent()},
                           {"clauses", std::move(clauses)}}}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace curfew::testing
