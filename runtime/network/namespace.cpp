#include "runtime/network/namespace.h"

#include <cerrno>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>

namespace curfew::network {
namespace {

constexpr char OwnNamespace[] = "/proc/thread-self/ns/net";

Outcome OnThread(const std::function<Outcome()>& act) {
  Outcome outcome = Failure(FailureCode::System, "nothing was done");
  try {
    std::thread([&] { outcome = act(); }).join();
  } catch (const std::system_error& error) {
    return SystemFailure(error.code().value(), "start a thread");
  }
  return outcome;
}

}  // namespace

Outcome InNewNamespace(const std::function<Outcome()>& act) {
  return OnThread([&]() -> Outcome {
    if (unshare(CLONE_NEWNET) != 0) return SystemFailure(errno, "make a network namespace");
    return act();
  });
}

Outcome InNamespace(int namespace_fd, const std::function<Outcome()>& act) {
  return OnThread([&]() -> Outcome {
    if (setns(namespace_fd, CLONE_NEWNET) != 0) {
      return SystemFailure(errno, "enter a network namespace");
    }
    return act();
  });
}

Result<OwnedFd> OpenOwnNamespace() {
  OwnedFd own(open(OwnNamespace, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!own.is_open()) return SystemFailure(errno, std::string("open ") + OwnNamespace);
  return own;
}

Result<NamespaceIdentity> IdentifyOwnNamespace() {
  NamespaceIdentity identity;
  struct stat status{};
  if (stat(OwnNamespace, &status) != 0) {
    return SystemFailure(errno, std::string("look at ") + OwnNamespace);
  }
  identity.inode = status.st_ino;
  const OwnedFd any(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!any.is_open()) return SystemFailure(errno, "make a socket");
  socklen_t size = sizeof identity.cookie;
  if (getsockopt(any.get(), SOL_SOCKET, SO_NETNS_COOKIE, &identity.cookie, &size) != 0) {
    return SystemFailure(errno, "read the cookie of a network namespace (Linux 5.14 has them)");
  }
  return identity;
}

}  // namespace curfew::network
