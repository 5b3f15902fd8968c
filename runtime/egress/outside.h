// Where the gateway dials from. Injected: a test gives a namespace of its own, and a keeper the
// host's.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"

namespace curfew::egress {

class Outside {
 public:
  virtual ~Outside() = default;
  // A socket that is not connected yet: close-on-exec and non-blocking. `family` and `type` are
  // those of socket(2). Called on the gateway's own thread.
  virtual Result<OwnedFd> Socket(int family, int type) = 0;
};

// Sockets of the namespace that the gateway's thread is in: that of the thread which starts it.
class SameNamespace final : public Outside {
 public:
  Result<OwnedFd> Socket(int family, int type) override;
};

}  // namespace curfew::egress
