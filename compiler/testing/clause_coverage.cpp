#include "compiler/testing/clause_coverage.h"

#include "compiler/explain/clause.h"
#include "compiler/interpret/evaluate.h"

#include <algorithm>
#include <map>
#include <utility>

namespace curfew::testing {
namespace {

// `/**` is every path, and so it never fails.
bool CanFail(const module::Tables& tables, std::uint32_t index) {
  const module::NodeRecord& node = tables.nodes[index];
  return node.op != module::NodeOp::PathIn || node.c != 1 ||
         tables.TextOf(tables.patterns[node.b].text) != "/**";
}

}  // namespace

ClauseCoverage::ClauseCoverage(const module::PolicyModule& policy,
                               std::span<const module::WrittenClause> written)
    : policy_(policy) {
  const module::Tables& tables = policy.tables();
  rows_.resize(tables.blocks.size());
  classes_.resize(tables.classes.size());
  for (std::uint32_t of = 0; of < classes_.size(); ++of) AddClass(of, written);
  const auto add_block = [&](std::size_t block, schema::Action action) {
    const module::BlockRecord& record = tables.blocks[block];
    AddEntries(block, action, record.checks, written);
    AddEntries(block, action, record.denials, written);
    for (std::uint32_t i = 0; i < record.groups.count; ++i) {
      AddEntries(block, action, tables.groups[record.groups.first + i].entries, written);
    }
    AddEntries(block, action, record.trials, written);
  };
  for (const schema::ActionInfo& info : schema::Actions()) {
    add_block(module::SetBlock(tables.classes.size(), info.action), info.action);
    for (std::uint32_t of = 0; of < tables.classes.size(); ++of) {
      add_block(module::BlockOf(of, info.action), info.action);
    }
  }
}

void ClauseCoverage::AddEntries(std::size_t block, schema::Action action, module::Range entries,
                                std::span<const module::WrittenClause> written) {
  const module::Tables& tables = policy_.tables();
  for (std::uint32_t i = entries.first; i < entries.first + entries.count; ++i) {
    const module::EntryRecord& entry = tables.entries[i];
    // What silence means has no file: nobody wrote it.
    if (policy_.rule(entry.rule).file.empty()) continue;
    for (const std::uint32_t condition : {entry.condition, entry.within}) {
      for (explain::Clause& clause : explain::ClausesOf(policy_, action, condition)) {
        AddClause(rows_[block], entry.rule, std::move(clause), written);
      }
    }
  }
}

// What it inherits is its base's.
void ClauseCoverage::AddClass(std::uint32_t of, std::span<const module::WrittenClause> written) {
  const module::ClassRecord& record = policy_.tables().classes[of];
  for (explain::Clause& clause : explain::ClausesOf(policy_, schema::Action::Create, record.when)) {
    AddClause(classes_[of], record.rule, std::move(clause), written);
  }
}

void ClauseCoverage::AddClause(std::vector<Row>& rows, module::RuleIndex rule,
                               explain::Clause clause,
                               std::span<const module::WrittenClause> written) {
  const module::WrittenClause key{rule, clause.node};
  if (!std::ranges::binary_search(written, key) || !CanFail(policy_.tables(), clause.node)) return;
  rows.push_back(
      {clause.node, {std::string(policy_.rule(rule).id), std::move(clause.text), false, false}});
}

void ClauseCoverage::See(const module::Request& judged, const module::Verdict& verdict) {
  const std::size_t classes = policy_.tables().classes.size();
  if (judged.action() == schema::Action::Create) SeeClasses(judged);
  SeeBlock(judged, module::SetBlock(classes, judged.action()));
  if (verdict.class_index == module::NoClass) return;
  SeeBlock(judged, module::BlockOf(verdict.class_index, judged.action()));
}

void ClauseCoverage::SeeBlock(const module::Request& judged, std::size_t block) {
  SeeRows(judged, rows_[block]);
}

void ClauseCoverage::SeeClasses(const module::Request& judged) {
  const auto is_asked = [&](const module::ClassRecord& record) {
    if (record.by_name == 0) return true;
    constexpr schema::Slot slot = schema::slot::CreateClass;
    return judged.is_known(slot) && judged.is_present(slot) &&
           judged.value(slot).text() == policy_.tables().NameOf(record.name);
  };
  for (std::uint32_t of = 0; of < classes_.size(); ++of) {
    if (is_asked(policy_.tables().classes[of])) SeeRows(judged, classes_[of]);
  }
}

void ClauseCoverage::SeeRows(const module::Request& judged, std::vector<Row>& rows) {
  for (Row& row : rows) {
    if (row.report.both()) continue;
    const interpret::Truth truth =
        interpret::EvaluateNode(policy_.tables(), judged.facts(), row.node, nullptr);
    row.report.held |= truth.is_true();
    row.report.failed |= truth.is_false();
  }
}

std::vector<ClauseReport> ClauseCoverage::Report() const {
  std::vector<ClauseReport> reports;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> known;
  const auto report = [&](const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      const auto [at, is_new] = known.try_emplace({row.report.id, row.report.text}, reports.size());
      if (is_new) {
        reports.push_back(row.report);
      } else {
        reports[at->second].held |= row.report.held;
        reports[at->second].failed |= row.report.failed;
      }
    }
  };
  for (const std::vector<Row>& rows : classes_) report(rows);
  for (const std::vector<Row>& rows : rows_) report(rows);
  return reports;
}

}  // namespace curfew::testing
