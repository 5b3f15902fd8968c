#include "runtime/host/linux/message_socket.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>

namespace curfew::host {

Result<std::pair<OwnedFd, OwnedFd>> MessageSocket::Pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return SystemFailure(errno, "make a pair of sockets");
  }
  std::pair<OwnedFd, OwnedFd> pair{OwnedFd(ends[0]), OwnedFd(ends[1])};
  const int bytes = 4 * static_cast<int>(MessageBytesMax);
  for (const int end : ends) {
    if (setsockopt(end, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) != 0) {
      return SystemFailure(errno, "size a socket's buffer");
    }
  }
  return pair;
}

Result<bool> MessageSocket::Send(ByteView bytes, std::span<const int> fds) {
  if (bytes.size() > MessageBytesMax || bytes.empty() || fds.size() > MessageFdsMax) {
    return Failure(FailureCode::TooLarge, "a message is larger than the protocol allows");
  }
  iovec part{.iov_base = const_cast<std::uint8_t*>(bytes.data()), .iov_len = bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(MessageFdsMax * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  for (;;) {
    if (sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return true;
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == ENOBUFS) return false;
    if (errno == EPIPE || errno == ECONNRESET) {
      return Failure(FailureCode::PeerGone, "the other side of the control socket is gone");
    }
    return SystemFailure(errno, "send a message");
  }
}

Result<std::optional<SocketMessage>> MessageSocket::Receive() {
  SocketMessage received;
  received.bytes.resize(MessageBytesMax);
  iovec part{.iov_base = received.bytes.data(), .iov_len = received.bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(MessageFdsMax * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t size = -1;
  do {
    size = recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && errno == EAGAIN) return std::optional<SocketMessage>();
  if (size == 0 || (size < 0 && errno == ECONNRESET)) {
    return Failure(FailureCode::PeerGone, "the other side of the control socket is gone");
  }
  if (size < 0) return SystemFailure(errno, "receive a message");
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      received.fds.emplace_back(fd);
    }
  }
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return Failure(FailureCode::TooLarge, "a message is larger than the protocol allows");
  }
  received.bytes.resize(static_cast<std::size_t>(size));
  return std::optional(std::move(received));
}

}  // namespace curfew::host
