// Any bytes as what an editor sends: the framing ends or goes on, and every line as a message is
// answered or ignored, in a session that has begun.
#include "compiler/base/check.h"
#include "compiler/lsp/framing.h"
#include "compiler/lsp/server.h"

#include <cstdint>
#include <string>

namespace {

using namespace curfew;

void ReadFrames(std::string_view bytes) {
  lsp::FrameReader reader;
  std::size_t read = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 97) {
    reader.Feed(bytes.substr(at, 97));
    while (true) {
      const auto frame = reader.Next();
      if (!frame) {
        CURFEW_CHECK(!reader.Next(), "a stream that is broken stays so");
        return;
      }
      if (!*frame) break;
      read += (*frame)->body.size();
    }
  }
  CURFEW_CHECK(read <= bytes.size(), "a body is of the stream");
}

void Converse(std::string_view bytes) {
  std::size_t answers = 0;
  const auto send = [&](const std::string& body) {
    ++answers;
    CURFEW_CHECK(lsp::Json::accept(body), "what is sent is JSON");
  };
  lsp::Server server({.version = "fuzz", .now_ms = [] { return std::int64_t{0}; }}, send);
  // No document lies in the workspace, so that no folder of this machine is searched.
  server.Receive(
      R"({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"workspaceFolders":
    [{"uri": "file:///no/such/workspace", "name": "none"}], "capabilities": {}}})");
  CURFEW_CHECK(answers == 1, "a request is answered");
  while (!bytes.empty() && !server.exit_status()) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
    if (line.find("didChangeWorkspaceFolders") != line.npos) continue;
    server.Receive(line);
  }
  server.Settle();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadFrames(bytes);
  ReadFrames(lsp::Framed(bytes));
  Converse(bytes);
  return 0;
}
