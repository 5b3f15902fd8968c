#include "runtime/egress/http_request.h"

#include <catch2/catch.hpp>

namespace curfew::egress {
namespace {

using Event = MessageReader::Event;
using Kind = MessageReader::Kind;

const Place Files{.host = "files.example", .address = {}, .port = 80};

struct Asked {
  MessageReader reader{Kind::Request, {}};
  std::string text;
  std::variant<HttpRequest, HttpRefusal> answer;

  explicit Asked(std::string head, std::optional<Place> direct = Files) : text(std::move(head)) {
    REQUIRE(reader.Read(text).event == Event::Head);
    answer = ReadRequest(reader.head(), direct);
  }
  [[nodiscard]] const HttpRequest& request() const {
    INFO(text);
    REQUIRE(std::holds_alternative<HttpRequest>(answer));
    return std::get<HttpRequest>(answer);
  }
  [[nodiscard]] bool is_refused() const { return std::holds_alternative<HttpRefusal>(answer); }
  [[nodiscard]] std::string sent() const { return HeadForUpstream(reader.head(), request()); }
};

std::string Get(const std::string& target, const std::string& host = "files.example",
                const std::string& more = {}) {
  return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n";
}

TEST_CASE("what is judged is what is sent: host and path have one form") {
  const Asked asked(Get("/a/./b/../%7Ec//d?q=%2F..", "FILES.Example."));
  CHECK(asked.request().path == "/a/~c/d");
  CHECK(asked.request().query == "q=%2F..");
  CHECK(asked.sent() == "GET /a/~c/d?q=%2F.. HTTP/1.1\r\nHost: files.example\r\n\r\n");
}

TEST_CASE("a path that two servers read in two ways is refused") {
  for (const char* target :
       {"/a%2f..%2fb", "/a%2Fb%2f", "/a%00", "/a%5cb", "/a\\b", "/%", "/%2", "/%zz", "/%252e%252e/",
        "/..;/a", "/a#b", "/\xc3\xa4", "/%ff", "*", "a", "//../x", "?q", "/a?\xc3", "/a?b#c"}) {
    INFO(target);
    CHECK(Asked(Get(target)).is_refused());
  }
}

TEST_CASE("a place that is spelt twice alike is the same as one that is spelt in two ways") {
  for (const auto& [target, host] : std::vector<std::pair<std::string, std::string>>{
           {"http://FILES.example/a", "FILES.example"},
           {"http://FILES.example/a", "files.example"},
           {"http://files.example:80/a", "files.example:80"},
           {"http://files.example:80/a", "files.example"},
           {"http://files.example.?b", "files.example."},
           {"/a", "files.example"},
           {"/a", "files.example:80"}}) {
    INFO(target << " " << host);
    CHECK(Asked(Get(target, host)).request().place == Files);
  }
  const Place other{.host = "files.example", .address = {}, .port = 81};
  CHECK(Asked(Get("/a"), other).is_refused());
  CHECK(Asked(Get("/a", "files.example:81"), other).request().place == other);
  CHECK(Asked(Get("http://a@files.example/", "a@files.example"), std::nullopt).is_refused());
  CHECK(Asked(Get("http://a.example\\/", "a.example\\"), std::nullopt).is_refused());
  CHECK(Asked(Get("http:///", ""), std::nullopt).is_refused());
}

TEST_CASE("Host is there once, and names the place of the connection") {
  CHECK(Asked("GET / HTTP/1.1\r\n\r\n").is_refused());
  CHECK(Asked(Get("/", "files.example", "Host: files.example\r\n")).is_refused());
  for (const char* host :
       {"other.example", "files.example:81", "a.files.example", "files.example.evil",
        "user@files.example", "files.example:", "files.example:080", "files.example:65616",
        "files.example:80:80", "", "files.example/..", "files.example?", "files.example\\",
        "10.0.0.1", "files.example,other", "files.example:+80", "[files.example]",
        "fi%6ces.example"}) {
    INFO(host);
    CHECK(Asked(Get("/", host)).is_refused());
  }
  CHECK(Asked(Get("/", "files.example:80")).sent().find("Host: files.example\r\n") !=
        std::string::npos);
}

TEST_CASE("a target of absolute form agrees with Host, and with the connection") {
  CHECK(Asked(Get("http://files.example/a")).request().path == "/a");
  CHECK(Asked(Get("http://files.example")).request().path == "/");
  CHECK(Asked(Get("http://other.example/", "files.example")).is_refused());
  CHECK(Asked(Get("http://other.example/", "other.example")).is_refused());
  CHECK(Asked(Get("http://u:p@files.example/")).is_refused());
  CHECK(Asked(Get("https://files.example/")).is_refused());
  CHECK(Asked(Get("ftp://files.example/")).is_refused());
  CHECK(Asked(Get("http://files.example:99999/")).is_refused());
}

TEST_CASE("to a proxy the target says the place") {
  const Asked asked(Get("http://Other.example:8080/x", "other.example:8080"), std::nullopt);
  CHECK(asked.request().place == Place{"other.example", {}, 8080});
  CHECK(asked.sent() == "GET /x HTTP/1.1\r\nHost: other.example:8080\r\n\r\n");
  CHECK(Asked(Get("/x"), std::nullopt).is_refused());
  CHECK(Asked(Get("http://a.example/", "b.example"), std::nullopt).is_refused());
  const Asked literal(Get("http://203.0.113.7/", "203.0.113.7"), std::nullopt);
  CHECK(literal.request().place.host.empty());
  CHECK(Asked(Get("http://0xcb.0.113.7/", "0xcb.0.113.7"), std::nullopt).is_refused());
}

TEST_CASE("CONNECT names a host and a port, and is for the gateway itself") {
  const auto connect = [](const std::string& target, const std::string& more = {}) {
    return "CONNECT " + target + " HTTP/1.1\r\n" + more + "\r\n";
  };
  const Asked asked(connect("Db.example:5432", "Host: db.example:5432\r\n"), std::nullopt);
  CHECK(asked.request().is_connect);
  CHECK(asked.request().place == Place{"db.example", {}, 5432});
  CHECK(Asked(connect("db.example:5432")).is_refused());
  for (const char* target :
       {"db.example", "db.example:", "db.example:0", "db.example:65536", "http://db.example:1/",
        "u@db.example:1", "/", "*", "db.example:1/x", "db.example:70979", "[::1", "::1:80"}) {
    INFO(target);
    CHECK(Asked(connect(target), std::nullopt).is_refused());
  }
  CHECK(
      Asked(connect("db.example:5432", "Host: other.example:5432\r\n"), std::nullopt).is_refused());
  CHECK(Asked(connect("db.example:5432", "Content-Length: 3\r\n"), std::nullopt).is_refused());
  std::size_t passed = 0;
  for (int byte = 0; byte < 256;
       ++byte) {  // every byte within a host: letters, digits, `-`, `_`, `.`
    const char c = static_cast<char>(byte);
    MessageReader reader(Kind::Request, {});
    const std::string text = connect("a" + std::string(1, c) + "b.example:443");
    if (reader.Read(text).event != Event::Head) continue;
    passed += std::holds_alternative<HttpRequest>(ReadRequest(reader.head(), std::nullopt)) ? 1 : 0;
  }
  CHECK(passed == 26 * 2 + 10 + 3);
}

TEST_CASE("methods are of a closed list, as they are written") {
  for (const char* method : {"get", "Get", "TRACE", "PRI", "PROPFIND", "GETX", "DEBUG"}) {
    CHECK(Asked(std::string(method) + " / HTTP/1.1\r\nHost: files.example\r\n\r\n").is_refused());
  }
  for (const char* method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    CHECK(Asked(std::string(method) + " / HTTP/1.1\r\nHost: files.example\r\n\r\n")
              .request()
              .method == method);
  }
}

TEST_CASE("a field that asks for another method has it judged; one for another path is refused") {
  for (const char* name : {"X-HTTP-Method-Override", "x-http-method", "X-Method-Override"}) {
    const Asked asked(Get("/", "files.example", std::string(name) + ": delete\r\n"));
    CHECK(asked.request().overrides == std::vector<std::string>{"DELETE"});
    CHECK(Asked(Get("/", "files.example", std::string(name) + ": NUKE\r\n")).is_refused());
  }
  CHECK(Asked(Get("/", "files.example", "X-Original-URL: /admin\r\n")).is_refused());
  CHECK(Asked(Get("/", "files.example", "X-Rewrite-URL: /admin\r\n")).is_refused());
}

TEST_CASE("no upgrade, no unknown expectation, and Connection takes away what is its own") {
  for (const char* more : {"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n",
                           "Connection: Upgrade\r\nUpgrade: websocket\r\n", "Upgrade: TLS/1.0\r\n",
                           "Expect: 200-ok\r\n", "Connection: Host\r\n",
                           "Connection: close, Cookie\r\n", "Connection: content-length\r\n"}) {
    INFO(more);
    CHECK(Asked(Get("/", "files.example", more)).is_refused());
  }
  const Asked asked(Get("/", "files.example",
                        "Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\nKeep-Alive: 5\r\nTE: "
                        "trailers\r\nProxy-Authorization: x\r\nX-Forwarded-Host: evil\r\nAccept: "
                        "a\r\nExpect: 100-continue\r\n"));
  CHECK(asked.sent() ==
        "GET / HTTP/1.1\r\nHost: files.example\r\nAccept: a\r\nExpect: 100-continue\r\n\r\n");
}

TEST_CASE("the length is written anew") {
  const std::string post = "POST / HTTP/1.1\r\nHost: files.example\r\n";
  CHECK(Asked(post + "Content-Length: 0005\r\n\r\n").sent() == post + "Content-Length: 5\r\n\r\n");
  CHECK(Asked(post + "Transfer-Encoding: CHUNKED\r\n\r\n").sent() ==
        post + "Transfer-Encoding: chunked\r\n\r\n");
}

TEST_CASE("an answer goes on without what belongs to one hop") {
  MessageReader reader(Kind::Response, {});
  const std::string text =
      "HTTP/1.1 200 Fine\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nSet-Cookie: a\r\n"
      "Set-Cookie: b\r\nContent-Length: 2\r\n\r\n";
  REQUIRE(reader.Read(text).event == Event::Head);
  CHECK(HeadForGuest(reader.head(), Framing::Length, true) ==
        "HTTP/1.1 200 Fine\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 2\r\n\r\n");
  CHECK(HeadForGuest(reader.head(), Framing::Chunked, false) ==
        "HTTP/1.1 200 Fine\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nTransfer-Encoding: chunked\r\n"
        "Connection: close\r\n\r\n");
}

}  // namespace
}  // namespace curfew::egress
