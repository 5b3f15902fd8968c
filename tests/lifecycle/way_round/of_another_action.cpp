// Must not compile: an allowed exec does not create.
#include "runtime/execute/executor.h"

curfew::Outcome Create(curfew::execute::Executor& executor,
                       curfew::gate::Permit<curfew::schema::Action::Exec> permit,
                       const curfew::plan::Plan& plan) {
  return executor.Create(std::move(permit), plan);
}
