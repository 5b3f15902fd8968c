// What a gate needs of an engine: the interpreter (interpret/) or native code (native/), chosen by
// a program's main.
#pragma once

#include "compiler/module/interned_text.h"
#include "compiler/module/prepared_request.h"
#include "compiler/module/request.h"
#include "compiler/module/verdict.h"

#include <span>
#include <string_view>

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

  // The same answer, for a request that this or another engine prepared.
  virtual void DecidePrepared(const PreparedRequest& prepared, Verdict& verdict) const;
  // Each of the requests into the verdict at its place; as many as there are of both.
  virtual void DecideAll(std::span<const Request* const> requests,
                         std::span<Verdict> verdicts) const;

  // Of a request in a sandbox (not a create) whose lasting facts are set; those that vary may be,
  // and can be set again and again.
  [[nodiscard]] virtual PreparedRequest Prepare(const Request& request) const;
  // A text that will be asked about often, with what the index says of it.
  [[nodiscard]] virtual InternedText Intern(std::string_view text) const;

  // The module that it decides by; names rules and classes of verdicts. Lives at least as long as
  // the engine.
  [[nodiscard]] virtual const PolicyModule& module() const = 0;

  // "interpreter" or "native", for tests and messages.
  [[nodiscard]] virtual std::string_view kind() const = 0;
};

}  // namespace curfew::module
