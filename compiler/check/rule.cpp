#include "compiler/check/rule.h"

#include "compiler/base/check.h"
#include "compiler/check/expression.h"
#include "compiler/check/literal.h"
#include "compiler/model/print.h"
#include "compiler/values/quantity.h"

#include <array>

namespace curfew::check {

schema::Action ActionOf(syntax::Action action) {
  switch (action) {
    case syntax::Action::Create:
      return schema::Action::Create;
    case syntax::Action::Resume:
      return schema::Action::Resume;
    case syntax::Action::Exec:
      return schema::Action::Exec;
    case syntax::Action::Egress:
      return schema::Action::Egress;
    case syntax::Action::Expose:
      return schema::Action::Expose;
    case syntax::Action::Snapshot:
      return schema::Action::Snapshot;
    case syntax::Action::Import:
      return schema::Action::Import;
    case syntax::Action::Export:
      return schema::Action::Export;
    case syntax::Action::Extend:
      return schema::Action::Extend;
    case syntax::Action::Observe:
      return schema::Action::Observe;
  }
  CURFEW_UNREACHABLE("the switch names every action");
}

std::optional<CheckedTail> CheckTail(Context& context, const syntax::Tail& tail,
                                     schema::Action action) {
  CheckedTail checked;
  if (tail.because) checked.message = tail.because->text;
  if (!tail.when) return checked;
  Readable readable;
  readable.actions.set(static_cast<std::size_t>(action));
  const auto condition = ExpressionChecker(context, readable).Condition(*tail.when);
  if (!condition) return std::nullopt;
  checked.condition = *condition;
  return checked;
}

std::optional<model::Trial> CheckTrial(Context& context, const syntax::Trial& trial) {
  model::Trial checked{std::nullopt, trial.span};
  if (!trial.until) {
    context.sink.Report(trial.span, diag::TrialWithoutEnd);
    return checked;
  }
  const auto time = values::ParseTime(trial.until->text);
  if (!time) {
    ReportWrong(context, trial.until->span, "a time", time.error());
    return std::nullopt;
  }
  checked.until_ms = *time;
  return checked;
}

void CheckRule(Context& context, const syntax::Rule& rule, std::optional<model::ClassId> of_class) {
  model::Rule checked;
  checked.of_class = of_class;
  checked.span = rule.span;
  checked.never = rule.effect == syntax::Rule::Effect::Never;
  if (rule.tail.because) checked.message = rule.tail.because->text;
  Readable readable;
  for (const syntax::ActionName& name : rule.actions) {
    const auto action = static_cast<std::size_t>(ActionOf(name.action));
    if (checked.actions[action]) {
      context.sink.Report(name.span, diag::StatedTwice, syntax::NameOf(name.action));
    }
    checked.actions.set(action);
  }
  readable.actions = checked.actions;
  if (rule.trial) {
    checked.trial = CheckTrial(context, *rule.trial);
    if (!checked.trial) return;
  }

  ExpressionChecker checker(context, readable);
  bool whole = true;
  if (rule.tail.when) {
    const auto when = checker.Condition(*rule.tail.when);
    whole = when.has_value();
    if (when) checked.condition = *when;
  }
  const bool require = rule.effect == syntax::Rule::Effect::Require;
  if (require && rule.condition) {
    const auto condition = checker.Condition(*rule.condition);
    if (!condition) return;
    // `require X when W` denies where W holds and X does not.
    model::Expressions& all = context.model.expressions;
    const model::Type boolean{schema::TypeKind::Bool};
    const Span span = rule.condition->span;
    const model::ExprId failed =
        all.Add(model::ExprKind::Not, boolean, span, std::array{*condition});
    checked.condition =
        checked.condition == model::NoExpr
            ? failed
            : all.Add(model::ExprKind::And, boolean, span, std::array{checked.condition, failed});
  }
  if (!whole) return;
  const std::string scope =
      of_class ? model::At(context.model, *of_class).name : std::string("set");
  const std::string_view effect = checked.trial   ? "trial"
                                  : require       ? "require"
                                  : checked.never ? "never"
                                                  : "deny";
  auto id = ClaimId(context, scope, rule.label, effect, model::RuleText(context.model, checked),
                    rule.span);
  if (!id) return;
  checked.id = *std::move(id);
  auto& rules = checked.trial ? context.model.trials : context.model.rules;
  rules.push_back(std::move(checked));
}

}  // namespace curfew::check
