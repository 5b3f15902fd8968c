// A local socket that keeps messages whole and carries descriptors: how a keeper and the command
// that started it talk. What a message means is runtime/keeper/protocol.h.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "compiler/base/text.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace curfew::host {

inline constexpr std::size_t MessageBytesMax = 128 * 1024;
inline constexpr std::size_t MessageFdsMax = 4;

struct SocketMessage {
  Bytes bytes;
  std::vector<OwnedFd> fds;
};

class MessageSocket {
 public:
  // Both ends, close-on-exec and non-blocking.
  static Result<std::pair<OwnedFd, OwnedFd>> Pair();

  explicit MessageSocket(OwnedFd fd) : fd_(std::move(fd)) {}
  [[nodiscard]] int fd() const { return fd_.get(); }

  // False when the other side is behind; nothing was sent then. PeerGone, TooLarge.
  Result<bool> Send(ByteView bytes, std::span<const int> fds = {});
  // Nothing when there is none now. PeerGone at the end; TooLarge for one that did not fit.
  Result<std::optional<SocketMessage>> Receive();

 private:
  OwnedFd fd_;
};

}  // namespace curfew::host
