// The one door. Every trigger (a person, a schedule, an API, an agent) comes through here with a
// typed request, and only what this says opens a driver (permit.h). Total, bounded, without I/O of
// its own; whatever goes wrong is a denial. It judges nothing itself: the decision code does, and
// the gate adds only what it alone can know, that there was no decision:
//   request.invalid   the facts break an axiom of the schema (module/request_axioms.h)
//   gate.undecided    the decision code gave no usable answer
//   gate.fault        beside them: only nevers deny, which the proof of the set excludes
//   gate.unrecorded   the decision could not be put on record, so it must not take effect
#pragma once

#include "compiler/base/result.h"
#include "runtime/gate/permit.h"
#include "runtime/gate/policy_in_force.h"

namespace curfew::gate {

// Where decisions are put on record before they take effect.
class DecisionSink {
 public:
  virtual ~DecisionSink() = default;
  // `request` is nullptr where what was asked did not even make one. A Failure turns an allow into
  // a denial.
  virtual Outcome Record(const Answer& answer, const module::Request* request) = 0;
};

class Gate {
 public:
  // Both outlive the gate.
  Gate(const PolicyInForce& policy, DecisionSink& sink) : policy_(policy), sink_(sink) {}

  // Instantiated for every action of compiler/schema/actions.def and for nothing else. A request of
  // another action than A is denied.
  template <schema::Action A>
  Decision<A> Decide(const module::Request& request) const;

  // What the rules say so far of a request that goes on to a later stage, or that runs: it opens
  // nothing and leaves no record.
  [[nodiscard]] Answer Consider(const module::Request& request) const {
    return Judge(request.action(), request);
  }

  // What does not fit the schema is denied as a whole: `request.invalid`, with where and why. On
  // record like any denial.
  Answer Refuse(schema::Action action, std::string_view why) const;

 private:
  Answer Judge(schema::Action action, const module::Request& request) const;
  void Enter(Answer& answer, const module::Request* request) const;

  const PolicyInForce& policy_;
  DecisionSink& sink_;
};

}  // namespace curfew::gate
