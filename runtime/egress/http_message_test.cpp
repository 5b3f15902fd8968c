#include "runtime/egress/http_message.h"

#include <catch2/catch.hpp>

namespace curfew::egress {
namespace {

using Event = MessageReader::Event;
using Kind = MessageReader::Kind;

struct Whole {
  Event end = Event::NeedMore;
  unsigned status = 0;  // of a refusal
  std::string why;
  std::string body;
  std::string rest;  // what follows the message
};

// Feeds at most `step` bytes at once.
Whole ReadAll(std::string_view text, std::size_t step = std::string_view::npos,
              Kind kind = Kind::Request, bool ends = false) {
  MessageReader reader(kind, {});
  Whole whole;
  std::string pending;
  for (;;) {
    const MessageReader::Step next =
        text.empty() && ends && pending.empty() ? reader.ReadEnd() : reader.Read(pending);
    whole.body += next.body;
    pending.erase(0, next.consumed);
    if (next.event == Event::End || next.event == Event::Refused) {
      whole.end = next.event;
      whole.status = reader.refusal_status();
      whole.why = reader.refusal();
      whole.rest = pending.append(text);
      return whole;
    }
    if (next.event != Event::NeedMore) continue;
    if (text.empty() && !(ends && pending.empty())) return whole;
    pending += text.substr(0, step);
    text.remove_prefix(std::min(step, text.size()));
  }
}

bool IsRefused(std::string_view text, unsigned status = 400) {
  const Whole whole = ReadAll(text);
  return whole.end == Event::Refused && whole.status == status && !whole.why.empty();
}

constexpr std::string_view Post = "POST /a HTTP/1.1\r\nHost: a.example\r\n";

TEST_CASE("a request is read whole or byte by byte, and what follows is left") {
  const std::string plain = std::string(Post) + "Content-Length: 5\r\n\r\nhelloGET /";
  const std::string chunked =
      std::string(Post) +
      "Transfer-Encoding: Chunked\r\n\r\n2;x=\"y\"\r\nhe\r\n003\r\nllo\r\n0\r\nT: v\r\n\r\nGET /";
  for (const std::string& text : {plain, chunked}) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{3}, text.size()}) {
      const Whole whole = ReadAll(text, step);
      CHECK(whole.end == Event::End);
      CHECK(whole.body == "hello");
      CHECK(whole.rest == "GET /");
    }
  }
}

TEST_CASE("the head says what it says") {
  MessageReader reader(Kind::Request, {});
  const std::string text = std::string(Post) + "X:  spaced \t\r\nContent-Length: 5\r\n\r\n";
  REQUIRE(reader.Read(text).event == Event::Head);
  CHECK(reader.head().method == "POST");
  CHECK(reader.head().target == "/a");
  CHECK(reader.head().fields.at(1).value == "spaced");
  CHECK(reader.head().framing == Framing::Length);
  CHECK(reader.head().length == 5);
  CHECK(reader.head().keep_alive);
}

TEST_CASE("a body that has its length in two ways is refused") {
  const std::string post(Post);
  CHECK(IsRefused(post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"));
  CHECK(IsRefused(post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"));
  CHECK(IsRefused(post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n"));
  CHECK(IsRefused(post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n"));
  for (const char* length :
       {"5, 5", "5,6", "+5", "-1", "5 5", "0x5", "", "5;", "18446744073709551616",
        "\x0b"
        "5",
        "5e0", "５"}) {
    CHECK(IsRefused(post + "Content-Length: " + length + "\r\n\r\n"));
  }
  CHECK(IsRefused(post + "Content_Length: 5\r\n\r\n"));
  CHECK(IsRefused(post + "transfer_encoding: chunked\r\n\r\n"));
}

TEST_CASE("codings other than `chunked`, once, are refused") {
  const std::string post(Post);
  for (const char* coding : {"gzip", "identity", "gzip, chunked", "chunked, chunked", "chunked;q=1",
                             "xchunked", "\"chunked\"", "", "chunked,"}) {
    const Whole whole = ReadAll(post + "Transfer-Encoding: " + coding + "\r\n\r\n0\r\n\r\n");
    CHECK(whole.end == Event::Refused);
  }
  CHECK(ReadAll(post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n").end ==
        Event::Refused);
  CHECK(IsRefused("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"));
}

TEST_CASE("lines are as the grammar has them") {
  CHECK(IsRefused("GET / HTTP/1.1\nHost: a\n\n"));
  CHECK(IsRefused("GET / HTTP/1.1\r\nHost: a\n\r\n"));
  CHECK(IsRefused("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n"));
  CHECK(IsRefused("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n"));
  CHECK(IsRefused("GET / HTTP/1.1\r\nA:\r\n\tfolded\r\n\r\n"));
  CHECK(IsRefused("GET / HTTP/1.1\r\n Host: a\r\n\r\n"));
  CHECK(IsRefused("GET / HTTP/1.1\r\nHost : a\r\n\r\n"));
  CHECK(IsRefused("GET / HTTP/1.1\r\nHost\t: a\r\n\r\n"));
  CHECK(IsRefused("GET / HTTP/1.1\r\n: a\r\n\r\n"));
  CHECK(IsRefused("GET / HTTP/1.1\r\nno colon\r\n\r\n"));
  CHECK(
      IsRefused("GET / HTTP/1.1\r\nX: a\x01"
                "b\r\n\r\n"));
  CHECK(IsRefused(std::string_view("GET / HTTP/1.1\r\nX: a\0b\r\n\r\n", 26)));
  CHECK(IsRefused("GET  / HTTP/1.1\r\n\r\n"));
  CHECK(IsRefused("GET /a b HTTP/1.1\r\n\r\n", 505));
  CHECK(IsRefused(" GET / HTTP/1.1\r\n\r\n"));
  CHECK(IsRefused("\r\nGET / HTTP/1.1\r\n\r\n"));
  CHECK(IsRefused("GET / HTTP/2.0\r\n\r\n", 505));
  CHECK(IsRefused("GET / HTTP/1.9\r\n\r\n", 505));
  CHECK(IsRefused("GET / http/1.1\r\n\r\n", 505));
  CHECK(IsRefused("GET / HTTP/1.1 \r\n\r\n", 505));
  CHECK(IsRefused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505));
}

TEST_CASE("chunks are as the grammar has them") {
  const std::string head = std::string(Post) + "Transfer-Encoding: chunked\r\n\r\n";
  for (const char* body :
       {"5\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n0\r\n\r\n",
        " 5\r\nhello\r\n0\r\n\r\n", "5 \r\nhello\r\n0\r\n\r\n", "5\r\nhelloX0\r\n\r\n",
        "5;\r\nhello\r\n0\r\n\r\n", "5;a=\x01\r\nhello\r\n0\r\n\r\n", "g\r\n\r\n", "\r\n\r\n\r\n",
        "fffffffffffffffff\r\nhello\r\n", "5\r\nhello\r\n0;=\r\n\r\n\r\n"}) {
    CHECK(ReadAll(head + body).end == Event::Refused);
  }
  CHECK(ReadAll(head + "5;" + std::string(9000, 'a')).end == Event::Refused);
  CHECK(ReadAll(head + "0\r\nX: " + std::string(9000, 'a')).end == Event::Refused);
}

TEST_CASE("a head has its bounds") {
  const std::string begin = "GET / HTTP/1.1\r\n";
  CHECK(IsRefused(begin + "X: " + std::string(40'000, 'a'), 431));
  std::string many = begin;
  for (int i = 0; i < 200; ++i) many += "X: a\r\n";
  CHECK(IsRefused(many + "\r\n", 431));
  CHECK(ReadAll(begin + "X: " + std::string(30'000, 'a') + "\r\n\r\n").end == Event::End);
}

TEST_CASE("an answer ends by its length, by its chunks, or with the stream") {
  const auto end_of = [](std::string_view text, Kind kind = Kind::Response) {
    const Whole whole = ReadAll(text, 1, kind, true);
    return whole.end == Event::End ? whole.body : "refused";
  };
  CHECK(end_of("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi") == "hi");
  CHECK(end_of("HTTP/1.1 200 OK\r\n\r\nhi") == "hi");
  CHECK(end_of("HTTP/1.1 204 No\r\n\r\n").empty());
  CHECK(end_of("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", Kind::ResponseToHead).empty());
  CHECK(end_of("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi") == "refused");
  CHECK(end_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n") == "refused");
  CHECK(end_of("HTTP/1.1 200") == "refused");
  CHECK(end_of("garbage\r\n\r\n") == "refused");
  CHECK(end_of("") == "refused");
  CHECK(end_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhi") == "refused");
  CHECK(end_of("HTTP/1.1 2000 OK\r\n\r\n") == "refused");
}

TEST_CASE("a reader that begins anew knows nothing of the message before") {
  MessageReader reader(Kind::Request, {});
  const std::string with_body = std::string(Post) + "Content-Length: 5\r\nX-A: b\r\n\r\n";
  REQUIRE(reader.Read(with_body).event == Event::Head);
  reader.Restart();
  const std::string plain = "GET /b HTTP/1.0\r\nHost: b.example\r\n\r\n";
  REQUIRE(reader.Read(plain).event == Event::Head);
  CHECK(reader.head().method == "GET");
  CHECK(reader.head().fields.size() == 1);
  CHECK(reader.head().framing == Framing::None);
  CHECK(reader.head().length == 0);
  CHECK(!reader.head().keep_alive);
  CHECK(reader.Read({}).event == Event::End);

  reader.Restart();
  REQUIRE(reader.Read("GET / HTTP/1.1\n\n").event == Event::Refused);
  reader.Restart();
  CHECK(reader.refusal().empty());
  REQUIRE(reader.Read(plain).event == Event::Head);
}

}  // namespace
}  // namespace curfew::egress
