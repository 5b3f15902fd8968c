#include "runtime/client/keeper_link.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace curfew::client {

Result<std::unique_ptr<KeeperLink>> KeeperLink::Start(const std::string& program) {
  CURFEW_TRY(auto ends, host::MessageSocket::Pair());
  int errors[2];
  if (pipe2(errors, O_CLOEXEC | O_NONBLOCK) != 0) return SystemFailure(errno, "make a pipe");
  OwnedFd reader(errors[0]);
  const OwnedFd writer(errors[1]);
  Result<host::Detached> keeper =
      host::SpawnDetached(program, {}, {ends.second.get()}, writer.get());
  if (!keeper) {
    Failure failure = std::move(keeper).error().In("the keeper");
    if (failure.code == FailureCode::NotFound) {
      failure.message += "; it is installed beside curfew: is this build whole?";
    }
    return failure;
  }
  return std::unique_ptr<KeeperLink>(
      new KeeperLink(std::move(ends.first), std::move(reader), *std::move(keeper)));
}

void KeeperLink::Queue(Bytes bytes, std::vector<int> fds) {
  if (failure_) return;
  queue_.push_back({.bytes = std::move(bytes), .fds = std::move(fds)});
}

std::vector<host::EventSource::Watch> KeeperLink::Watches() const {
  if (failure_) return {};
  return {
      {.fd = socket_.fd(), .events = static_cast<short>(POLLIN | (queue_.empty() ? 0 : POLLOUT))}};
}

void KeeperLink::OnReady() {
  while (!failure_ && !queue_.empty()) {
    Result<bool> sent = socket_.Send(queue_.front().bytes, queue_.front().fds);
    // A keeper that is gone may still have said something: it is read below.
    if (!sent && sent.error().code == FailureCode::PeerGone) {
      queue_.clear();
      break;
    }
    if (!sent) {
      failure_ = std::move(sent).error();
      break;
    }
    if (!*sent) break;
    queue_.pop_front();
  }
  for (int i = 0; i < 16 && !failure_; ++i) {
    Result<std::optional<host::SocketMessage>> message = socket_.Receive();
    if (!message) {
      failure_ = std::move(message).error();
      return;
    }
    if (!*message) return;
    Result<keeper::Packet> packet = keeper::DecodePacket((*message)->bytes);
    if (!packet) {
      failure_ = std::move(packet).error();
      return;
    }
    on_packet(*packet);
  }
}

int KeeperLink::Wait(std::string& errors) {
  const int status = host::WaitFor(keeper_.pid);
  char text[4096];
  const ssize_t size = read(errors_.get(), text, sizeof text);
  if (size > 0) errors.assign(text, static_cast<std::size_t>(size));
  return status;
}

}  // namespace curfew::client
