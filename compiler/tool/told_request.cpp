#include "compiler/tool/told_request.h"

#include "compiler/explain/clause.h"
#include "compiler/explain/fact_text.h"
#include "compiler/module/policy_module.h"
#include "compiler/module/request_json.h"
#include "compiler/tool/asked_request.h"

#include <algorithm>
#include <set>

namespace curfew::tool {
namespace {

// What the entries of these rules read, where a request of the class meets them.
std::set<schema::Slot> SlotsOf(const module::PolicyModule& policy, schema::Action action,
                               const module::Verdict& verdict) {
  const module::Tables& t = policy.tables();
  std::set<schema::Slot> slots;
  const auto add = [&](const module::RuleList& rules, module::Range range) {
    const auto written = rules.written();
    for (const auto& entry : t.entries.subspan(range.first, range.count)) {
      if (!std::ranges::binary_search(written, entry.rule)) continue;
      for (const std::uint32_t node : {entry.condition, entry.within}) {
        if (node == module::NoIndex) continue;
        const auto read = explain::SlotsRead(t, node);
        slots.insert(read.begin(), read.end());
      }
    }
  };
  std::vector<std::size_t> blocks{module::SetBlock(policy.class_count(), action)};
  if (verdict.class_index != module::NoClass) {
    blocks.push_back(module::BlockOf(verdict.class_index, action));
  }
  for (const std::size_t block : blocks) {
    add(verdict.denials, t.blocks[block].denials);
    const module::Range groups = t.blocks[block].groups;
    for (const auto& group : t.groups.subspan(groups.first, groups.count)) {
      add(verdict.allows, group.entries);
    }
  }
  return slots;
}

}  // namespace

Result<ToldRequest> Tell(const module::DecisionEngine& engine, std::string_view request) {
  const module::PolicyModule& policy = engine.module();
  CURFEW_TRY(module::RequestDecoding decoding,
             module::DecodeRequestText(request, policy.declared(), module::StatedBy::Author));
  if (!decoding) {
    return Failure(FailureCode::Malformed,
                   "no request of the set: " + decoding.problems.front().pointer + " " +
                       decoding.problems.front().message);
  }
  Complete(*decoding.decoded, 0);
  const module::Request& asked = decoding.decoded->request;
  ToldRequest told{AnswerOf(engine, asked), {}};
  module::VerdictRoom room;
  engine.Decide(asked, room.verdict);
  std::set<schema::Slot> slots = SlotsOf(policy, asked.action(), room.verdict);
  slots.erase(schema::slot::HostCapabilities);
  const explain::Vocabulary vocabulary(policy, asked.action());
  for (const schema::Slot slot : slots) told.facts.push_back(vocabulary.SeenIn(asked, slot));
  return told;
}

std::string FactLines(const ToldRequest& told, std::string_view indent) {
  std::string text;
  for (const std::string& fact : told.facts) text.append(indent).append(fact).append("\n");
  return text;
}

}  // namespace curfew::tool
