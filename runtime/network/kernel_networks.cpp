#include "runtime/network/kernel_networks.h"

#include "runtime/network/link.h"
#include "runtime/network/namespace.h"
#include "runtime/network/ruleset.h"

#include <cerrno>
#include <fcntl.h>

namespace curfew::network {

Result<host::NetworkSeen> KernelNetworks::Look(const std::string& path) {
  const OwnedFd place(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!place.is_open()) return SystemFailure(errno, "open " + path);
  host::NetworkSeen seen;
  const Outcome looked = InNamespace(place.get(), [&]() -> Outcome {
    CURFEW_TRY(const NamespaceIdentity own, IdentifyOwnNamespace());
    seen.inode = own.inode;
    seen.cookie = own.cookie;
    CURFEW_TRY(Links links, Links::Open());
    CURFEW_TRY(seen.links, links.All());
    CURFEW_TRY(seen.tables, ListTables());
    return Ok();
  });
  if (!looked) return looked.error().In(path);
  return seen;
}

}  // namespace curfew::network
