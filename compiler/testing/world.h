// The world of one test: what was given, which sandbox runs, what time it is. It turns a question
// into the request that the runtime would make.
#pragma once

#include "compiler/model/policy_model.h"
#include "compiler/module/create_plan.h"
#include "compiler/module/json_value.h"
#include "compiler/module/lifetime.h"
#include "compiler/module/request.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace curfew::testing {

class World {
 public:
  explicit World(const model::PolicyModel& model) : first_model_(&model), model_(&model) {}

  void Give(const model::GivenStep& given);
  // What time does to the sandbox meanwhile is done to it: idleness freezes it when it is due.
  void PassTime(std::int64_t duration_ms);
  void SetNow(std::int64_t wall_ms);
  // The sandbox's authority ends here; its grace begins.
  void Close();
  // It stands still until it is resumed.
  void Freeze();

  // Another policy set decides from here on. `granted`: what it grants the sandbox's class, if it
  // has it. An end of the sandbox only comes nearer.
  void Reload(const model::PolicyModel& model, const module::PlanTemplate* granted);

  [[nodiscard]] bool has_sandbox() const { return sandbox_.has_value(); }

  // The request of a question. Its views are good until the next one.
  module::Request Ask(const model::AskStep& ask);
  // Inside TLS that nobody reads the gateway sees no HTTP: what a step says of it the client alone
  // knows, and no rule (language.md section 5.11: one answer). A denial for want of it is one.
  [[nodiscard]] bool HidesHttp(const module::Request& request) const;

  // The two questions that a resume from a snapshot is: a sandbox of its class is created, with the
  // wishes that the resume states, and runs what was kept.
  module::Request AskCreateOf(const model::AskStep& resume);
  module::Request AskResumeOf(const model::AskStep& resume, const module::PlanTemplate& granted,
                              const module::CreatePlan& plan);

  // What an allowed question changes: a sandbox exists, was active, has exported.
  void Created(const module::PlanTemplate& granted, const module::CreatePlan& plan);
  void Resumed(const model::AskStep& resume, const module::PlanTemplate& granted,
               const module::CreatePlan& plan);
  void Allowed(const model::AskStep& ask, const module::Request& request);
  [[nodiscard]] const std::string* class_name() const {
    return sandbox_ ? &sandbox_->class_name : nullptr;
  }

 private:
  using Facts = std::map<std::string, model::Fact, std::less<>>;

  struct Snapshot {
    std::int64_t kind = 0;  // of schema::Enum::SnapshotKind
    std::string class_name;
    Digest image;
    std::string owner;
    std::string reason;
    Facts sealed;  // task.*
    std::int64_t taken_ms = 0;
    std::int64_t first_ms = 0;  // when the first of its line was taken
    std::int64_t expires_ms = 0;
    std::optional<std::int64_t> bytes;
    std::int64_t branches = 0;  // sandboxes that run from it
    bool policy_changed = false;
  };

  struct Sandbox {
    std::string class_name;
    module::PlanTemplate granted;
    std::optional<std::size_t> came_from;  // of snapshots_
    Digest image;
    std::string creator;  // empty where the test does not say
    Facts sealed;         // task.* and caller.* of the create
    module::LifetimeTerms terms;
    module::LifetimeFacts life;
    std::int64_t hard_end_ms = 0;  // no renewal passes it
    std::int64_t renewals = 0;
    std::int64_t renewed_ms = 0;
    std::optional<std::int64_t> token_until_ms;
    std::int64_t imported_bytes = 0;
    std::int64_t exported_bytes = 0;
    std::int64_t window_ms = 0;
    std::vector<std::int64_t> egress_at_ms;  // each request that left
    std::int64_t egress_bytes = 0;
  };

  void SetFact(module::Request& request, std::string_view path,
               const std::optional<model::Constant>& value);
  void SetText(module::Request& request, schema::Slot slot, std::string text);
  void SetUnlessKnown(module::Request& request, schema::Slot slot, std::int64_t integer);
  [[nodiscard]] std::int64_t RequestsInWindow() const;
  void AddGiven(module::Request& request);
  void AddHost(module::Request& request);
  void HideHttp(module::Request& request) const;
  void AddSandbox(module::Request& request);
  void AddRenewals(module::Request& request);
  void AddFrozen(module::Request& request);
  void AddTransferred(module::Request& request);
  void AddKept(module::Request& request);
  void AddSnapshot(module::Request& request, const model::AskStep& resume);
  void AddIsolation(module::Request& request);
  // The last snapshot of the kind that a resume names, or of any.
  [[nodiscard]] std::optional<std::size_t> ChosenBy(const model::AskStep& resume) const;
  // A fact that the question or the test states.
  [[nodiscard]] const model::Fact* FactOf(const model::AskStep& ask, std::string_view path) const;
  void TakeSnapshot(const module::Request& request);
  [[nodiscard]] std::string CallerOf() const;
  void AddAbsences(module::Request& request);
  [[nodiscard]] bool IsStillOfItsType(std::string_view path, const model::Type& type) const;
  [[nodiscard]] std::optional<schema::Slot> SlotOf(schema::Action action,
                                                   std::string_view path) const;
  [[nodiscard]] module::Value ValueOf(const model::Constant& constant);
  [[nodiscard]] module::Value ValueOf(const model::Scalar& scalar);
  [[nodiscard]] std::optional<values::Address> UnnamedAddress() const;

  const model::PolicyModel* first_model_;  // the test's own set
  const model::PolicyModel* model_;        // the set that decides
  Facts given_;
  std::string first_caller_;
  std::int64_t elapsed_ms_ = 0;
  std::optional<std::int64_t> wall_offset_ms_;  // wall time at elapsed 0
  std::optional<Sandbox> sandbox_;
  std::vector<Snapshot> snapshots_;
  std::int64_t running_ = 0;
  module::ValueArena arena_;
};

}  // namespace curfew::testing
