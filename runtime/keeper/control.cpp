#include "runtime/keeper/control.h"

#include <poll.h>

namespace curfew::keeper {

void Control::TellOutput(std::uint32_t id, std::uint8_t stream, ByteView data,
                         std::function<void()> on_sent) {
  Bytes payload = {stream};
  payload.insert(payload.end(), data.begin(), data.end());
  Queue(EncodePacket(Kind::Output, id, payload), std::move(on_sent));
}

void Control::Queue(Bytes bytes, std::function<void()> on_sent) {
  if (gone_) {
    if (on_sent) on_sent();
    return;
  }
  const bool at_once = queue_.empty() && !on_sent;
  queue_.push_back({.bytes = std::move(bytes), .on_sent = std::move(on_sent)});
  // The loop may not turn for a while: what nobody waits for is said now.
  if (at_once) Flush();
}

std::vector<host::EventSource::Watch> Control::Watches() const {
  if (gone_) return {};
  const int events = (on_packet ? POLLIN : 0) | (queue_.empty() ? 0 : POLLOUT);
  return {{.fd = socket_.fd(), .events = static_cast<short>(events)}};
}

void Control::OnReady() {
  Flush();
  if (on_packet) Read();
}

void Control::Flush() {
  while (!gone_ && !queue_.empty()) {
    Result<bool> sent = socket_.Send(queue_.front().bytes);
    if (!sent && sent.error().code != FailureCode::TooLarge) return Lose();
    if (sent && !*sent) return;
    const std::function<void()> on_sent = std::move(queue_.front().on_sent);
    queue_.pop_front();
    if (on_sent) on_sent();
  }
}

void Control::Read() {
  // A few at a time, so that no side starves the guest.
  for (int i = 0; i < 16 && !gone_ && on_packet; ++i) {
    Result<std::optional<host::SocketMessage>> message = socket_.Receive();
    if (!message) return Lose();
    if (!*message) return;
    Result<Packet> packet = DecodePacket((*message)->bytes);
    if (!packet) return Lose();
    on_packet(*std::move(packet), std::move((*message)->fds));
  }
}

void Control::Lose() {
  if (gone_) return;
  gone_ = true;
  std::deque<Outgoing> queue;
  queue.swap(queue_);
  for (const Outgoing& outgoing : queue) {
    if (outgoing.on_sent) outgoing.on_sent();
  }
  if (on_gone) on_gone();
}

}  // namespace curfew::keeper
