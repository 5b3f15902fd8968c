// The server on a stream: bytes in, framed messages out, until the client says `exit` or goes.
#pragma once

#include "compiler/lsp/server.h"

#include <functional>
#include <string>
#include <string_view>

namespace curfew::lsp {

struct Stream {
  int input = 0;
  // False when the client is gone.
  std::function<bool(std::string_view)> write;
  // For people who read the server's log.
  std::function<void(std::string_view)> complain;
};

// The exit status: LSP's after `exit`; 1 when the stream ends before, or is not one of messages.
int Serve(const Stream& stream, Settings settings);

}  // namespace curfew::lsp
