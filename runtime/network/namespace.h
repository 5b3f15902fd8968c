// Acts inside a network namespace. A namespace belongs to a thread, so each act has a thread of its
// own that ends with it: the caller's never leaves where it is.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"

#include <cstdint>
#include <functional>

namespace curfew::network {

// In a fresh namespace, which ends with the last thing that `act` leaves open in it.
Outcome InNewNamespace(const std::function<Outcome()>& act);
Outcome InNamespace(int namespace_fd, const std::function<Outcome()>& act);

// Of the calling thread. The cookie is never used again in this boot.
struct NamespaceIdentity {
  std::uint64_t inode = 0;
  std::uint64_t cookie = 0;
};
Result<OwnedFd> OpenOwnNamespace();
Result<NamespaceIdentity> IdentifyOwnNamespace();

}  // namespace curfew::network
