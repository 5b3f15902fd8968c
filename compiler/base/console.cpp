#include "compiler/base/console.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <unistd.h>

namespace curfew {
namespace {

constexpr std::size_t kBufferBytes = 32 * 1024;

// Writes everything, waiting where the descriptor does not block; 0 or errno.
int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return errno;
    pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, -1) < 0 && errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

Console::Console(int results, int diagnostics, bool colour_results, bool colour_diagnostics)
    : results_(results),
      diagnostics_(diagnostics),
      colour_results_(colour_results),
      colour_diagnostics_(colour_diagnostics),
      line_buffered_(isatty(results) == 1) {}

Console::~Console() { Flush(); }

void Console::Out(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes || (line_buffered_ && text.find('\n') != text.npos)) Flush();
}

void Console::Err(std::string_view text) {
  Flush();
  // Where standard error cannot be written there is nobody left to tell.
  (void)WriteAll(diagnostics_, text);
}

void Console::Complain(std::string_view message) {
  std::string line = "curfew: ";
  line += message;
  if (!line.ends_with('\n')) line += '\n';
  Err(line);
}

void Console::Flush() {
  WriteResults(buffer_);
  buffer_.clear();
}

void Console::WriteResults(std::string_view text) {
  if (text.empty() || reader_gone_ || error_ != 0) return;
  const int error = WriteAll(results_, text);
  if (error == EPIPE) {
    reader_gone_ = true;
  } else {
    error_ = error;
  }
}

Outcome Console::Finish() {
  Flush();
  if (error_ == 0) return Ok();
  return SystemFailure(error_, "cannot write the results to standard output");
}

bool WantsColour(int fd) {
  // NOLINTBEGIN(concurrency-mt-unsafe): asked before there is a second thread
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  // NOLINTEND(concurrency-mt-unsafe)
  if (term == nullptr || std::strcmp(term, "dumb") == 0) return false;
  return isatty(fd) == 1;
}

}  // namespace curfew
