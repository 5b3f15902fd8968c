#include "compiler/prove/check_uses.h"

#include <algorithm>

namespace curfew::prove {
namespace {

struct Asked {
  module::RuleIndex rule;
  source::Span span;
  bool may_be_covered;  // it grants nothing beside what it allows
};

// Those of which something may be said, the last of the text first: of two that say the same the
// first one stays.
std::vector<Asked> RulesOf(const model::PolicyModel& model, const module::PolicyModule& policy) {
  std::vector<Asked> asked;
  const auto add = [&](const std::string& id, source::Span span, bool may_be_covered) {
    const auto rule = policy.FindRule(id);
    // An id may have several rows, each of which is a part of what the author wrote.
    if (!rule) return;
    const bool is_alone = *rule + 1 == policy.rule_count() || policy.rule(*rule + 1).id != id;
    if (is_alone) asked.push_back({*rule, span, may_be_covered});
  };
  for (const model::Class& of : model.classes) {
    for (const model::EgressRule& rule : of.network.rules) {
      if (rule.trial) continue;
      const bool is_plain = rule.pins.empty() && !rule.secret && !rule.encoded_slash;
      add(rule.id, rule.span, is_plain);
    }
  }
  for (const model::Rule& rule : model.rules) {
    if (rule.of_class && !rule.never && !rule.trial) add(rule.id, rule.span, true);
  }
  std::ranges::sort(asked, [](const Asked& a, const Asked& b) { return b.span < a.span; });
  return asked;
}

}  // namespace

void CheckUses(const model::PolicyModel& model, ByteView module, const std::string& library,
               diagnostics::Sink& sink, UseBudget budget) {
  const auto policy = module::PolicyModule::Load(module, 0);
  CURFEW_CHECK(policy.has_value(), "what was just compiled loads");
  const std::vector<Asked> asked = RulesOf(model, *policy);
  if (asked.empty()) return;
  std::vector<module::RuleIndex> rules;
  for (const Asked& one : asked) rules.push_back(one.rule);
  const auto uses = FindUses(library, module, rules, budget);
  if (!uses) {
    sink.Report({}, diag::UsesNotAsked, uses.error().message);
    return;
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    switch ((*uses)[i]) {
      case Use::Unknown:
        break;
      case Use::IdleDeny:
        sink.Report(asked[i].span, diag::IdleDeny);
        break;
      case Use::DeadAllow:
        sink.Report(asked[i].span, diag::DeadAllow);
        break;
      case Use::CoveredAllow:
        if (asked[i].may_be_covered) sink.Report(asked[i].span, diag::CoveredAllow);
        break;
    }
  }
}

}  // namespace curfew::prove
