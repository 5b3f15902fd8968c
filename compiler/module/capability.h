// What the drivers of a host can do, in the words of the fact `host.capabilities`. A create whose
// class needs a word that is not there is denied (`builtin.unsupported`).
#pragma once

#include <string_view>

namespace curfew::module::capability {

inline constexpr std::string_view Egress = "egress";        // a gateway judges each request out
inline constexpr std::string_view Emulation = "emulation";  // a microVM without hardware isolation
inline constexpr std::string_view Freeze = "freeze";    // a machine stands still, and goes on later
inline constexpr std::string_view Inspect = "inspect";  // the gateway reads inside TLS
inline constexpr std::string_view Kvm = "kvm";          // a microVM under KVM
inline constexpr std::string_view Omit = "omit";        // leaves off the record what may be
inline constexpr std::string_view Persist = "persist";  // keeps volumes that outlive a sandbox
inline constexpr std::string_view Snapshot = "snapshot";  // keeps snapshots, and runs from them

// Sorted, as a set is. `test`, `eval`, `prove` and `diff` take a host to have all of them.
inline constexpr std::string_view All[] = {Egress, Emulation, Freeze,  Inspect,
                                           Kvm,    Omit,      Persist, Snapshot};

}  // namespace curfew::module::capability
