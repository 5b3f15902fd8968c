// Between the question and the deed: what is judged while something is waited for holds when it
// comes to pass.
#include "runtime/egress/sample_hello.h"
#include "tests/egress/rig.h"

#include <atomic>
#include <chrono>
#include <sys/socket.h>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::egress {
namespace {

constexpr const char* Shut = "shut: deny any \"http://files.example\", \"db.example:5432\"";

template <typename Holds>
bool Await(const Holds& holds) {
  for (int i = 0; i < 1000 && !holds(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return holds();
}

// A server whose queue is full: a connection to it stays begun until Open.
class Crowded {
 public:
  explicit Crowded(std::uint16_t port) : listener_(Stream::Listening("198.51.100.7", port)) {
    listen(listener_.fd(), 0);
    // The kernel tries again after one second.
    const timeval patience{.tv_sec = 2, .tv_usec = 500'000};
    setsockopt(listener_.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    crowd_ = Stream::To("198.51.100.7", port);
  }
  // Takes whoever came; the second is the gateway, if it still wants to.
  Stream Open() {
    (void)listener_.Accept();
    return listener_.Accept();
  }

 private:
  Stream listener_;
  Stream crowd_;
};

TEST_CASE("what a reload denies while it is dialled is not sent (31)") {
  Rig rig;
  SECTION("a request") {
    Crowded upstream(80);
    Stream stream = rig.DialName("files.example");
    stream.Send("GET /pub/x HTTP/1.1\r\nHost: files.example\r\n\r\n");
    REQUIRE(Await([&] { return rig.permits() == 1; }));
    CHECK(rig.Reload(Shut) == 1);
    CHECK(upstream.Open().ReadAll().empty());
    CHECK(stream.ReadAll().empty());
  }
  SECTION("a stream") {
    Crowded upstream(5432);
    Stream stream = rig.DialName("db.example", 5432);
    stream.Send("secret");
    REQUIRE(Await([&] { return rig.permits() == 1; }));
    CHECK(rig.Reload(Shut) == 1);
    CHECK(upstream.Open().ReadAll().empty());
    CHECK(stream.ReadAll().empty());
  }
  const std::vector<Flow> flows = rig.Flows(1);
  REQUIRE(flows.size() == 1);
  CHECK(flows[0].answer.reasons.at(0).id == "work.network.shut");
}

TEST_CASE("what a reload denies while its name is resolved is refused (31)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  rig.resolver.Say("files.example", {.silent = true});
  Stream stream = rig.DialName("files.example");
  stream.Send("GET /pub/x HTTP/1.1\r\nHost: files.example\r\n\r\n");
  REQUIRE(Await([&] { return !rig.resolver.asked().empty(); }));
  rig.Reload(Shut);
  rig.resolver.Say("files.example", {.addresses = {"198.51.100.7"}});
  const std::string reply = stream.ReadUntil("\r\n\r\n");
  CHECK(reply.starts_with("HTTP/1.1 403"));
  CHECK(reply.find("work.network.shut") != std::string::npos);
  CHECK(upstream.connections() == 0);
}

TEST_CASE("no question leaves for what a reload denies while the hello is read (17, 31)") {
  Rig rig;
  const std::string hello = HelloFor("web.example");
  Stream stream = rig.DialName("web.example", 443);
  stream.Send(hello.substr(0, 100));
  REQUIRE(Await([&] { return rig.gateway().load().memory_bytes >= 100; }));
  rig.Reload("shut: deny any \"web.example:443\"");
  stream.Send(hello.substr(100));
  CHECK(stream.ReadAll().size() == 7);  // an alert
  CHECK(rig.resolver.asked().empty());
  CHECK(rig.Flows(1).at(0).answer.reasons.at(0).id == "work.network.shut");
}

TEST_CASE("requests that wait for the same name are counted one after another") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig({}, {}, "deny egress when egress.requests > 3 because \"too many\"");
  rig.resolver.Say("files.example", {.silent = true});
  std::vector<Stream> guests;
  for (std::size_t i = 1; i <= 10; ++i) {
    guests.push_back(rig.DialName("files.example"));
    guests.back().Send("GET /pub/x HTTP/1.1\r\nHost: files.example\r\nConnection: close\r\n\r\n");
    REQUIRE(Await([&] { return rig.resolver.asked().size() == i; }));
  }
  rig.resolver.Say("files.example", {.addresses = {"198.51.100.7"}});
  int passed = 0;
  int refused = 0;
  for (Stream& guest : guests) {
    const std::string reply = guest.ReadAll();
    passed += reply.starts_with("HTTP/1.1 200") ? 1 : 0;
    refused += reply.find("too many") != std::string::npos ? 1 : 0;
  }
  CHECK(passed == 3);
  CHECK(refused == 7);
  CHECK(upstream.seen().size() == 3);
}

TEST_CASE("what many flows send together has the bound of one") {
  constexpr std::size_t Flows = 100;
  constexpr std::size_t BodyBytes = 30'000;
  std::atomic<std::size_t> received = 0;
  Upstream upstream("198.51.100.7", 80, [&](Stream& stream) {
    stream.ReadUntil("\r\n\r\n");
    received += stream.ReadBytes(BodyBytes).size();
  });
  Rig rig({}, {}, "deny egress when egress.total > 256KiB because \"enough\"");
  std::vector<Stream> guests;
  for (std::size_t i = 0; i < Flows; ++i) {
    guests.push_back(rig.DialName("files.example"));
    guests.back().Send(fmt::format(
        "POST /in/x HTTP/1.1\r\nHost: files.example\r\nContent-Length: {}\r\n\r\n", BodyBytes));
  }
  REQUIRE(Await([&] { return rig.permits() == Flows; }));
  const std::string body(BodyBytes, 'x');
  for (const Stream& guest : guests) (void)guest.Send(body);
  CHECK(rig.Flows(Flows).size() == Flows);
  CHECK(received <= 256 * 1024 + Flows * 10 * 1024);
}

TEST_CASE("a head that drips in is ended in time, of HTTP and of TLS") {
  Limits limits;
  limits.head_ms = limits.first_byte_ms = 400;
  Rig rig(limits);
  const auto drip = [&](Stream stream, const std::string& text) {
    const auto begun = std::chrono::steady_clock::now();
    std::thread sender([&] {
      for (const char byte : text) {
        if (!stream.Send(std::string_view(&byte, 1))) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
      }
    });
    std::string reply = stream.ReadAll();
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(4));
    stream.Reset();
    sender.join();
    return reply;
  };
  CHECK(drip(rig.DialName("files.example"),
             "GET /pub/x HTTP/1.1\r\nHost: files.example\r\nX: " + std::string(100, 'x'))
            .starts_with("HTTP/1.1 408"));
  CHECK(drip(rig.DialName("web.example", 443), HelloFor("web.example").substr(0, 100)).size() == 7);
}

}  // namespace
}  // namespace curfew::egress
