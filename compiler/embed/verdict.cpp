#include "compiler/embed/handles.h"

namespace curfew::embed {
namespace {

const module::RuleList* ListOf(const curfew_verdict& verdict, int kind) {
  switch (kind) {
    case CURFEW_DENIALS:
      return &verdict.room.verdict.denials;
    case CURFEW_ALLOWS:
      return &verdict.room.verdict.allows;
    case CURFEW_TRIALS:
      return &verdict.room.verdict.trials;
    default:
      return nullptr;
  }
}

// As if nobody had decided: denied, for no reason.
void Forget(curfew_verdict& verdict) {
  verdict.policy = nullptr;
  verdict.room.verdict.effect = module::Effect::Deny;
}

}  // namespace
}  // namespace curfew::embed

using namespace curfew;
using namespace curfew::embed;

extern "C" {

curfew_status curfew_verdict_new(curfew_verdict** verdict, curfew_error* error) {
  return Guard(error, [&]() -> curfew_status {
    if (verdict == nullptr) return Fail(error, CURFEW_INVALID_ARGUMENT, "the place is NULL");
    *verdict = new curfew_verdict();
    return CURFEW_OK;
  });
}

void curfew_verdict_free(curfew_verdict* verdict) { delete verdict; }

curfew_status curfew_decide(const curfew_policy* policy, const curfew_request* request,
                            curfew_verdict* verdict) {
  if (verdict == nullptr) return CURFEW_INVALID_ARGUMENT;
  Forget(*verdict);
  // Slots of declared facts are those of one policy only.
  if (policy == nullptr || request == nullptr || request->policy.get() != policy) {
    return CURFEW_INVALID_ARGUMENT;
  }
  return Guard(nullptr, [&] {
    policy->engine().DecidePrepared(request->request, verdict->room.verdict);
    verdict->action = request->request.request().action();
    verdict->policy = policy;
    return CURFEW_OK;
  });
}

curfew_status curfew_decide_many(const curfew_policy* policy, const curfew_request* const* requests,
                                 curfew_verdict* const* verdicts, size_t count) {
  if (count > 0 && (requests == nullptr || verdicts == nullptr)) return CURFEW_INVALID_ARGUMENT;
  curfew_status first = CURFEW_OK;
  for (size_t i = 0; i < count; ++i) {
    const curfew_status status = curfew_decide(policy, requests[i], verdicts[i]);
    if (first == CURFEW_OK) first = status;
  }
  return first;
}

int curfew_verdict_allows(const curfew_verdict* verdict) {
  return verdict != nullptr && verdict->policy != nullptr &&
                 verdict->room.verdict.effect == module::Effect::Allow
             ? 1
             : 0;
}

int curfew_verdict_is_undecided(const curfew_verdict* verdict) {
  return verdict != nullptr && verdict->policy != nullptr && verdict->room.verdict.undecided ? 1
                                                                                             : 0;
}

curfew_text curfew_verdict_missing_fact(const curfew_verdict* verdict) {
  if (curfew_verdict_is_undecided(verdict) == 0) return {"", 0};
  const auto& facts = verdict->policy->FactsOf(verdict->action);
  const schema::Slot slot = verdict->room.verdict.undecided_slot;
  return slot < facts.size() ? TextOf(facts[slot].path) : curfew_text{"", 0};
}

uint64_t curfew_verdict_generation(const curfew_verdict* verdict) {
  return verdict == nullptr || verdict->policy == nullptr ? 0 : verdict->room.verdict.generation;
}

curfew_text curfew_verdict_class(const curfew_verdict* verdict) {
  if (verdict == nullptr || verdict->policy == nullptr ||
      verdict->room.verdict.class_index == module::NoClass) {
    return {"", 0};
  }
  return TextOf(verdict->policy->policy().class_name(verdict->room.verdict.class_index));
}

size_t curfew_verdict_reason_count(const curfew_verdict* verdict, curfew_reason_kind kind) {
  if (verdict == nullptr || verdict->policy == nullptr) return 0;
  const module::RuleList* list = ListOf(*verdict, kind);
  return list == nullptr ? 0 : list->written().size();
}

curfew_status curfew_verdict_reason(const curfew_verdict* verdict, curfew_reason_kind kind,
                                    size_t index, curfew_reason* reason) {
  if (reason == nullptr || index >= curfew_verdict_reason_count(verdict, kind)) {
    return CURFEW_INVALID_ARGUMENT;
  }
  const module::RuleInfo rule =
      verdict->policy->policy().rule(ListOf(*verdict, kind)->written()[index]);
  *reason = {TextOf(rule.id), TextOf(rule.message), TextOf(rule.file), rule.line, rule.column};
  return CURFEW_OK;
}

int curfew_verdict_is_cut(const curfew_verdict* verdict) {
  if (verdict == nullptr || verdict->policy == nullptr) return 0;
  const module::Verdict& of = verdict->room.verdict;
  return of.denials.overflowed() || of.allows.overflowed() || of.trials.overflowed() ? 1 : 0;
}

}  // extern "C"
