#include "compiler/lsp/framing.h"

#include "compiler/base/limits.h"
#include "compiler/lsp/message.h"

#include <vector>

#include <catch2/catch.hpp>

namespace curfew::lsp {
namespace {

// Every whole message of `bytes`, fed so many at a time; "!" and the reason at the end of a stream
// that cannot be read, "?" for one that was skipped.
std::vector<std::string> Read(std::string_view bytes, std::size_t at_once) {
  FrameReader reader;
  std::vector<std::string> bodies;
  for (std::size_t at = 0; at <= bytes.size(); at += at_once) {
    reader.Feed(bytes.substr(at, at_once));
    while (true) {
      auto frame = reader.Next();
      if (!frame) {
        bodies.push_back("!" + frame.error().message);
        return bodies;
      }
      if (!*frame) break;
      bodies.push_back((*frame)->too_large ? "?" : (*frame)->body);
    }
  }
  return bodies;
}

TEST_CASE("messages are cut out of a stream however its bytes arrive") {
  const std::string bytes = Framed("{}") + Framed("") + Framed("[\"ü\", \"\r\n\r\n\"]") +
                            "content-LENGTH:3 \r\nContent-Type: x; charset=utf-8\r\n\r\nabc" +
                            "Content-Length: 5\r\n\r\nhal";
  const std::vector<std::string> bodies{"{}", "", "[\"ü\", \"\r\n\r\n\"]", "abc"};
  for (const std::size_t at_once : {1UL, 2UL, 3UL, 7UL, 1000UL}) {
    INFO(at_once);
    CHECK(Read(bytes, at_once) == bodies);
  }
}

TEST_CASE("what is no header ends the stream, with the reason") {
  const auto why = [](const std::string& bytes) {
    const auto bodies = Read(bytes, 5);
    return bodies.empty() ? std::string() : bodies.back();
  };
  CHECK(why("Content-Length: 2\r\n\r\n{}GET / HTTP/1.1\r\n\r\n") ==
        "!`GET / HTTP/1.1` is no header");
  CHECK(why("Content-Length: 2x\r\n\r\n") == "!Content-Length `2x` is no number");
  CHECK(why("Content-Length: -1\r\n\r\n") == "!Content-Length `-1` is no number");
  CHECK(why("Content-Length: 99999999999999999999\r\n\r\n") ==
        "!Content-Length `99999999999999999999` is no number");
  CHECK(why("Content-Length: 2\r\nContent-Length: 3\r\n\r\n") == "!Content-Length stands twice");
  CHECK(why("X: 1\r\n\r\n") == "!headers without Content-Length");
  CHECK(why("\r\n\r\n{}") == "!headers without Content-Length");
  CHECK(why("Content-Length: 2\r\nContent-Type: a; charset=latin1\r\n\r\n{}") ==
        "!`a; charset=latin1`: messages are UTF-8");
  CHECK(why(std::string(HeadersBytesMax, 'a')) == "!headers of more than 8192 bytes");
}

TEST_CASE("a message that is too large is skipped, and what follows is read") {
  const std::string large(limits::JsonBytesMax + 1, 'x');
  const std::string bytes = Framed(large) + Framed("{}");
  for (const std::size_t at_once : {std::size_t{4096}, bytes.size()}) {
    CHECK(Read(bytes, at_once) == std::vector<std::string>{"?", "{}"});
  }
}

TEST_CASE("JSON-RPC is read strictly") {
  const auto refused = [](std::string_view body) {
    const auto read = ReadMessage(body);
    const auto* refusal = std::get_if<Refusal>(&read);
    return refusal == nullptr ? 0 : static_cast<int>(refusal->code);
  };
  CHECK(refused(R"({"jsonrpc": "2.0", "id": 1, "method": "a", "params": {}})") == 0);
  CHECK(refused(R"({"jsonrpc": "2.0", "id": "x", "method": "a"})") == 0);
  CHECK(refused(R"({"jsonrpc": "2.0", "method": "a", "params": []})") == 0);
  CHECK(refused(R"({"jsonrpc": "2.0", "id": 1, "result": null})") == 0);
  CHECK(refused("{") == -32700);
  CHECK(refused("") == -32700);
  CHECK(refused(R"({"jsonrpc": "2.0", "method": "a", "method": "b"})") == -32700);
  CHECK(refused("[]") == -32600);
  CHECK(refused(R"({"id": 1, "method": "a"})") == -32600);
  CHECK(refused(R"({"jsonrpc": "2.0", "id": 1})") == -32600);
  CHECK(refused(R"({"jsonrpc": "2.0", "id": 1.5, "method": "a"})") == -32600);
  CHECK(refused(R"({"jsonrpc": "2.0", "id": 1, "method": 2})") == -32600);
  CHECK(refused(R"({"jsonrpc": "2.0", "id": 1, "method": "a", "params": 3})") == -32600);
}

}  // namespace
}  // namespace curfew::lsp
