#include "compiler/lsp/serve.h"

#include "compiler/lsp/framing.h"

#include <array>
#include <cerrno>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::lsp {
namespace {

bool HasInput(int fd) {
  pollfd waiting{fd, POLLIN, 0};
  return poll(&waiting, 1, 0) > 0 && waiting.revents != 0;
}

// Bytes of the client; nothing at the end, or when reading fails.
std::string_view ReadSome(int fd, std::array<char, 64 * 1024>& buffer) {
  while (true) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  }
}

}  // namespace

int Serve(const Stream& stream, Settings settings) {
  bool gone = false;
  const auto send = [&](const std::string& body) {
    if (!gone) gone = !stream.write(Framed(body));
  };
  Server server(std::move(settings), send);
  FrameReader frames;
  std::array<char, 64 * 1024> buffer{};
  while (!gone) {
    const std::string_view bytes = ReadSome(stream.input, buffer);
    if (bytes.empty()) {
      stream.complain("the client has gone without saying `exit`");
      return 1;
    }
    frames.Feed(bytes);
    while (!gone) {
      auto frame = frames.Next();
      if (!frame) {
        stream.complain(fmt::format("no message: {}", frame.error().message));
        return 1;
      }
      if (!*frame) break;
      if ((*frame)->too_large) {
        server.RefuseTooLarge();
      } else {
        server.Receive((*frame)->body);
      }
      if (const auto status = server.exit_status()) return *status;
    }
    if (!HasInput(stream.input)) server.Settle();
  }
  return 1;
}

}  // namespace curfew::lsp
