// The keeper's end of the control socket as an event source: packets in, in order and bounded;
// packets out, queued. Output of commands counts as delivered only when the socket took it, so that
// a slow reader slows the command and grows nothing here. When the other side is gone everything
// counts as delivered: nobody reads it.
#pragma once

#include "runtime/host/linux/event_loop.h"
#include "runtime/host/linux/message_socket.h"
#include "runtime/keeper/protocol.h"

#include <deque>
#include <functional>

namespace curfew::keeper {

class Control final : public host::EventSource {
 public:
  explicit Control(OwnedFd socket) : socket_(std::move(socket)) {}

  // Called for each packet (with its descriptors) once it is set; until then none is read.
  std::function<void(Packet, std::vector<OwnedFd>)> on_packet;
  // The other side has gone or broke the protocol; once.
  std::function<void()> on_gone;

  template <typename M>
  void Tell(std::uint32_t id, const M& message) {
    Result<Bytes> bytes = EncodeMessage(id, message);
    if (bytes) Queue(*std::move(bytes), nullptr);
  }
  // `on_sent` when the socket has taken it, or nobody ever will.
  void TellOutput(std::uint32_t id, std::uint8_t stream, ByteView data,
                  std::function<void()> on_sent);

  // What came makes no sense: nothing more is heard of or said to the other side.
  void Drop() { Lose(); }

  [[nodiscard]] bool is_gone() const { return gone_; }
  [[nodiscard]] bool is_idle() const { return queue_.empty(); }
  [[nodiscard]] std::size_t queued() const { return queue_.size(); }
  [[nodiscard]] int fd() const { return socket_.fd(); }

  [[nodiscard]] std::vector<Watch> Watches() const override;
  void OnReady() override;

 private:
  struct Outgoing {
    Bytes bytes;
    std::function<void()> on_sent;
  };
  void Queue(Bytes bytes, std::function<void()> on_sent);
  void Flush();
  void Read();
  void Lose();

  host::MessageSocket socket_;
  std::deque<Outgoing> queue_;
  bool gone_ = false;
};

}  // namespace curfew::keeper
