// Must not compile: a plan alone.
#include "runtime/execute/executor.h"

curfew::Outcome Create(curfew::execute::Executor& executor, const curfew::plan::Plan& plan) {
  return executor.Create(plan);
}
