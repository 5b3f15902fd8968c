// What the allows of a network plane need along the chain of a class: that somebody can read what
// they judge, and one secret at most for each request.
#pragma once

#include "compiler/check/context.h"
#include "compiler/check/meeting_index.h"
#include "compiler/model/policy_model.h"

namespace curfew::check {

// Of a class whose chain is checked.
void CheckNetworkReach(Context& context, const model::Class& of, ClassIndexes& indexes);

}  // namespace curfew::check
