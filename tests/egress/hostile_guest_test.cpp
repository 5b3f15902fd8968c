// What a guest says that means harm: every spelling by which one server would read another request
// than the next does. Judged by what the upstream saw. Numbers are those of the classes of threats
// in the design.
#include "tests/egress/hostile_requests.h"
#include "tests/egress/rig.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::egress {
namespace {

constexpr std::string_view End = "Connection: close\r\n\r\n";

// What the guest is answered: a status, or nothing where the stream was just ended.
std::string StatusOf(Rig& rig, const std::string& request) {
  const std::string reply = rig.Ask(rig.DialName("files.example"), request);
  return reply.substr(0, 13).ends_with(' ') ? reply.substr(9, 3) : reply;
}
bool IsRefusal(const std::string& status) {
  return status.empty() || status.starts_with('4') || status.starts_with('5');
}

std::string Begins(const std::string& line) {
  return fmt::format("{}\r\nHost: files.example\r\n{}", line, End);
}
std::string With(const std::string& fields) { return Begins("GET /pub/x HTTP/1.1\r\n" + fields); }
std::string Posts(const std::string& fields, std::string_view body) {
  return fmt::format("POST /in/x HTTP/1.1\r\nHost: files.example\r\n{}{}{}", fields, End, body);
}

constexpr std::string_view Smuggled = hostile::Smuggled;

TEST_CASE("no other spelling of a coding or a length is taken for one, and none is sent (9)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  for (const std::string& coding : hostile::Codings()) {
    INFO(coding);
    CHECK(IsRefusal(
        StatusOf(rig, Posts(fmt::format("Transfer-Encoding: {}\r\n", coding), Smuggled))));
  }
  for (const std::string& name : hostile::CodingNames()) {
    INFO(name);
    CHECK(IsRefusal(StatusOf(rig, Posts(fmt::format("{}: chunked\r\n", name), Smuggled))));
    CHECK(IsRefusal(
        StatusOf(rig, Posts(fmt::format("Content-Length: 5\r\n{}: chunked\r\n", name), "hello"))));
  }
  for (const std::string& length : hostile::Lengths()) {
    INFO(length);
    CHECK(IsRefusal(StatusOf(rig, Posts(fmt::format("Content-Length: {}\r\n", length), "hello"))));
  }
  CHECK(upstream.connections() == 0);
  for (const char* fields : {"Content-Length: 5\t\r\n", "Content-Length:5\r\n",
                             "Content-Length: 00000000000000000005\r\n"}) {
    CHECK(StatusOf(rig, Posts(fields, "hello")) == "200");
    CHECK(upstream.last() ==
          "POST /in/x HTTP/1.1\r\nHost: files.example\r\nContent-Length: 5\r\n\r\nhello");
  }
  CHECK(StatusOf(rig, Posts("Transfer-Encoding: chunked\t\r\n", Smuggled)) == "200");
  CHECK(upstream.seen().size() == 4);
}

TEST_CASE("no other spelling of a line begins a request (9, 10)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  for (const std::string& line : hostile::Lines()) {
    INFO(line);
    CHECK(IsRefusal(StatusOf(rig, Begins(line))));
  }
  for (const std::string& field : hostile::Fields()) {
    INFO(field);
    CHECK(IsRefusal(StatusOf(rig, With(field))));
  }
  for (const std::string& host : hostile::Hosts()) {
    INFO(host);
    CHECK(
        IsRefusal(StatusOf(rig, fmt::format("GET /pub/x HTTP/1.1\r\nHost: {}\r\n{}", host, End))));
  }
  CHECK(upstream.connections() == 0);
  std::string many;
  for (int i = 0; i < 200; ++i) many += fmt::format("X{}: y\r\n", i);
  CHECK(StatusOf(rig, With(many + "X: y")) == "431");
  CHECK(upstream.connections() == 0);
  for (const char* host : {"FILES.EXAMPLE.", "files.example:80", "files.example.:80"}) {
    CHECK(StatusOf(rig, fmt::format("GET /pub/x HTTP/1.1\r\nHost: {}\r\n{}", host, End)) == "200");
    CHECK(upstream.last() == "GET /pub/x HTTP/1.1\r\nHost: files.example\r\n\r\n");
  }
}

TEST_CASE("a field that a server reads as another one is refused under every spelling (7, 12)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  for (const std::string& field : hostile::OverrideFields()) {
    INFO(field);
    CHECK(IsRefusal(StatusOf(rig, With(field))));
  }
  CHECK(upstream.connections() == 0);
  CHECK(StatusOf(rig, With("X_Mine: 1\r\nX.Mine: 2\r\nX-Forwarded-Host: evil.example\r\nForwarded: "
                           "host=evil.example\r\nX-Host: e\r\nX-Original-Host: e\r\n"
                           "X-HTTP-Host-Override: e\r\nVia: 1.1 x\r\nTE: trailers\r\nTrailer: x\r\n"
                           "Connection: X-Drop\r\nX-Drop: 1\r\nX-Keep: 2")) == "200");
  CHECK(
      upstream.last() ==
      "GET /pub/x HTTP/1.1\r\nHost: files.example\r\nX_Mine: 1\r\nX.Mine: 2\r\nX-Keep: 2\r\n\r\n");
}

TEST_CASE("what stands behind a refused request is never a request, unless it is one (9)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  const std::string inner = "GET /pub/smuggled HTTP/1.1\r\nHost: files.example\r\n\r\n";
  for (const std::string& refused :
       {fmt::format("POST /private HTTP/1.1\r\nHost: files.example\r\nContent-Length: {}\r\n\r\n",
                    inner.size()),
        fmt::format("GET /private HTTP/1.1\r\nHost: files.example\r\nContent-Length: {}\r\n\r\n",
                    inner.size()),
        std::string("POST /private HTTP/1.1\r\nHost: files.example\r\nExpect: 100-continue\r\n"
                    "Content-Length: 5000\r\n\r\n"),
        std::string("POST /private HTTP/1.1\r\nHost: files.example\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n"),
        std::string("GET /pub/x HTTP/1.1\r\nHost: api.example\r\n\r\n"),
        std::string("GET /pub/x HTTP/1.1\r\nHost: files.example\r\nUpgrade: h2c\r\n\r\n"),
        std::string("CONNECT files.example:80 HTTP/1.1\r\nHost: files.example\r\n\r\n")}) {
    INFO(refused);
    const std::string reply = rig.Ask(rig.DialName("files.example"), refused + inner);
    CHECK(reply.starts_with("HTTP/1.1 4"));
    CHECK(reply.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(reply.find("HTTP/1.1", 1) == std::string::npos);
  }
  CHECK(upstream.connections() == 0);
  // Without a body there is no doubt where it ends: the next one is judged for itself.
  Stream stream = rig.DialName("files.example");
  stream.Send("GET /private HTTP/1.1\r\nHost: files.example\r\n\r\n" + inner);
  stream.ReadUntil("HTTP/1.1 403");
  CHECK(stream.ReadUntil("\r\n\r\nhello").find("HTTP/1.1 200") != std::string::npos);
  CHECK(upstream.last() == inner);
}

TEST_CASE("no byte ends a host early, wherever it stands (3, 4)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  for (const std::size_t at : {std::size_t{0}, std::size_t{5}, std::size_t{13}}) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string host = "files.example";
      host.insert(at, 1, static_cast<char>(byte));
      INFO(at << " " << byte);
      const std::string ask = "GET http://" + host + "/pub/x HTTP/1.1\r\nHost: " + host + "\r\n";
      const std::string reply = rig.Ask(rig.DialProxy(), ask + std::string(End));
      // The root dot is the one byte that changes nothing.
      if (at == 13 && byte == '.') {
        CHECK(reply.starts_with("HTTP/1.1 200"));
      } else {
        CHECK(
            (reply.empty() || reply.starts_with("HTTP/1.1 4") || reply.starts_with("HTTP/1.1 5")));
      }
      const std::string connect = "CONNECT " + host + ":80 HTTP/1.1\r\n\r\n";
      Stream stream = rig.DialProxy();
      stream.Send(connect);
      CHECK(stream.ReadUntil("\r\n").starts_with("HTTP/1.1 200") == (at == 13 && byte == '.'));
    }
  }
  CHECK(upstream.seen().size() == 1);
  CHECK(rig.resolver.asked() == std::vector<std::string>{"files.example"});
}

}  // namespace
}  // namespace curfew::egress
