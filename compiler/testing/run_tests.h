// The tests that policies carry (language.md section 11), run: each asks its questions of a
// decision engine as the runtime would, in a world where time passes only when the test says so.
// report.h prints what came out.
#pragma once

#include "compiler/model/policy_model.h"
#include "compiler/module/engine.h"
#include "compiler/source/source.h"
#include "compiler/testing/clause_coverage.h"

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace curfew::testing {

// One question of a test, and what was answered.
struct AskReport {
  source::Span span;
  std::string question;  // as the author wrote it, on one line
  std::string expected;  // "deny only coding.network.default"
  std::string actual;    // "allow coding.network.python"
  // Why it failed; empty where it passed. "expected …, but …", or the fact that the test leaves
  // unknown.
  std::string failure;
  // Of a failed answer: what gave it (why.h), a line each.
  std::vector<std::string> why;
  [[nodiscard]] bool passed() const { return failure.empty(); }
};

struct TestReport {
  std::string name;
  source::Span span;
  std::vector<AskReport> asks;
  // After a create that was refused nothing further is asked: there is no sandbox to ask about.
  bool cut_short = false;
  [[nodiscard]] bool passed() const;
};

// Which of the set's rules some question met, and which of their clauses were seen both ways.
struct CoverageReport {
  std::vector<std::string> met;      // ids, sorted
  std::vector<std::string> not_met;  // ids, sorted
  std::vector<ClauseReport> clauses;
  [[nodiscard]] double percent() const;
  [[nodiscard]] std::size_t clauses_met() const;  // both ways
  [[nodiscard]] double clause_percent() const;
};

struct Report {
  std::vector<TestReport> tests;
  CoverageReport coverage;
  [[nodiscard]] std::size_t passed() const;
  [[nodiscard]] std::size_t failed() const { return tests.size() - passed(); }
};

// What `reload "file"` puts into force: a set that is checked and compiled, alive while tests run.
struct Reloaded {
  const model::PolicyModel* model = nullptr;
  const module::DecisionEngine* engine = nullptr;
};
// The set behind a `reload`, named as the file that holds the test names it.
using Reloads = std::map<std::pair<source::FileId, std::string>, Reloaded>;

// Runs every test of the model whose name `wanted` accepts, in the order of the text. The engine
// decides by the module of the same model, and `written` is of that module (ir::DecisionIr); a
// `reload` of a set that `reloads` does not hold fails its test.
Report RunTests(const model::PolicyModel& model, const source::SourceMap& sources,
                const module::DecisionEngine& engine,
                std::span<const module::WrittenClause> written,
                const std::function<bool(std::string_view)>& wanted, const Reloads& reloads = {});

}  // namespace curfew::testing
