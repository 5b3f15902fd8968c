// What came out of a set's tests, for people and for machines; one file a format. Any bytes in
// names and answers give a valid document. compiler/tool/README.md has the formats as contracts.
#pragma once

#include "compiler/testing/run_tests.h"

#include <string>
#include <string_view>

namespace curfew::testing {

struct TextOptions {
  bool verbose = false;  // every test and question, not only those that failed
  bool color = false;
  bool coverage = false;  // name the rules that no question met, and clauses not seen both ways
};

// What is said of a test that ended at a create that was refused.
inline constexpr std::string_view CutShort = "nothing further was asked: there is no sandbox";

//   policy.curfew:84:3: FAIL a coding task
//     egress GET "https://…"
//       expected  deny only coding.network.default
//       actual    allow coding.network.python
//       a denial was expected, and it is allowed
//         allowed by coding.network.python
//           egress.method in "GET", "HEAD" holds: egress.method is "GET"
//   3 passed, 1 failed
// Safe to print on a terminal whatever the sources hold.
std::string RenderText(const Report& report, const source::SourceMap& sources,
                       const TextOptions& options);

// {"version": 1, "passed": 3, "failed": 1, "tests": [{"name", "file", "line", "passed",
// "cut_short", "asks": [{"line", "question", "expected", "actual", "passed", "failure", "why"}]}],
// "coverage": {"percent", "met": [ids], "not_met": [ids], "clause_percent", "clauses": [{"id",
// "clause", "held", "failed"}]}}
std::string RenderJson(const Report& report, const source::SourceMap& sources);

// JUnit's XML: a suite for each file, a case for each test, with file and line; a failure has what
// was wrong first as its message, and every wrong answer with both operands as its text.
std::string RenderJunit(const Report& report, const source::SourceMap& sources);

}  // namespace curfew::testing
