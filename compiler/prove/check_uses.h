// Rules that change no answer, as lint finds them: by proof, where the rules of compiler/lint
// compare one with one. What is not proven within the budget is not said.
#pragma once

#include "compiler/base/text.h"
#include "compiler/diagnostics/sink.h"
#include "compiler/model/policy_model.h"
#include "compiler/prove/uses.h"

#include <string>

namespace curfew::prove {

// Of the allows and denies of classes: what stands outside of them is a floor for classes that are
// still to be written, and changes nothing until they are. `module` are the bytes that the model
// was lowered to, `library` the prover's path; where it is missing, a note says that nothing was
// asked.
void CheckUses(const model::PolicyModel& model, ByteView module, const std::string& library,
               diagnostics::Sink& sink, UseBudget budget = {});

}  // namespace curfew::prove
