// From trees to a PolicyModel: names, then types, then what a policy may mean. Every mistake of the
// author becomes one diagnostic; what is not supported yet is refused by name, never ignored. Which
// of two rules wins is no question here: see compiler/lower.
#pragma once

#include "compiler/diagnostics/sink.h"
#include "compiler/model/policy_model.h"
#include "compiler/source/source.h"
#include "compiler/syntax/ast.h"

#include <cstdint>
#include <optional>
#include <span>

namespace curfew::check {

// The files of one set, in any order. The model is whole only when the sink has no errors; with
// errors it is safe to print, and to nothing else.
model::PolicyModel Check(std::span<const syntax::Ast> files, const source::SourceMap& sources,
                         diagnostics::Sink& sink);

// Reports each trial whose end has come. Not a part of Check: a set that was fine when it was taken
// into force stays so, and its trial says nothing any more.
void CheckTrialEnds(const model::PolicyModel& model, std::int64_t now_ms, diagnostics::Sink& sink);

}  // namespace curfew::check
