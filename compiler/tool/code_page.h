// What `lint --explain` prints of a code: the page of a finding, and for every other code what its
// kind of mistake is, why it is one, and how it is mended.
#pragma once

#include "compiler/diagnostics/diagnostic.h"

#include <string>

namespace curfew::tool {

std::string CodePage(const diagnostics::RegistryEntry& entry);

}  // namespace curfew::tool
