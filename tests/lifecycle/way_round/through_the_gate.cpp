// Compiles: the driver is opened by what the gate gave.
#include "runtime/execute/executor.h"
#include "runtime/gate/gate.h"

curfew::Outcome Create(const curfew::gate::Gate& gate, curfew::execute::Executor& executor,
                       const curfew::module::Request& request, const curfew::plan::Plan& plan) {
  curfew::gate::Decision<curfew::schema::Action::Create> decision =
      gate.Decide<curfew::schema::Action::Create>(request);
  if (!decision.permit) return curfew::Failure(curfew::FailureCode::Denied, "no");
  return executor.Create(*std::move(decision.permit), plan);
}
