// What the drivers of a host can do, in the words of the fact `host.capabilities`. What needs a
// word that is not there is denied (`builtin.unsupported`).
#pragma once

#include <string_view>

namespace curfew::module::capability {

inline constexpr std::string_view Egress = "egress";        // a gateway judges each request out
inline constexpr std::string_view Emulation = "emulation";  // a microVM without hardware isolation
inline constexpr std::string_view Env = "env";              // variables of the host are passed on
inline constexpr std::string_view Expose = "expose";        // a port inside is made reachable
inline constexpr std::string_view Freeze = "freeze";        // a machine stands still, goes on later
inline constexpr std::string_view Inspect = "inspect";      // the gateway reads inside TLS
inline constexpr std::string_view Kvm = "kvm";              // a microVM under KVM
inline constexpr std::string_view Omit = "omit";            // leaves off the record what may be
inline constexpr std::string_view Persist = "persist";      // keeps volumes that outlive a sandbox
inline constexpr std::string_view Secrets = "secrets";      // the gateway keeps and sends secrets
inline constexpr std::string_view Snapshot = "snapshot";    // keeps snapshots, and runs from them
inline constexpr std::string_view Websocket = "websocket";  // the gateway judges WebSockets

// Sorted, as a set is. `test`, `eval`, `prove` and `diff` take a host to have all of them.
inline constexpr std::string_view All[] = {Egress,  Emulation, Env,      Expose,
                                           Freeze,  Inspect,   Kvm,      Omit,
                                           Persist, Secrets,   Snapshot, Websocket};

// What no driver of this build can do: no host has these words, and `curfew doctor` says so.
struct Ability {
  std::string_view word;
  std::string_view does;
};
inline constexpr Ability Unbuilt[] = {
    {Env, "passing environment variables on (`env`)"},
    {Expose, "making a port of a sandbox reachable from outside"},
    {Freeze, "letting a sandbox stand still and go on later (`then freeze`)"},
    {Inspect, "reading inside TLS (`tls inspect`)"},
    {Omit, "leaving allowed decisions off the record (`record all except`)"},
    {Persist, "keeping volumes that outlive a sandbox (`persist`)"},
    {Secrets, "keeping secrets and sending them (`secrets`, `using`)"},
    {Snapshot, "keeping snapshots and running from them (`snapshot`)"},
    {Websocket, "judging WebSockets (`allow websocket`)"}};

}  // namespace curfew::module::capability
