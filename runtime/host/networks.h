// What is inside the network namespaces of the host, for whoever searches them.
#pragma once

#include "compiler/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace curfew::host {

struct LinkSeen {
  unsigned index = 0;
  std::string name;
  std::string alias;
};

struct PacketTableSeen {
  std::string family;  // "inet"
  std::string name;
  std::uint64_t handle = 0;
};

struct NetworkSeen {
  std::uint64_t inode = 0;
  std::uint64_t cookie = 0;  // never used again in a boot, as the inode's number is
  std::vector<LinkSeen> links;
  std::vector<PacketTableSeen> tables;
};

class Networks {
 public:
  virtual ~Networks() = default;
  // Looks into the namespace at `path`: /proc/PID/ns/net, or a descriptor's place in /proc.
  // NotFound when it is gone.
  virtual Result<NetworkSeen> Look(const std::string& path) = 0;
};

}  // namespace curfew::host
