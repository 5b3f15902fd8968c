#include "runtime/host/linux/named_socket.h"

#include "compiler/base/check.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <utility>

namespace curfew::host {
namespace {

constexpr int Backlog = 8;

struct Name {
  sockaddr_un address{};
  socklen_t size = 0;
};

// A name that begins with NUL is abstract (unix(7)).
Name AbstractName(const std::string& text) {
  Name name;
  CURFEW_CHECK(text.size() + 1 < sizeof name.address.sun_path, "our names of sockets are short");
  name.address.sun_family = AF_UNIX;
  std::memcpy(name.address.sun_path + 1, text.data(), text.size());
  name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return name;
}

Result<OwnedFd> MakeSocket() {
  OwnedFd made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.is_open()) return SystemFailure(errno, "make a local socket");
  return made;
}

}  // namespace

Result<OwnedFd> ListenAt(const std::string& name) {
  CURFEW_TRY(OwnedFd listener, MakeSocket());
  const Name at = AbstractName(name);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&at.address), at.size) != 0) {
    if (errno == EADDRINUSE)
      return Failure(FailureCode::Busy, "the local name " + name + " is taken");
    return SystemFailure(errno, "take the local name " + name);
  }
  if (listen(listener.get(), Backlog) != 0) return SystemFailure(errno, "listen at " + name);
  return listener;
}

Result<std::optional<OwnedFd>> AcceptOne(const OwnedFd& listener) {
  OwnedFd accepted(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (accepted.is_open()) return std::optional(std::move(accepted));
  const bool is_nobody = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
  if (is_nobody) return std::optional<OwnedFd>();
  return SystemFailure(errno, "accept a local connection");
}

Result<OwnedFd> ConnectTo(const std::string& name) {
  CURFEW_TRY(OwnedFd socket, MakeSocket());
  const Name at = AbstractName(name);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&at.address), at.size) == 0) {
    return socket;
  }
  if (errno == ECONNREFUSED) return Failure(FailureCode::NotFound, "nobody listens at " + name);
  if (errno == EAGAIN) return Failure(FailureCode::Busy, "too many wait at " + name);
  return SystemFailure(errno, "connect to " + name);
}

}  // namespace curfew::host
