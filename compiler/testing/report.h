// What came out of a set's tests, for people and for machines.
#pragma once

#include "compiler/testing/run_tests.h"

#include <string>

namespace curfew::testing {

struct TextOptions {
  bool verbose = false;  // every test and question, not only those that failed
  bool color = false;
  bool coverage = false;  // name the rules that no question met
};

//   policy.curfew:84:3: FAIL a coding task
//     egress GET "https://…"
//       expected  deny only coding.network.default
//       actual    allow coding.network.python
//       a denial was expected, and it is allowed
//   3 passed, 1 failed
std::string RenderText(const Report& report, const source::SourceMap& sources,
                       const TextOptions& options);

// {"version": 1, "passed": 3, "failed": 1, "tests": [{"name", "file", "line", "passed",
// "cut_short", "asks": [{"line", "question", "expected", "actual", "passed", "failure"}]}],
// "coverage": {"percent", "met": [ids], "not_met": [ids]}}
std::string RenderJson(const Report& report, const source::SourceMap& sources);

// JUnit's XML, one case a test.
std::string RenderJunit(const Report& report, const source::SourceMap& sources);

}  // namespace curfew::testing
