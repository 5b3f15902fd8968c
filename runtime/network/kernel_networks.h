// The network namespaces of this host as the kernel shows them. A search never changes one.
#pragma once

#include "runtime/host/networks.h"

namespace curfew::network {

class KernelNetworks final : public host::Networks {
 public:
  Result<host::NetworkSeen> Look(const std::string& path) override;
};

}  // namespace curfew::network
