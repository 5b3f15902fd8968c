// The native code that a keeper is handed with a policy set. A set that lets nothing out gets none:
// what is left for it to judge is asked too seldom to pay for a compiler's work.
#pragma once

#include "runtime/client/verbs.h"
#include "runtime/host/state_directory.h"

#include <string_view>

namespace curfew::client {

// Why there is none, where none is of use: nothing to warn of.
inline constexpr std::string_view NothingGoesOut =
    "no class of the policy set lets anything out, so nothing is asked often";

// Sealed: what this host has kept (native_cache.h), or made by what `means` makes it with and kept.
// The failure says why there is none; code that cannot be kept is used all the same.
Result<OwnedFd> NativeCodeFor(const Means& means, const host::StateDirectory& state,
                              ByteView module);

}  // namespace curfew::client
