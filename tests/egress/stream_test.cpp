// Streams: by the name in their ClientHello, or by host and port alone.
#include "runtime/egress/sample_hello.h"
#include "tests/egress/rig.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::egress {
namespace {

// An alert is what the guest gets, and nothing reaches the upstream.
std::string AlertOf(Rig& rig, Stream stream, const std::string& text) {
  const std::string reply = rig.Ask(std::move(stream), text);
  return reply.size() == 7 && reply.starts_with("\x15\x03") ? reply.substr(6) : "no alert";
}

TEST_CASE("a ClientHello that names the place passes as it came, in any pieces (8)") {
  Sink upstream(443);
  Rig rig;
  const std::string hello =
      InRecords(HelloMessage(ServerName({"web.example"}) + LargeKeyShare()), 100);
  SECTION("at once") {
    Stream stream = rig.DialName("web.example", 443);
    stream.Send(hello + "and more");
    stream.Shut();
    CHECK(stream.ReadAll() == "done");
  }
  SECTION("byte by byte") {
    Stream stream = rig.DialName("web.example", 443);
    for (const char byte : hello + "and more") stream.Send(std::string_view(&byte, 1));
    stream.Shut();
    CHECK(stream.ReadAll() == "done");
  }
  SECTION("through CONNECT") {
    Stream stream = rig.DialProxy();
    stream.Send("CONNECT web.example:443 HTTP/1.1\r\nHost: web.example:443\r\n\r\n");
    CHECK(stream.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 200"));
    stream.Send(hello + "and more");
    stream.Shut();
    CHECK(stream.ReadAll() == "done");
  }
  CHECK(upstream.last() == hello + "and more");
  const std::vector<Flow> flows = rig.Flows(1);
  REQUIRE(flows.size() == 1);
  CHECK(flows[0].answer.reasons.at(0).id == "work.network.web");
  CHECK(flows[0].bytes_out == hello.size() + 8);
  CHECK(flows[0].bytes_in == 4);
}

TEST_CASE("`allow any` of an https host passes by its name, without method and path") {
  Sink upstream(443);
  Rig rig;
  Stream stream = rig.DialName("secure.example", 443);
  stream.Send(HelloFor("secure.example"));
  stream.Shut();
  CHECK(stream.ReadAll() == "done");
  CHECK(upstream.last() == HelloFor("secure.example"));
  CHECK(rig.Flows(1).at(0).facts.scheme == Scheme::Https);
  // The rules of http say nothing of it.
  CHECK(AlertOf(rig, rig.DialName("files.example", 443), HelloFor("files.example")) == "\x31");
}

TEST_CASE("a ClientHello that is not about the place gets an alert (8)") {
  Sink upstream(443);
  Rig rig;
  const auto refused = [&](const std::string& text) {
    CHECK(AlertOf(rig, rig.DialName("web.example", 443), text) != "no alert");
  };
  refused(HelloFor("other.example"));
  refused(HelloFor("web.example.evil.example"));
  refused(InRecords(HelloMessage(LargeKeyShare())));
  refused(InRecords(HelloMessage(ServerName({"web.example", "other.example"}))));
  refused(InRecords(HelloMessage(ServerName({"web.example"}) + ServerName({"other.example"}))));
  refused(InRecords(HelloMessage(ServerName({"web.example"}) + Extension(0xfe0d, "ech"))));
  refused(InRecords(HelloMessage(ServerName({std::string("web.example\0.evil", 17)}))));
  CHECK(rig.denials().size() == 7);
  CHECK(rig.denials().at(5).find("tls inspect") != std::string::npos);
  CHECK(upstream.server.connections() == 0);
  CHECK(rig.resolver.asked().empty());
}

TEST_CASE("nothing but TLS passes to port 443, and nothing of it before it is judged (8)") {
  Sink upstream(443);
  Rig rig;
  for (const std::string& text :
       {std::string("GET / HTTP/1.1\r\nHost: web.example\r\n\r\n"), std::string("SSH-2.0-x\r\n"),
        std::string("\x80\x2e\x01\x03\x01"), std::string(1, '\0')}) {
    CHECK(rig.Ask(rig.DialName("web.example", 443), text).empty());
  }
  Stream partial = rig.DialName("web.example", 443);
  partial.Send(HelloFor("web.example").substr(0, 700));
  partial.Shut();
  CHECK(partial.ReadAll().size() == 7);
  CHECK(upstream.server.connections() == 0);
}

TEST_CASE("CONNECT, ClientHello and rules agree (8)") {
  Sink upstream(443);
  Rig rig;
  const auto connect = [&](const std::string& target) {
    Stream stream = rig.DialProxy();
    stream.Send(fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", target));
    return stream;
  };
  Stream refused = connect("other.example:443");
  CHECK(refused.ReadAll().starts_with("HTTP/1.1 403"));
  CHECK(connect("web.example:444").ReadAll().starts_with("HTTP/1.1 403"));
  CHECK(connect("198.51.100.7:443").ReadAll().starts_with("HTTP/1.1 403"));
  CHECK(connect("u@web.example:443").ReadAll().starts_with("HTTP/1.1 400"));
  Stream stream = connect("web.example:443");
  CHECK(stream.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 200"));
  CHECK(AlertOf(rig, std::move(stream), HelloFor("other.example")) != "no alert");
  Stream nested = connect("files.example:80");
  CHECK(nested.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 200"));
  nested.Send("CONNECT web.example:443 HTTP/1.1\r\nHost: web.example:443\r\n\r\n");
  CHECK(nested.ReadAll().starts_with("HTTP/1.1 400"));
  CHECK(upstream.server.connections() == 0);
}

TEST_CASE("a raw stream passes both ways, also where the server speaks first") {
  Sink upstream(5432, "welcome\n");
  Rig rig;
  Stream stream = rig.DialName("db.example", 5432);
  CHECK(stream.ReadUntil("\n") == "welcome\n");
  const std::string bytes = std::string("any\0bytes\xff", 10);
  stream.Send(bytes);
  stream.Shut();
  CHECK(stream.ReadAll() == "done");
  CHECK(upstream.last() == bytes);
  CHECK(rig.Ask(rig.DialName("db.example", 5433), "x\n").empty());
  CHECK(rig.Ask(rig.DialName("other.example", 5432), "x\n").empty());
  CHECK(upstream.server.connections() == 1);
}

TEST_CASE("TLS on a raw stream to any port still names the place (8)") {
  Sink upstream(5432);
  Rig rig;
  Stream good = rig.DialName("db.example", 5432);
  good.Send(HelloFor("db.example"));
  good.Shut();
  CHECK(good.ReadAll() == "done");
  CHECK(AlertOf(rig, rig.DialName("db.example", 5432), HelloFor("other.example")) != "no alert");
  CHECK(upstream.last().find("other.example") == std::string::npos);
}

TEST_CASE("an upstream that is not there, or goes away, ends its stream and no other") {
  Upstream resets("198.51.100.7", 5432, [](Stream& stream) { stream.Reset(); });
  Sink fine(443);
  Rig rig;
  Stream stream = rig.DialName("db.example", 5432);
  CHECK(stream.ReadAll().empty());
  rig.resolver.Say("db.example", {.addresses = {"198.51.100.77"}});
  CHECK(rig.DialName("db.example", 5432).ReadAll().empty());
  CHECK(rig.Flows(2).at(1).end.find("cannot be reached") != std::string::npos);
  Stream other = rig.DialName("web.example", 443);
  other.Send(HelloFor("web.example"));
  other.Shut();
  CHECK(other.ReadAll() == "done");
}

TEST_CASE("who says nothing, or stops within a hello, is let go in time") {
  Limits limits;
  limits.first_byte_ms = 300;
  Rig rig(limits);
  CHECK(rig.DialName("web.example", 443).ReadAll().empty());
  CHECK(rig.DialName("files.example", 80).ReadAll().empty());
  CHECK(AlertOf(rig, rig.DialName("web.example", 443), HelloFor("web.example").substr(0, 99)) !=
        "no alert");
}

TEST_CASE("a stream is judged again as it grows, and cut where it may not") {
  Sink upstream(5432);
  Rig rig({}, {},
          "deny egress when egress.scheme == tcp and egress.bytes > 256KiB\n"
          "  because \"no more than that\"");
  Stream stream = rig.DialName("db.example", 5432);
  const std::string much(1024 * 1024, 'x');
  (void)stream.Send(much);
  stream.Shut();
  CHECK(stream.ReadAll() != "done");
  const std::vector<Flow> flows = rig.Flows(1);
  REQUIRE(flows.size() == 1);
  CHECK_FALSE(flows[0].answer.allowed);
  CHECK(flows[0].end == "cut");
  CHECK(upstream.last().size() <= (256 + 64 + 128) * 1024);
}

TEST_CASE("closing the gateway cuts every flow, and each is on record") {
  Sink upstream(5432, "welcome\n");
  Rig rig;
  Stream stream = rig.DialName("db.example", 5432);
  CHECK(stream.ReadUntil("\n") == "welcome\n");
  rig.Stop();
  CHECK(stream.ReadAll().empty());
  CHECK(rig.Flows(1).at(0).answer.reasons.at(0).id == "gateway.closing");
}

}  // namespace
}  // namespace curfew::egress
