// The command line's end of a keeper: starts one, sends, and hands what it says to whoever listens.
#pragma once

#include "runtime/host/linux/event_loop.h"
#include "runtime/host/linux/message_socket.h"
#include "runtime/host/linux/spawn.h"
#include "runtime/keeper/protocol.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace curfew::client {

class KeeperLink final : public host::EventSource {
 public:
  // NotFound when the program is not there.
  static Result<std::unique_ptr<KeeperLink>> Start(const std::string& program);

  // Called for each packet.
  std::function<void(const keeper::Packet&)> on_packet;

  template <typename M>
  void Send(std::uint32_t id, const M& message, std::vector<int> fds = {}) {
    Result<Bytes> bytes = keeper::EncodeMessage(id, message);
    if (!bytes) {
      failure_ = bytes.error();
      return;
    }
    Queue(*std::move(bytes), std::move(fds));
  }
  void SendBytes(keeper::Kind kind, std::uint32_t id, ByteView data) {
    Queue(keeper::EncodePacket(kind, id, data), {});
  }

  // Why nothing more can be said, if so: the keeper is gone, or made no sense.
  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }
  // Waits for the keeper's end, after its last packet: its exit status (128 and a signal), and what
  // it wrote to its standard error.
  int Wait(std::string& errors);

  [[nodiscard]] std::vector<Watch> Watches() const override;
  void OnReady() override;

 private:
  struct Outgoing {
    Bytes bytes;
    std::vector<int> fds;  // borrowed until sent
  };
  KeeperLink(OwnedFd socket, OwnedFd errors, host::Detached keeper)
      : socket_(std::move(socket)), errors_(std::move(errors)), keeper_(std::move(keeper)) {}
  void Queue(Bytes bytes, std::vector<int> fds);

  host::MessageSocket socket_;
  OwnedFd errors_;
  host::Detached keeper_;
  std::deque<Outgoing> queue_;
  std::optional<Failure> failure_;
};

}  // namespace curfew::client
