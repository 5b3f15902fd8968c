#include "runtime/execute/executor.h"

#include <fmt/format.h>

namespace curfew::execute {

namespace slot = schema::slot;

Executor::Executor(Driver& driver, Journal& journal, Checkpoint checkpoint, Progress progress)
    : driver_(driver),
      journal_(journal),
      checkpoint_(std::move(checkpoint)),
      progress_(std::move(progress)) {}

Outcome Executor::Create(gate::Permit<schema::Action::Create> permit, const plan::Plan& plan) {
  CURFEW_CHECK(begun_.empty(), "an executor creates one sandbox once");
  if (permit.answer().class_index != plan.class_index ||
      permit.facts().DigestAt(slot::CreateImage) != plan.image) {
    return Failure(FailureCode::Denied, "the plan is not the one that was allowed");
  }
  CURFEW_TRY_VOID(journal_.Intend(plan));
  checkpoint_("intended");
  Outcome walked = Walk(plan);
  if (!walked) End();
  return walked;
}

Outcome Executor::Walk(const plan::Plan& plan) {
  for (const plan::Step& step : plan.steps) {
    if (progress_.may_go_on) CURFEW_TRY_VOID(progress_.may_go_on());
    const std::string name(plan::NameOf(step));
    if (progress_.on_begin) progress_.on_begin(step);
    const auto index = static_cast<std::uint32_t>(begun_.size());
    CURFEW_TRY_VOID(journal_.Begin(index, step));
    begun_.push_back(step);
    checkpoint_(name + ".begun");
    Result<std::vector<Resource>> acquired = driver_.Act(step);
    if (!acquired) return std::move(acquired).error().In(name);
    checkpoint_(name + ".acted");
    CURFEW_TRY_VOID(journal_.Done(index, step, *acquired));
    checkpoint_(name + ".recorded");
    if (progress_.on_done) progress_.on_done(step);
  }
  return Ok();
}

void Executor::End() {
  while (!begun_.empty()) {
    const plan::Step step = begun_.back();
    const auto index = static_cast<std::uint32_t>(begun_.size() - 1);
    begun_.pop_back();
    const std::string name(plan::NameOf(step));
    checkpoint_(name + ".ending");
    const std::vector<Ended> ended = driver_.Undo(step);
    checkpoint_(name + ".ended");
    // What could not be written down is found again by the search for residue.
    static_cast<void>(journal_.Undone(index, step, ended));
    ended_.insert(ended_.end(), ended.begin(), ended.end());
  }
}

}  // namespace curfew::execute
