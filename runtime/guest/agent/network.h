// The guest's end of its sandbox's wire: one link with a fixed address, a route and a resolver. No
// program is run for it.
#pragma once

#include "compiler/base/result.h"
#include "runtime/guest/protocol.h"

namespace curfew::guest {

// Only ever inside a virtual machine. IPv6 stays off on the link: nothing would carry it.
Outcome JoinNetwork(const NetworkSetting& setting);

}  // namespace curfew::guest
