// Which clauses of the rules, and of the `when` of classes, were seen to hold, and which to fail: a
// rule that is met may still hold a clause that nothing tests. A clause is what `and`, `or` and
// `not` join, as far as an author wrote it; what a decision looks at is the conditions of the set
// and of the sandbox's class, and a `create` asks each class's `when`, of a class `by name` where
// it is named.
#pragma once

#include "compiler/explain/story.h"
#include "compiler/module/policy_module.h"
#include "compiler/module/verdict.h"
#include "compiler/module/written_clause.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace curfew::testing {

struct ClauseReport {
  std::string id;    // of the rule, or the class
  std::string text;  // egress.method in "GET", "HEAD"
  bool held = false;
  bool failed = false;
  [[nodiscard]] bool both() const { return held && failed; }
};

class ClauseCoverage {
 public:
  // `written` is sorted and of this module. The module outlives this.
  ClauseCoverage(const module::PolicyModule& policy,
                 std::span<const module::WrittenClause> written);

  // What a decision looked at. `judged` is the request with its left-out wishes filled in.
  void See(const module::Request& judged, const module::Verdict& verdict);

  // Of the classes' own conditions first; by rule and in the order of its condition; equal clauses
  // of one rule are one.
  [[nodiscard]] std::vector<ClauseReport> Report() const;

 private:
  struct Row {
    std::uint32_t node;
    ClauseReport report;
  };
  void AddEntries(std::size_t block, schema::Action action, module::Range entries,
                  std::span<const module::WrittenClause> written);
  void AddClass(std::uint32_t of, std::span<const module::WrittenClause> written);
  // Nothing where the clause is none that an author wrote, or one that never fails.
  void AddClause(std::vector<Row>& rows, module::RuleIndex rule, explain::Clause clause,
                 std::span<const module::WrittenClause> written);
  void SeeBlock(const module::Request& judged, std::size_t block);
  void SeeClasses(const module::Request& judged);
  void SeeRows(const module::Request& judged, std::vector<Row>& rows);

  const module::PolicyModule& policy_;
  std::vector<std::vector<Row>> classes_;
  std::vector<std::vector<Row>> rows_;  // by block
};

}  // namespace curfew::testing
