// What the keeper's verbs share while a sandbox serves: the gate, the questions, the books, the
// client, the sandbox's time. It only holds references and says small things in the right form.
#pragma once

#include "runtime/gate/gate.h"
#include "runtime/keeper/control.h"
#include "runtime/keeper/questions.h"
#include "runtime/keeper/sandbox_driver.h"
#include "runtime/lifecycle/books.h"
#include "runtime/lifecycle/lifetime_watch.h"

#include <functional>

namespace curfew::keeper {

struct Desk {
  const gate::Gate& gate;
  Questions& questions;
  lifecycle::Books& books;
  Control& control;
  SandboxDriver& driver;
  lifecycle::LifetimeWatch& lifetime;
  const host::Clock& clock;
  const plan::Plan& plan;
  std::function<SandboxFacts()> facts;
  execute::Checkpoint checkpoint;

  void TellDecision(std::uint32_t id, const gate::Answer& answer, std::string subject) const;
};

}  // namespace curfew::keeper
