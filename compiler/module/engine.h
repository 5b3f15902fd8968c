// What a gate needs of an engine: the interpreter (interpret/) or native code (native/), chosen by
// a program's main.
#pragma once

#include "compiler/module/request.h"
#include "compiler/module/verdict.h"

namespace curfew::module {

class PolicyModule;

class DecisionEngine {
 public:
  DecisionEngine() = default;
  DecisionEngine(const DecisionEngine&) = delete;
  DecisionEngine& operator=(const DecisionEngine&) = delete;
  virtual ~DecisionEngine() = default;

  // Total and bounded: every request gets an answer, and no request can fail, allocate or block.
  // Thread-safe.
  virtual void Decide(const Request& request, Verdict& verdict) const = 0;

  // The module that it decides by; names rules and classes of verdicts. Lives at least as long as
  // the engine.
  [[nodiscard]] virtual const PolicyModule& module() const = 0;

  // "interpreter" or "native", for tests and messages.
  [[nodiscard]] virtual std::string_view kind() const = 0;
};

}  // namespace curfew::module
