// The nevers of a set as the author meets them: each is proven, or an error says what speaks
// against it. A set without one costs nothing, and the prover is not opened.
#pragma once

#include "compiler/base/text.h"
#include "compiler/diagnostics/sink.h"
#include "compiler/model/policy_model.h"
#include "compiler/prove/prover.h"

#include <span>
#include <string>

namespace curfew::prove {

// `module` are the bytes that the model was lowered to, `library` the prover's path.
void CheckNevers(const model::PolicyModel& model, ByteView module, const std::string& library,
                 diagnostics::Sink& sink);

// What such answers mean. A counterexample is asked of the interpreter again: one that other rules
// deny, or that is no request, shows nothing, and is reported as undecided.
void ReportAnswers(const model::PolicyModel& model, ByteView module,
                   std::span<const Answer> answers, diagnostics::Sink& sink);

}  // namespace curfew::prove
