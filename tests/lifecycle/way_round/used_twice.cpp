// Must not compile: a permit is moved, never copied.
#include "runtime/execute/executor.h"

curfew::gate::Permit<curfew::schema::Action::Create> Copy(
    const curfew::gate::Permit<curfew::schema::Action::Create>& permit) {
  return permit;
}
