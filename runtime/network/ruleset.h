// The rules of a sandbox's namespace, and tables of packet rules in general, by libnftables. All
// speak to the calling thread's namespace.
#pragma once

#include "compiler/base/result.h"
#include "runtime/host/networks.h"

#include <cstdint>
#include <string>
#include <vector>

namespace curfew::network {

// Of the one table, named after the sandbox. What no rule names is dropped. TCP goes to
// `redirect_port`, except to the resolver.
std::string RulesetText(const std::string& sandbox, const std::string& tap,
                        std::uint16_t redirect_port);

// All of it comes into force, or none.
Outcome LoadRuleset(const std::string& text);

Result<std::vector<host::PacketTableSeen>> ListTables();

}  // namespace curfew::network
