// PolicyModel ► DecisionIr: planes become rules, and so do silence, bounds, time and every built-in
// reason. The result is verified (ir::Verify); ir::Encode makes a module's bytes of it.
#pragma once

#include "compiler/base/result.h"
#include "compiler/ir/decision_ir.h"
#include "compiler/model/policy_model.h"
#include "compiler/module/plan_template.h"
#include "compiler/source/source.h"

namespace curfew::lower {

// Of a model without errors. `sources` gives rules their file, line and column. A set whose
// decisions could take more than limits::DecisionOpsMax steps is TooLarge.
Result<ir::DecisionIr> Lower(const model::PolicyModel& model, const source::SourceMap& sources);

// What a class of such a model grants and bounds, with all that it inherits.
module::PlanTemplate PlanOf(const model::PolicyModel& model, const model::Class& of);

}  // namespace curfew::lower
