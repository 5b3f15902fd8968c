// The policy set that decides now. The gate, whoever asks it and whoever puts its answers on record
// read it here and keep no other reference, so that a reload changes all of them at once.
#pragma once

#include "compiler/module/engine.h"

namespace curfew::gate {

class PolicyInForce {
 public:
  // The engine outlives this, or the next Adopt.
  explicit PolicyInForce(const module::DecisionEngine& engine) : engine_(&engine) {}
  PolicyInForce(const PolicyInForce&) = delete;
  PolicyInForce& operator=(const PolicyInForce&) = delete;

  // While nobody asks: the keeper holds the sandbox's lock.
  void Adopt(const module::DecisionEngine& engine) { engine_ = &engine; }

  [[nodiscard]] const module::DecisionEngine& engine() const { return *engine_; }
  [[nodiscard]] const module::PolicyModule& module() const { return engine_->module(); }

 private:
  const module::DecisionEngine* engine_;
};

}  // namespace curfew::gate
