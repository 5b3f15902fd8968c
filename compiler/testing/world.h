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
  explicit World(const model::PolicyModel& model) : model_(model) {}

  void Give(const model::GivenStep& given);
  // What time does to the sandbox meanwhile is done to it: idleness freezes it when it is due.
  void PassTime(std::int64_t duration_ms);
  void SetNow(std::int64_t wall_ms);
  // The sandbox's authority ends here; its grace begins.
  void Close();
  // It stands still until it is resumed.
  void Freeze();

  [[nodiscard]] bool has_sandbox() const { return sandbox_.has_value(); }

  // The request of a question. Its views are good until the next one.
  module::Request Ask(const model::AskStep& ask);

  // What an allowed question changes: a sandbox exists, was active, has exported.
  void Created(const module::PlanTemplate& granted, const module::CreatePlan& plan);
  void Allowed(const model::AskStep& ask, const module::Request& request);

 private:
  using Facts = std::map<std::string, model::Fact, std::less<>>;

  struct Sandbox {
    std::string class_name;
    Digest image;
    std::string creator;  // empty where the test does not say
    Facts sealed;         // task.* and caller.* of the create
    module::LifetimeTerms terms;
    module::LifetimeFacts life;
    std::int64_t hard_end_ms = 0;  // no renewal passes it
    std::int64_t renewals = 0;
    std::int64_t renewed_ms = 0;
    std::optional<std::int64_t> token_until_ms;
    std::int64_t exported_bytes = 0;
    std::int64_t egress_requests = 0;
    std::int64_t egress_bytes = 0;
  };

  void SetFact(module::Request& request, std::string_view path,
               const std::optional<model::Constant>& value);
  void SetText(module::Request& request, schema::Slot slot, std::string text);
  void SetUnlessKnown(module::Request& request, schema::Slot slot, std::int64_t integer);
  void AddGiven(module::Request& request);
  void AddHost(module::Request& request);
  void AddSandbox(module::Request& request);
  void AddRenewals(module::Request& request);
  void AddFrozen(module::Request& request);
  void AddAbsences(module::Request& request);
  [[nodiscard]] std::optional<schema::Slot> SlotOf(schema::Action action,
                                                   std::string_view path) const;
  [[nodiscard]] module::Value ValueOf(const model::Constant& constant);
  [[nodiscard]] module::Value ValueOf(const model::Scalar& scalar);
  [[nodiscard]] std::optional<values::Address> UnnamedAddress() const;

  const model::PolicyModel& model_;
  Facts given_;
  std::string first_caller_;
  std::int64_t elapsed_ms_ = 0;
  std::optional<std::int64_t> wall_offset_ms_;  // wall time at elapsed 0
  std::optional<Sandbox> sandbox_;
  std::int64_t running_ = 0;
  module::ValueArena arena_;
};

}  // namespace curfew::testing
