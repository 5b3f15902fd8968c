#include "runtime/machine/qemu/qmp.h"

#include "compiler/base/secret.h"
#include "compiler/base/text.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace curfew::machine::qemu {
namespace {

constexpr std::size_t LineBytesMax = 256 * 1024;

std::string TextAt(const nlohmann::json& value, const char* key) {
  const auto member = value.find(key);
  return member != value.end() && member->is_string() ? member->get<std::string>() : std::string();
}

// Sends all of `text`, with `file` beside its first byte.
Outcome SendWithFile(int channel, std::string_view text, int file) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (file >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &file, sizeof(int));
  }
  const ssize_t sent = sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return SystemFailure(errno, "send a command to QEMU");
  if (static_cast<std::size_t>(sent) != text.size()) {
    return Failure(FailureCode::TimedOut, "QEMU does not read its commands");
  }
  return Ok();
}

}  // namespace

Qmp::Qmp(OwnedFd channel, std::function<void(const QmpEvent&)> on_event)
    : channel_(std::move(channel)), on_event_(std::move(on_event)) {}

void Qmp::Execute(std::string command, OwnedFd file, std::function<void(Outcome)> done) {
  queue_.push_back({std::move(command) + "\n", std::move(file), std::move(done)});
  if (!greeted_ || waiting_) return;
  const Outcome sent = SendNext();
  if (!sent) channel_.Reset();
}

Outcome Qmp::SendNext() {
  if (queue_.empty()) return Ok();
  Command& command = queue_.front();
  waiting_ = true;
  const Outcome sent = SendWithFile(channel_.get(), command.text, command.file.get());
  WipeText(command.text);
  command.file.Reset();
  return sent;
}

Outcome Qmp::OnReadable() {
  char piece[16 * 1024];
  while (channel_.is_open()) {
    const ssize_t got = read(channel_.get(), piece, sizeof(piece));
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Ok();
    if (got <= 0) {
      channel_.Reset();
      return Ok();
    }
    input_.append(piece, static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = input_.find('\n')) != std::string::npos;) {
      const std::string line = input_.substr(0, end);
      input_.erase(0, end + 1);
      const Outcome read_line = OnLine(line);
      if (!read_line) {
        channel_.Reset();
        return read_line;
      }
    }
    if (input_.size() > LineBytesMax) {
      channel_.Reset();
      return Failure(FailureCode::TooLarge, "QEMU sent a line without an end");
    }
  }
  return Ok();
}

Outcome Qmp::OnLine(const std::string& line) {
  const auto value = nlohmann::json::parse(line, nullptr, false);
  if (!value.is_object()) {
    return Failure(FailureCode::Malformed, "QEMU sent no JSON object: " + Printable(line));
  }
  if (const std::string event = TextAt(value, "event"); !event.empty()) {
    const auto data = value.find("data");
    on_event_({event, data != value.end() ? TextAt(*data, "reason") : std::string()});
    return Ok();
  }
  if (value.contains("QMP") && !greeted_) {
    greeted_ = true;
    return SendNext();
  }
  if (!waiting_ || value.contains("return") == value.contains("error")) {
    return Failure(FailureCode::Malformed, "QEMU sent what nobody asked for: " + Printable(line));
  }
  waiting_ = false;
  const auto done = std::move(queue_.front().done);
  queue_.pop_front();
  const auto error = value.find("error");
  if (error != value.end()) {
    done(Failure(FailureCode::System, "QEMU says: " + Printable(TextAt(*error, "desc"))));
  } else {
    done(Ok());
  }
  if (waiting_ || !channel_.is_open()) return Ok();  // `done` may have asked or ended
  return SendNext();
}

}  // namespace curfew::machine::qemu
