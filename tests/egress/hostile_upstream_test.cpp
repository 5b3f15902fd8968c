// What an upstream, or the resolver, says that means harm: it can fail its own request, and no
// more.
#include "tests/egress/rig.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::egress {
namespace {

// Says this to each request on a connection.
struct Repeating {
  Upstream server;
  explicit Repeating(std::string text)
      : server("198.51.100.7", 80, [text](Stream& stream) {
          while (stream.ReadUntil("\r\n\r\n").ends_with("\r\n\r\n") && stream.Send(text)) {
          }
        }) {}
};

std::string Request(const std::string& method, const std::string& path) {
  return fmt::format("{} {} HTTP/1.1\r\nHost: files.example\r\n\r\n", method, path);
}

TEST_CASE("an answer that has no body says no length, and what follows it is nobody's (9)") {
  Rig rig;
  const std::string evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
  for (const char* head :
       {"HTTP/1.1 204 None\r\nContent-Length: 48\r\n\r\n",
        "HTTP/1.1 204 None\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 204 None\r\n\r\n"}) {
    INFO(head);
    const Repeating upstream(head + evil);
    Stream stream = rig.DialName("files.example");
    for (int i = 0; i < 2; ++i) {
      stream.Send(Request("GET", "/pub/x"));
      const std::string answer = stream.ReadUntil("\r\n\r\n");
      CHECK(answer == "HTTP/1.1 204 None\r\n\r\n");
    }
  }
  const Repeating upstream("HTTP/1.1 200 OK\r\nContent-Length: 48\r\n\r\n" + evil);
  Stream stream = rig.DialName("files.example");
  for (int i = 0; i < 2; ++i) {
    stream.Send(Request("HEAD", "/pub/x"));
    CHECK(stream.ReadUntil("\r\n\r\n") == "HTTP/1.1 200 OK\r\nContent-Length: 48\r\n\r\n");
  }
}

TEST_CASE("interim answers are few, and carry no length") {
  Rig rig;
  const std::string last = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
  const std::string hint =
      "HTTP/1.1 103 Early\r\nLink: x\r\nContent-Length: 48\r\nTransfer-Encoding: chunked\r\n\r\n";
  {
    const Repeating upstream("HTTP/1.1 103 Early\r\nLink: x\r\nContent-Length: 48\r\n\r\n" + last);
    const std::string reply = rig.Get("files.example", "/pub/x");
    CHECK(reply.starts_with("HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200"));
  }
  {
    const Repeating upstream(hint + last);
    CHECK(rig.Get("files.example", "/pub/x").starts_with("HTTP/1.1 502"));
  }
  std::string flood;
  for (int i = 0; i < 1000; ++i) flood += "HTTP/1.1 100 Continue\r\n\r\n";
  const Repeating upstream(flood + last);
  const std::string reply = rig.Get("files.example", "/pub/x");
  CHECK(reply.find("HTTP/1.1 502") != std::string::npos);
  CHECK(reply.size() < 2000);
}

TEST_CASE("an answer that could be read in two ways is not passed on (9)") {
  Rig rig;
  const std::string chunked = "5\r\nhello\r\n0\r\n\r\n";
  const std::vector<std::string> answers = {
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + chunked,
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n" + chunked,
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nTransfer_Encoding: chunked\r\n\r\n" + chunked,
      "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked,
      std::string("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
      std::string("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nhello"),
      std::string("HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello"),
      std::string("HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\nContent-Length: 5\r\n\r\nhello"),
      std::string("HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 5\r\n\r\nhello", 51),
      std::string("HTTP/1.1 200 O\rK\r\nContent-Length: 5\r\n\r\nhello"),
      std::string("HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
      std::string("HTTP/1.1 2000 OK\r\nContent-Length: 5\r\n\r\nhello"),
      std::string("HTTP/1.1 20 OK\r\nContent-Length: 5\r\n\r\nhello"),
      std::string("\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")};
  for (const std::string& answer : answers) {
    INFO(answer);
    const Repeating upstream(answer);
    CHECK(rig.Get("files.example", "/pub/x").starts_with("HTTP/1.1 502"));
  }
  const Repeating upstream(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\nUpgrade: h2c\r\nKeep-Alive: "
      "9\r\nConnection: x-hop\r\nX-Hop: 1\r\nX: y\r\n\r\n5;a=\"b\"\r\nhello\r\n0;c\r\nX-Late: "
      "1\r\n\r\n");
  CHECK(rig.Get("files.example", "/pub/x") ==
        "HTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        "5\r\nhello\r\n0\r\n\r\n");
}

TEST_CASE("a body that is refused while its answer comes is on record as refused") {
  Upstream upstream("198.51.100.7", 80, [](Stream& stream) {
    stream.ReadUntil("\r\n\r\n");
    stream.Send("HTTP/1.1 200 OK\r\n\r\nbegun");
    stream.ReadAll();
  });
  Rig rig({}, {}, "deny egress when egress.bytes > 64KiB because \"too large\"");
  Stream stream = rig.DialName("files.example");
  stream.Send("POST /in/x HTTP/1.1\r\nHost: files.example\r\nTransfer-Encoding: chunked\r\n\r\n");
  CHECK(stream.ReadUntil("begun").ends_with("begun"));
  const std::string chunk = "8000\r\n" + std::string(0x8000, 'x') + "\r\n";
  for (int i = 0; i < 8; ++i) (void)stream.Send(chunk);
  stream.ReadAll();
  const std::vector<Flow> flows = rig.Flows(1);
  REQUIRE(flows.size() == 1);
  CHECK(flows[0].is_refused());
  CHECK(flows[0].answer.reasons.at(0).message == "too large");
}

std::string Wire(const std::vector<std::string>& labels) {
  std::string wire;
  for (const std::string& label : labels) {
    wire += static_cast<char>(label.size());
    wire += label;
  }
  return wire + std::string(1, '\0');
}

// An answer to a question for api.example, behind the question's id.
std::string Raw(const std::string& question, unsigned answers, const std::string& records) {
  return std::string("\x81\x80\0\1\0", 5) + static_cast<char>(answers) + std::string(4, '\0') +
         question + std::string("\0\1\0\1", 4) + records;
}

TEST_CASE("a resolver that answers another question, or in circles, leads nowhere (16, 18)") {
  HttpUpstream upstream("198.51.100.7");
  HttpUpstream inside("10.20.0.7");
  Limits limits;
  limits.resolve_ms = 400;
  Rig rig(limits);
  const std::string api = Wire({"api", "example"});
  const std::string other = Wire({"x", "forbidden", "example"});
  const std::string public_a("\0\1\0\1\0\0\0\0\0\4\xc6\x33\x64\x07", 14);
  const std::string nul = Wire({std::string("a\0b", 3), "example"});
  const auto alias = [](const std::string& target) {
    return std::string("\0\5\0\1\0\0\0\0\0", 9) + static_cast<char>(target.size()) + target;
  };
  for (const std::string& raw :
       {Raw(other, 1, other + public_a),                               // another question
        Raw(api, 1, other + public_a),                                 // a record of another name
        Raw(api, 2, api + alias(api) + api + public_a).substr(0, 30),  // cut short
        Raw(api, 1, api + alias(api)),                                 // an alias of itself
        Raw(api, 2, api + alias(other) + other + alias(api)),          // in a circle
        Raw(std::string("\xc0\x0c", 2), 1, std::string("\xc0\x0c", 2) + public_a),
        Raw(api, 1, std::string("\xc0\x1d", 2) + public_a),  // a name that points to itself
        Raw(api, 255, api + public_a),                       // fewer than it says
        Raw(api, 2, api + alias(nul) + nul + public_a),
        Raw(api, 2, api + alias(other) + other + public_a)}) {  // an alias that is denied
    rig.resolver.Say("api.example", {.raw = raw});
    const std::string reply = rig.Get("api.example", "/");
    INFO(reply);
    CHECK((reply.starts_with("HTTP/1.1 50") || reply.starts_with("HTTP/1.1 403")));
  }
  CHECK(upstream.connections() == 0);
  std::vector<std::string> many;
  for (int i = 1; i <= 70; ++i) many.push_back(fmt::format("203.0.113.{}", i));
  rig.resolver.Say("api.example", {.addresses = many});
  CHECK(rig.Get("api.example", "/").starts_with("HTTP/1.1 502"));
  CHECK(inside.connections() == 0);
}

}  // namespace
}  // namespace curfew::egress
