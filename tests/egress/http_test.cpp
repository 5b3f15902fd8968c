// HTTP: what passes is written anew, what could be read in two ways does not pass, and an upstream
// can do nothing worse than fail its own request.
#include "tests/egress/hostile_requests.h"
#include "tests/egress/rig.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::egress {
namespace {

bool Answers(const std::string& reply, const std::string& status) {
  return reply.starts_with("HTTP/1.1 " + status);
}

std::string Post(const std::string& fields, const std::string& body) {
  return "POST /in/x HTTP/1.1\r\nHost: files.example\r\nConnection: close\r\n" + fields + "\r\n" +
         body;
}

// An upstream that says this to whatever it is asked, and then does `then`.
struct Saying {
  Upstream server;
  explicit Saying(
      std::string text, std::function<void(Stream&)> then = [](Stream&) {})
      : server("198.51.100.7", 80, [text, then](Stream& stream) {
          stream.ReadUntil("\r\n\r\n");
          stream.Send(text);
          then(stream);
        }) {}
};

TEST_CASE("what two servers could read in two ways reaches none (9)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  for (const std::string& request : hostile::TwoReadings()) {
    INFO(request);
    const std::string reply = rig.Ask(rig.DialName("files.example"), request);
    CHECK((Answers(reply, "4") || Answers(reply, "5")));
    CHECK(reply.find("Connection: close\r\n") != std::string::npos);
  }
  CHECK(upstream.connections() == 0);
  CHECK(Answers(rig.Get("files.example", "/pub/x"), "200"));
}

TEST_CASE("a body that breaks its own framing ends the request, and none follows it (9)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  for (const std::string& body :
       {"5;x=" + std::string(10'000, 'x'), "0\r\nX: " + std::string(40'000, 'x')}) {
    Stream stream = rig.DialName("files.example");
    stream.Send(Post("Transfer-Encoding: chunked\r\n", body));
    CHECK(Answers(stream.ReadAll(), "400"));
  }
  for (const char* body : {"5\r\nhelloXX\r\n0\r\n\r\n", "zz\r\n", "5\nhello\r\n0\r\n\r\n",
                           "5\r\nhello\r\n0\r\nX", "ffffffffffffffffff\r\n"}) {
    INFO(body);
    Stream stream = rig.DialName("files.example");
    stream.Send(Post("Transfer-Encoding: chunked\r\n", body));
    stream.Shut();
    CHECK(Answers(stream.ReadAll(), "400"));
  }
  Stream cut = rig.DialName("files.example");
  cut.Send(Post("Content-Length: 10\r\n", "short"));
  cut.Shut();
  CHECK(Answers(cut.ReadAll(), "400"));
  for (const std::string& seen : upstream.seen()) CHECK_FALSE(seen.ends_with("0\r\n\r\n"));
}

TEST_CASE("a request is written anew: framing, fields, order of what matters (9)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  CHECK(Answers(rig.Ask(rig.DialName("files.example"),
                        Post("Transfer-Encoding: Chunked\r\nTE: trailers\r\nX-Kept: 1\r\n",
                             "2;x=\"y\"\r\nhe\r\n003\r\nllo\r\n0\r\nTrailer: x\r\n\r\n")),
                "200"));
  const std::string seen = upstream.last();
  CHECK(
      seen.starts_with("POST /in/x HTTP/1.1\r\nHost: files.example\r\nX-Kept: 1\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n"));
  CHECK(seen.ends_with("\r\n0\r\n\r\n"));
  CHECK(seen.find(';') == std::string::npos);
  CHECK(seen.find("Trailer") == std::string::npos);
  CHECK(Answers(rig.Ask(rig.DialName("files.example"), Post("Content-Length: 05\r\n", "hello")),
                "200"));
  CHECK(upstream.last() ==
        "POST /in/x HTTP/1.1\r\nHost: files.example\r\nContent-Length: 5\r\n\r\nhello");
}

TEST_CASE("methods are judged as written, and so is one that a field asks for (12)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  const auto ask = [&](const std::string& method, const std::string& path,
                       const std::string& fields = {}) {
    return rig.Ask(
        rig.DialName("files.example"),
        fmt::format("{} {} HTTP/1.1\r\nHost: files.example\r\nConnection: close\r\n{}\r\n", method,
                    path, fields));
  };
  CHECK(Answers(ask("HEAD", "/pub/x"), "200"));
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    CHECK(Answers(ask(method, "/pub/x"), "403"));
  }
  for (const char* method : {"get", "TRACE", "PROPFIND", "GETX"}) {
    CHECK(Answers(ask(method, "/pub/x"), "501"));
  }
  CHECK(Answers(ask("CONNECT", "files.example:80"), "400"));
  CHECK(Answers(ask("GET", "/pub/x", "X-HTTP-Method-Override: DELETE\r\n"), "403"));
  CHECK(Answers(ask("GET", "/pub/x", "X-HTTP-Method-Override: head\r\n"), "200"));
  CHECK(Answers(rig.Get("api.example", "/", "X-HTTP-Method-Override: DELETE\r\n"), "200"));
  CHECK(upstream.seen().size() == 3);
}

TEST_CASE("no upgrade is asked for, and none is taken (13)") {
  HttpUpstream upstream(
      "198.51.100.7", 80,
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n");
  Rig rig;
  CHECK(Answers(rig.Get("api.example", "/", "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n"),
                "403"));
  CHECK(Answers(rig.Get("api.example", "/", "Upgrade: websocket\r\n"), "403"));
  CHECK(upstream.connections() == 0);
  CHECK(Answers(rig.Get("api.example", "/"), "502"));
}

TEST_CASE("connections are kept on both sides, and every request is judged") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  Stream stream = rig.DialName("files.example");
  const auto ask = [&](const std::string& target) {
    stream.Send("GET " + target + " HTTP/1.1\r\nHost: files.example\r\n\r\n");
    const std::string head = stream.ReadUntil("\r\n\r\n");
    const std::size_t at = head.find("Content-Length: ");
    stream.ReadBytes(std::strtoul(head.c_str() + at + 16, nullptr, 10));
    return head;
  };
  CHECK(Answers(ask("/pub/1"), "200"));
  CHECK(Answers(ask("/private"), "403"));
  CHECK(Answers(ask("/pub/2"), "200"));
  rig.Reload("shut: deny any \"http://files.example/pub/2\"");
  CHECK(Answers(ask("/pub/2"), "403"));
  CHECK(Answers(ask("/pub/3"), "200"));
  CHECK(upstream.connections() == 1);
  CHECK(upstream.seen().size() == 3);
  CHECK(rig.resolver.asked().size() == 1);
  // Many at once are answered in their order.
  stream.Send(
      "GET /pub/4 HTTP/1.1\r\nHost: files.example\r\n\r\nGET /no HTTP/1.1\r\nHost: "
      "files.example\r\n\r\nGET /pub/5 HTTP/1.1\r\nHost: files.example\r\nConnection: "
      "close\r\n\r\n");
  const std::string all = stream.ReadAll();
  CHECK(Answers(all, "200"));
  CHECK(all.find("HTTP/1.1 403") < all.rfind("HTTP/1.1 200"));
  CHECK(upstream.last().starts_with("GET /pub/5"));
}

TEST_CASE("a kept upstream that went away is dialled anew") {
  Upstream once("198.51.100.7", 80, [](Stream& stream) {
    stream.ReadUntil("\r\n\r\n");
    stream.Send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
  });
  Rig rig;
  Stream stream = rig.DialName("files.example");
  for (int i = 0; i < 5; ++i) {
    stream.Send("GET /pub/x HTTP/1.1\r\nHost: files.example\r\n\r\n");
    CHECK(stream.ReadUntil("\r\n\r\nx").ends_with("\r\n\r\nx"));
  }
  CHECK(once.connections() == 5);
}

TEST_CASE("large bodies pass both ways, whole, and hold little memory") {
  constexpr std::size_t Size = 32 * 1024 * 1024;
  std::atomic<std::size_t> received = 0;
  Upstream upstream("198.51.100.7", 80, [&](Stream& stream) {
    const std::string head = stream.ReadUntil("\r\n\r\n");
    for (std::size_t left = head.starts_with("POST") ? Size : 0; left > 0;) {
      const std::size_t got = stream.ReadBytes(std::min<std::size_t>(left, 1 << 20)).size();
      if (got == 0) return;
      left -= got;
      received += got;
    }
    stream.Send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", Size));
    const std::string piece(1 << 20, 'y');
    for (std::size_t sent = 0; sent < Size; sent += piece.size()) stream.Send(piece);
  });
  Rig rig;
  Stream stream = rig.DialName("files.example");
  std::thread sender([&] {
    stream.Send(Post(fmt::format("Content-Length: {}\r\n", Size), ""));
    const std::string piece(1 << 20, 'x');
    for (std::size_t sent = 0; sent < Size; sent += piece.size()) stream.Send(piece);
  });
  sender.join();
  const std::string head = stream.ReadUntil("\r\n\r\n");
  CHECK(Answers(head, "200"));
  // A guest that does not read holds up its own upstream only.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(rig.gateway().load().memory_bytes <= 512 * 1024);
  std::size_t got = 0;
  for (std::string piece; !(piece = stream.ReadBytes(1 << 20)).empty(); got += piece.size()) {
  }
  CHECK(got == Size);
  CHECK(received == Size);
  const Flow flow = rig.Flows(1).at(0);
  CHECK(flow.bytes_out == Size);
  CHECK(flow.bytes_in == Size);
}

TEST_CASE("100-continue goes through, and so does an answer that comes instead") {
  Rig rig;
  {
    Upstream upstream("198.51.100.7", 80, [](Stream& stream) {
      stream.ReadUntil("\r\n\r\n");
      stream.Send("HTTP/1.1 100 Continue\r\n\r\n");
      stream.Send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + stream.ReadBytes(5));
      stream.ReadAll();
    });
    Stream stream = rig.DialName("files.example");
    stream.Send(Post("Expect: 100-continue\r\nContent-Length: 5\r\n", ""));
    CHECK(Answers(stream.ReadUntil("\r\n\r\n"), "100"));
    stream.Send("hello");
    CHECK(stream.ReadAll().ends_with("\r\n\r\nhello"));
  }
  const Saying upstream("HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno");
  Stream stream = rig.DialName("files.example");
  stream.Send(Post("Expect: 100-continue\r\nContent-Length: 5000000\r\n", ""));
  CHECK(Answers(stream.ReadAll(), "413"));
}

TEST_CASE("an answer that comes before the body is whole is passed on, and ends the connection") {
  const Saying upstream("HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno",
                        [](Stream& stream) { stream.ReadBytes(1000); });
  Rig rig;
  Stream stream = rig.DialName("files.example");
  stream.Send("POST /in/x HTTP/1.1\r\nHost: files.example\r\nContent-Length: 5000000\r\n\r\n" +
              std::string(100'000, 'x'));
  const std::string reply = stream.ReadAll();
  CHECK(Answers(reply, "401"));
  CHECK(reply.find("Connection: close") != std::string::npos);
  CHECK(reply.ends_with("no"));
}

TEST_CASE("answers of every framing reach the guest in one that it can read") {
  Rig rig;
  const auto ask = [&](const std::string& answer, const std::string& version = "1.1",
                       const std::string& method = "GET") {
    const Saying upstream(answer);
    return rig.Ask(
        rig.DialName("files.example"),
        fmt::format("{} /pub/x HTTP/{}\r\nHost: files.example\r\nConnection: close\r\n\r\n", method,
                    version));
  };
  CHECK(ask("HTTP/1.1 200 OK\r\n\r\nhello").ends_with("\r\n\r\n5\r\nhello\r\n0\r\n\r\n"));
  CHECK(ask("HTTP/1.1 200 OK\r\n\r\nhello", "1.0").ends_with("\r\n\r\nhello"));
  CHECK(ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "1.0")
            .ends_with("\r\n\r\nhello"));
  CHECK(ask("HTTP/1.1 304 Same\r\nContent-Length: 99\r\n\r\n")
            .ends_with("Content-Length: 99\r\nConnection: close\r\n\r\n"));
  CHECK(ask("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", "1.1", "HEAD")
            .find("Content-Length: 99") != std::string::npos);
  CHECK(ask("HTTP/1.1 204 None\r\n\r\n").ends_with("\r\n\r\n"));
  CHECK(
      Answers(ask("HTTP/1.1 302 Go\r\nLocation: http://evil.example/\r\nContent-Length: 0\r\n\r\n"),
              "302"));
  const std::string hints =
      ask("HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  CHECK(Answers(hints, "103"));
  CHECK(hints.find("HTTP/1.1 200") != std::string::npos);
}

TEST_CASE("an upstream that answers nonsense is said to") {
  Rig rig;
  for (const std::string& answer :
       {std::string("garbage\r\n\r\n"), std::string("HTTP/1.1 200 OK\nContent-Length: 0\n\n"),
        std::string(),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
        std::string("HTTP/1.1 099 x\r\n\r\n"), std::string("HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n"),
        std::string("\x16\x03\x01\x02"), "HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x')}) {
    const Saying upstream(answer);
    INFO(answer.substr(0, 80));
    CHECK(Answers(rig.Get("files.example", "/pub/x"), "502"));
  }
}

TEST_CASE("an answer that stops short is cut, not ended") {
  Rig rig;
  for (const char* answer : {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX"}) {
    const Saying upstream(answer);
    Stream stream = rig.DialName("files.example");
    stream.Send("GET /pub/x HTTP/1.1\r\nHost: files.example\r\n\r\n");
    CHECK_FALSE(stream.ReadAll().ends_with("0\r\n\r\n"));
    CHECK(stream.was_reset());
  }
  CHECK(rig.Flows(3).at(2).end.find("broke off") != std::string::npos);
}

TEST_CASE("what an upstream says beyond its answer is nobody's answer (9)") {
  const Saying upstream(
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: "
      "4\r\n\r\nevil");
  Rig rig;
  Stream stream = rig.DialName("files.example");
  for (int i = 0; i < 3; ++i) {
    stream.Send("GET /pub/x HTTP/1.1\r\nHost: files.example\r\n\r\n");
    CHECK(stream.ReadUntil("\r\n\r\n").ends_with("\r\n\r\n"));
    CHECK(stream.ReadBytes(5) == "hello");
  }
  CHECK(upstream.server.connections() == 3);
}

TEST_CASE("a stall is ended in time, with a reason, and holds up nobody else") {
  Limits limits;
  limits.answer_ms = 400;
  limits.idle_ms = 400;
  limits.head_ms = 400;
  limits.kept_ms = 400;
  Upstream stalls("198.51.100.7", 80, [](Stream& stream) {
    const std::string head = stream.ReadUntil("\r\n\r\n");
    if (head.starts_with("GET /pub/half"))
      stream.Send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx");
    stream.ReadAll();
  });
  HttpUpstream fine("198.51.100.8");
  Rig rig(limits);
  rig.resolver.Say("api.example", {.addresses = {"198.51.100.8"}});
  Stream waiting = rig.DialName("files.example");
  waiting.Send("GET /pub/x HTTP/1.1\r\nHost: files.example\r\nConnection: close\r\n\r\n");
  CHECK(Answers(rig.Get("api.example", "/"), "200"));
  CHECK(Answers(waiting.ReadAll(), "504"));
  Stream half = rig.DialName("files.example");
  half.Send("GET /pub/half HTTP/1.1\r\nHost: files.example\r\n\r\n");
  CHECK(half.ReadAll().ends_with("x"));
  CHECK(half.was_reset());
  // The guest's own slowness.
  Stream slow = rig.DialName("files.example");
  slow.Send("GET /pub/x HTTP/1.1\r\nHost:");
  CHECK(Answers(slow.ReadAll(), "408"));
  Stream idle = rig.DialName("api.example");
  idle.Send("GET / HTTP/1.1\r\nHost: api.example\r\n\r\n");
  CHECK(idle.ReadAll().ends_with("hello"));
}

TEST_CASE("an upstream is not kept busy for a guest that broke off") {
  std::atomic<int> asked = 0;
  std::atomic<int> ended = 0;
  Upstream stalls("198.51.100.7", 80, [&](Stream& stream) {
    if (stream.ReadUntil("\r\n\r\n").starts_with("POST")) stream.ReadBytes(5);
    ++asked;
    stream.ReadAll();
    ++ended;
  });
  Rig rig;
  int count = 0;
  for (const std::string& request :
       {std::string("GET /pub/x HTTP/1.1\r\nHost: files.example\r\n\r\n"),
        Post("Content-Length: 5\r\n", "hello"),
        // One that has asked for more already.
        std::string("GET /pub/x HTTP/1.1\r\nHost: files.example\r\n\r\nGET /pub/y")}) {
    Stream stream = rig.DialName("files.example");
    stream.Send(request);
    ++count;
    while (asked < count) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stream.Reset();
    const std::vector<Flow> flows = rig.Flows(count);
    REQUIRE(flows.size() == static_cast<std::size_t>(count));
    CHECK(flows.back().end.find("went away") != std::string::npos);
    for (int i = 0; i < 500 && ended < count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(ended == count);
  }
}

TEST_CASE("a guest that ends its side after its request is answered, and for no longer") {
  Limits limits;
  limits.answer_ms = 1'000;
  Upstream slow("198.51.100.7", 80, [](Stream& stream) {
    const std::string head = stream.ReadUntil("\r\n\r\n");
    if (head.starts_with("POST")) stream.ReadBytes(5);
    // Longer than the gateway looks at who is still there.
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    if (head.find("/never") == std::string::npos) {
      stream.Send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    }
    stream.ReadAll();
  });
  Rig rig(limits);
  const auto ask = [&](const std::string& request) {
    Stream stream = rig.DialName("files.example");
    stream.Send(request);
    stream.Shut();
    return stream.ReadAll();
  };
  CHECK(ask("GET /pub/x HTTP/1.1\r\nHost: files.example\r\n\r\n").ends_with("\r\n\r\nhello"));
  CHECK(ask("GET /pub/x HTTP/1.0\r\nHost: files.example\r\n\r\n").ends_with("\r\n\r\nhello"));
  CHECK(ask("POST /in/x HTTP/1.1\r\nHost: files.example\r\nContent-Length: 5\r\n\r\nhello")
            .ends_with("\r\n\r\nhello"));
  CHECK(Answers(ask("GET /pub/never HTTP/1.1\r\nHost: files.example\r\n\r\n"), "504"));
}

TEST_CASE("heads and requests have their bounds") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig({}, {},
          "deny egress when egress.bytes > 1MiB because \"too large\"\n"
          "deny egress when egress.requests > 3 because \"too many\"");
  CHECK(Answers(rig.Get("files.example", "/pub/x", "X: " + std::string(40'000, 'x') + "\r\n"),
                "431"));
  CHECK(Answers(rig.Ask(rig.DialName("files.example"), Post("Content-Length: 1048577\r\n", "")),
                "403"));
  CHECK(upstream.connections() == 0);
  // A size that nobody said is judged as it grows.
  Stream stream = rig.DialName("files.example");
  stream.Send(Post("Transfer-Encoding: chunked\r\n", ""));
  const std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  for (int i = 0; i < 40; ++i) (void)stream.Send(chunk);
  (void)stream.Send("0\r\n\r\n");
  const std::string reply = stream.ReadAll();
  CHECK(Answers(reply, "403"));
  CHECK(reply.find("too large") != std::string::npos);
  CHECK(upstream.seen().size() <= 1);  // never a whole one
  CHECK_FALSE(upstream.last().ends_with("0\r\n\r\n"));
  CHECK(Answers(rig.Get("files.example", "/pub/1"), "200"));
  CHECK(Answers(rig.Get("files.example", "/pub/2"), "200"));
  const std::string fourth = rig.Get("files.example", "/pub/3");
  CHECK(Answers(fourth, "403"));
  CHECK(fourth.find("too many") != std::string::npos);
}

TEST_CASE("HTTP to the gateway itself is judged by the place that each request names") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  Stream stream = rig.DialProxy();
  const auto ask = [&](const std::string& host, const std::string& path) {
    stream.Send(
        fmt::format("GET http://{0}{1} HTTP/1.1\r\nHost: {0}\r\nProxy-Connection: "
                    "keep-alive\r\nProxy-Authorization: Basic x\r\n\r\n",
                    host, path));
    const std::string head = stream.ReadUntil("\r\n\r\n");
    stream.ReadBytes(std::strtoul(head.c_str() + head.find("Content-Length: ") + 16, nullptr, 10));
    return head;
  };
  CHECK(Answers(ask("files.example", "/pub/x"), "200"));
  CHECK(upstream.last() == "GET /pub/x HTTP/1.1\r\nHost: files.example\r\n\r\n");
  CHECK(Answers(ask("api.example", "/y"), "200"));
  CHECK(Answers(ask("evil.example", "/y"), "403"));
  CHECK(Answers(ask("files.example:8080", "/any"), "502"));
  CHECK(Answers(rig.Ask(rig.DialProxy(), "GET /pub/x HTTP/1.1\r\nHost: files.example\r\n\r\n"),
                "400"));
}

}  // namespace
}  // namespace curfew::egress
