// Plan templates and declared attributes as bytes within a module. Both ways are strict: what
// decodes encodes to the same bytes again.
#pragma once

#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/module/plan_template.h"
#include "compiler/module/policy_module.h"

#include <span>
#include <vector>

namespace curfew::module {

Bytes EncodePlans(std::span<const PlanTemplate> plans);
Result<std::vector<PlanTemplate>> DecodePlans(ByteView bytes);

Bytes EncodeDeclared(std::span<const DeclaredAttribute> declared);
Result<std::vector<DeclaredAttribute>> DecodeDeclared(ByteView bytes);

}  // namespace curfew::module
