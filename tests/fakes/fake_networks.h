// Network namespaces that a test makes up. Without more, every one is empty.
#pragma once

#include "runtime/host/networks.h"

#include <functional>

namespace curfew::fakes {

class FakeNetworks final : public host::Networks {
 public:
  std::function<Result<host::NetworkSeen>(const std::string& path)> look;

  Result<host::NetworkSeen> Look(const std::string& path) override {
    if (look) return look(path);
    return host::NetworkSeen{};
  }
};

}  // namespace curfew::fakes
