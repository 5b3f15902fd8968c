// `deny`, `require` and `never` of a class or of the whole set, and the first two on trial.
#include "compiler/lower/lowering.h"

namespace curfew::lower {

NodeId WhileOnTrial(Lowering& lowering, const std::optional<model::Trial>& trial,
                    NodeId condition) {
  if (!trial || !trial->until_ms) return condition;
  return lowering.builder.And(lowering.Test(NodeOp::Less, schema::slot::Now, *trial->until_ms),
                              condition);
}

void LowerRules(Lowering& lowering, std::optional<model::ClassId> of_class, Action action,
                Block& block) {
  const auto lower = [&](const auto& rules, std::vector<Entry>& entries) {
    const auto found = rules.find(of_class);
    if (found == rules.end()) return;
    for (const model::Rule* rule : found->second) {
      if (!rule->actions.test(static_cast<std::size_t>(action))) continue;
      const std::string_view message = rule->message.empty()
                                           ? std::string_view("a rule of the policy denies it")
                                           : rule->message;
      const RuleIndex row = rule->never ? lowering.Never(rule->id, message, rule->span)
                                        : lowering.Deny(rule->id, message, rule->span);
      const auto [place, is_new] = lowering.conditions.try_emplace({rule, action}, 0);
      if (is_new) {
        place->second = LowerCondition(lowering, rule->condition, action);
        // What a `never` says is proven; that it could hold is no matter of a test.
        if (!rule->never) lowering.builder.Written(row, place->second);
      }
      entries.push_back({row, WhileOnTrial(lowering, rule->trial, place->second)});
    }
  };
  lower(lowering.rules, block.denials);
  lower(lowering.trials, block.trials);
}

}  // namespace curfew::lower
