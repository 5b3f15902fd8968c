#include "runtime/keeper/reload_door.h"

#include "runtime/host/linux/named_socket.h"
#include "runtime/host/linux/peer.h"

#include <poll.h>
#include <utility>

namespace curfew::keeper {
namespace {

constexpr std::int64_t VisitMs = 5'000;

ReloadedMessage Refusal(std::string why) {
  ReloadedMessage message;
  message.failure = std::move(why);
  return message;
}

}  // namespace

std::string ReloadDoorName(const std::string& sandbox) { return "curfew/" + sandbox + "/reload"; }

Result<std::unique_ptr<ReloadDoor>> ReloadDoor::Open(const std::string& sandbox, uid_t starter,
                                                     const host::Clock& clock, Reload reload) {
  CURFEW_TRY(OwnedFd listener, host::ListenAt(ReloadDoorName(sandbox)));
  return std::unique_ptr<ReloadDoor>(
      new ReloadDoor(std::move(listener), starter, clock, std::move(reload)));
}

std::vector<host::EventSource::Watch> ReloadDoor::Watches() const {
  return {{.fd = visitor_ ? visitor_->socket.fd() : listener_.get(), .events = POLLIN}};
}

std::optional<std::int64_t> ReloadDoor::due_ms() const {
  if (!visitor_) return std::nullopt;
  return visitor_->until_ms;
}

void ReloadDoor::OnReady() {
  if (!visitor_) return LetIn();
  const std::optional<ReloadedMessage> answer = Hear();
  if (!answer) return;
  const Result<Bytes> bytes = EncodeMessage(0, *answer);
  // One message fits into an empty socket; whoever has gone needs no answer.
  if (bytes) static_cast<void>(visitor_->socket.Send(*bytes));
  visitor_.reset();
}

void ReloadDoor::LetIn() {
  Result<std::optional<OwnedFd>> accepted = host::AcceptOne(listener_);
  if (!accepted || !*accepted) return;
  visitor_.emplace(Visitor{.socket = host::MessageSocket(**std::move(accepted)),
                           .until_ms = clock_.MonotonicNowMs() + VisitMs});
}

std::optional<ReloadedMessage> ReloadDoor::Hear() {
  Result<std::optional<host::SocketMessage>> received = visitor_->socket.Receive();
  if (!received) return Refusal(received.error().message);
  if (!*received) return std::nullopt;
  const Result<host::Peer> peer = host::PeerOf(visitor_->socket.fd());
  if (!peer) return Refusal(peer.error().message);
  if (!peer->is_root && peer->uid != starter_) {
    return Refusal("only root and whoever started the sandbox may give it another policy set");
  }
  const Result<Packet> packet = DecodePacket((*received)->bytes);
  if (!packet) return Refusal(packet.error().message);
  const Result<ReloadMessage> message = DecodeMessage<ReloadMessage>(*packet);
  if (!message) return Refusal(message.error().message);
  std::vector<OwnedFd>& fds = (*received)->fds;
  HandedPolicy handed{.module = {}, .native_code = {}, .no_native_code = message->no_native_code};
  if (fds.size() != (handed.no_native_code.empty() ? 2u : 1u)) {
    return Refusal("a reload brings one module, and the native code that it tells of");
  }
  handed.module = std::move(fds.front());
  if (handed.no_native_code.empty()) {
    if (peer->is_root) {
      handed.native_code = std::move(fds.back());
    } else {
      handed.no_native_code = "native code is taken from root only";
    }
  }
  return reload_(*message, handed);
}

}  // namespace curfew::keeper
