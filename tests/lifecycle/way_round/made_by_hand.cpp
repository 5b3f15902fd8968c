// Must not compile: a permit made out of an answer that somebody wrote.
#include "runtime/execute/executor.h"

curfew::Outcome Create(curfew::execute::Executor& executor, const curfew::module::Request& request,
                       const curfew::plan::Plan& plan) {
  curfew::gate::Answer answer;
  answer.allowed = true;
  return executor.Create(
      curfew::gate::Permit<curfew::schema::Action::Create>(answer, curfew::gate::Facts(request)),
      plan);
}
