#include "runtime/gate/gate.h"

#include "compiler/module/policy_module.h"
#include "compiler/module/request_axioms.h"

#include <utility>

namespace curfew::gate {
namespace {

constexpr std::string_view Undecided = "gate.undecided";
constexpr std::string_view Fault = "gate.fault";
constexpr std::string_view Unrecorded = "gate.unrecorded";
constexpr std::string_view Invalid = "request.invalid";

std::vector<Reason> NamesOf(const module::PolicyModule& policy, const module::RuleList& rules) {
  std::vector<Reason> reasons;
  for (const module::RuleIndex index : rules.written()) {
    if (index >= policy.rule_count()) continue;
    const module::RuleInfo rule = policy.rule(index);
    reasons.push_back({.id = std::string(rule.id),
                       .message = std::string(rule.message),
                       .file = std::string(rule.file),
                       .line = rule.line});
  }
  return reasons;
}

void DenyWith(Answer& answer, std::string_view id, std::string message) {
  if (answer.allowed) answer.reasons.clear();
  answer.allowed = false;
  answer.reasons.push_back(
      {.id = std::string(id), .message = std::move(message), .file = {}, .line = 0});
}

}  // namespace

Answer Gate::Judge(schema::Action action, const module::Request& request) const {
  const module::PolicyModule& policy = policy_.module();
  Answer answer;
  answer.action = action;
  answer.stage = request.stage();
  answer.generation = policy.manifest().generation;
  if (request.action() != action) {
    DenyWith(answer, Undecided, "the request is one of another action");
    return answer;
  }
  for (const module::RequestProblem& broken : module::BrokenAxioms(request)) {
    DenyWith(answer, Invalid, broken.pointer + ": " + broken.message);
  }
  if (!answer.reasons.empty()) return answer;
  module::VerdictRoom room;
  module::Verdict& verdict = room.verdict;
  policy_.engine().Decide(request, verdict);

  answer.allowed = verdict.effect == module::Effect::Allow && verdict.denials.count == 0 &&
                   verdict.allows.count != 0 && verdict.class_index < policy.class_count() &&
                   !verdict.undecided;
  answer.class_index = verdict.class_index;
  if (verdict.class_index < policy.class_count()) {
    answer.class_name = policy.class_name(verdict.class_index);
  }
  answer.reasons = NamesOf(policy, answer.allowed ? verdict.allows : verdict.denials);
  answer.trials = NamesOf(policy, verdict.trials);
  answer.cut =
      verdict.denials.overflowed() || verdict.allows.overflowed() || verdict.trials.overflowed();
  if (module::OnlyNeversDeny(policy, verdict)) {
    DenyWith(answer, Fault, std::string(module::OnlyNeversDenySentence));
  }
  if (!answer.allowed && answer.reasons.empty()) {
    DenyWith(answer, Undecided, "the decision code gave no reason, so nothing is allowed");
  }
  return answer;
}

void Gate::Enter(Answer& answer, const module::Request* request) const {
  const Outcome recorded = sink_.Record(answer, request);
  if (recorded || !answer.allowed) return;
  DenyWith(answer, Unrecorded,
           "the decision could not be put on record: " + recorded.error().message);
}

template <schema::Action A>
Decision<A> Gate::Decide(const module::Request& request) const {
  Decision<A> decision{.answer = Judge(A, request), .permit = std::nullopt};
  Enter(decision.answer, &request);
  if (decision.answer.allowed) decision.permit = Permit<A>(decision.answer, Facts(request));
  return decision;
}

#define CURFEW_ACTION(name, word, asked, granted) \
  template Decision<schema::Action::name> Gate::Decide(const module::Request& request) const;
#include "compiler/schema/actions.def"
#undef CURFEW_ACTION

Answer Gate::Refuse(schema::Action action, std::string_view why) const {
  Answer answer;
  answer.action = action;
  answer.generation = policy_.module().manifest().generation;
  DenyWith(answer, Invalid, std::string(why));
  Enter(answer, nullptr);
  return answer;
}

}  // namespace curfew::gate
