#include "runtime/egress/outside.h"

#include <cerrno>
#include <sys/socket.h>

namespace curfew::egress {

Result<OwnedFd> SameNamespace::Socket(int family, int type) {
  OwnedFd socket(::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return SystemFailure(errno, "make a socket to dial with");
  return socket;
}

}  // namespace curfew::egress
