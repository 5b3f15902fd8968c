// Interpreter: the decision engine that reads a module's tables as they lie. It is the meaning of a
// module (compiler/ir/README.md says it in words); native code must agree with it on every request.
#pragma once

#include "compiler/interpret/decision.h"
#include "compiler/module/engine.h"
#include "compiler/module/policy_module.h"

namespace curfew::interpret {

class Interpreter final : public module::DecisionEngine {
 public:
  // The bytes behind `policy` must outlive the interpreter.
  explicit Interpreter(module::PolicyModule policy, UseIndex use_index = UseIndex::Yes)
      : module_(std::move(policy)), use_index_(use_index) {}

  void Decide(const module::Request& request, module::Verdict& verdict) const override;
  void DecidePrepared(const module::PreparedRequest& prepared,
                      module::Verdict& verdict) const override;
  [[nodiscard]] module::PreparedRequest Prepare(const module::Request& request) const override;
  [[nodiscard]] module::InternedText Intern(std::string_view text) const override;
  [[nodiscard]] const module::PolicyModule& module() const override { return module_; }
  [[nodiscard]] std::string_view kind() const override { return "interpreter"; }

 private:
  module::PolicyModule module_;
  UseIndex use_index_;
};

}  // namespace curfew::interpret
