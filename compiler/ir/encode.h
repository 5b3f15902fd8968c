// From decision code to the bytes of a module, and the proof that both share.
#pragma once

#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/ir/decision_ir.h"

namespace curfew::ir {

// What PolicyModule::Load proves of bytes, proven of tables that were just built. A failure other
// than TooLarge is a fault of the lowering.
Outcome Verify(const DecisionIr& ir);

// The bytes of a module (compiler/module/layout.h). Equal decision code has equal bytes.
Bytes Encode(const DecisionIr& ir);

}  // namespace curfew::ir
