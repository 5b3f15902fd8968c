#include "runtime/egress/client_hello.h"

#include "runtime/egress/sample_hello.h"

#include <catch2/catch.hpp>

namespace curfew::egress {
namespace {

using State = HelloReading::State;

HelloReading Read(std::string_view bytes) { return ReadClientHello(AsBytes(bytes)); }

std::string RefusalOf(std::string_view extensions) {
  const HelloReading reading = Read(InRecords(HelloMessage(extensions)));
  CHECK(reading.state == State::Refused);
  return reading.reason;
}

TEST_CASE("the name of a ClientHello is read, in one record or in many") {
  const std::string message = HelloMessage(ServerName({"Files.example"}) + LargeKeyShare());
  for (const std::size_t fragment : {1u, 2u, 5u, 100u, 1400u, 16384u}) {
    const std::string records = InRecords(message, fragment);
    const HelloReading reading = Read(records);
    REQUIRE(reading.state == State::Complete);
    CHECK(reading.name == "files.example");
  }
}

TEST_CASE("what follows the message does not matter, and what is missing is asked for") {
  const std::string hello = HelloFor("files.example");
  CHECK(Read(hello + "anything at all").state == State::Complete);
  for (std::size_t size = 0; size < hello.size(); ++size) {
    const HelloReading reading = Read(std::string_view(hello).substr(0, size));
    REQUIRE(reading.state == State::NeedMore);
    CHECK(reading.needed > size);
    CHECK(reading.needed <= hello.size());
  }
}

TEST_CASE("a ClientHello without a name is complete and names nobody") {
  const HelloReading reading = Read(InRecords(HelloMessage(LargeKeyShare())));
  CHECK(reading.state == State::Complete);
  CHECK(reading.name.empty());
}

TEST_CASE("two names, by any way, are refused") {
  CHECK(RefusalOf(ServerName({"a.example", "b.example"})).find("more than one") !=
        std::string::npos);
  CHECK_FALSE(RefusalOf(ServerName({"a.example"}) + ServerName({"b.example"})).empty());
  CHECK_FALSE(RefusalOf(ServerName({})).empty());
}

TEST_CASE("an encrypted hello is refused, and the reason says what helps") {
  const std::string reason = RefusalOf(ServerName({"a.example"}) + Extension(0xfe0d, "whatever"));
  CHECK(reason.find("tls inspect") != std::string::npos);
  CHECK_FALSE(RefusalOf(Extension(0xffce, "")).empty());
}

TEST_CASE("a name that is no canonical host is refused") {
  for (const std::string& name :
       {std::string("a.example."), std::string("10.0.0.1"), std::string("a\0b.example", 11),
        std::string("*.example"), std::string("a b"), std::string(), std::string("2130706433"),
        std::string("bücher.example"), std::string(300, 'a')}) {
    CHECK_FALSE(RefusalOf(ServerName({name})).empty());
  }
}

TEST_CASE("no other bytes are a ClientHello") {
  const auto is_refused = [](std::string bytes) { return Read(bytes).state == State::Refused; };
  CHECK(is_refused("GET / HTTP/1.1\r\n"));
  CHECK(is_refused("\x80\x2e\x01\x03\x01"));  // of SSL 2
  CHECK(is_refused(std::string("\x16\x03\x01\0\0", 5)));
  CHECK(is_refused("\x16\x03\x01\xff\xff"));
  CHECK(is_refused("\x16\x02\x01\x01\x01"));
  std::string hello = HelloFor("a.example");
  hello[5] = 2;  // a ServerHello
  CHECK(is_refused(hello));
  const std::string message = HelloMessage(ServerName({"a.example"}));
  CHECK(is_refused(InRecords(message + "x")));
  CHECK(is_refused(InRecords(HelloMessage(Extension(21, std::string(16000, '\0')) +
                                          Extension(22, std::string(1000, '\0'))))));
  // A handshake message between two fragments of another kind of record.
  std::string split = InRecords(message, 20);
  split[25] = 23;
  CHECK(is_refused(split));
}

TEST_CASE("lengths that do not agree are refused") {
  const std::string message = HelloMessage(ServerName({"a.example"}));
  std::size_t refused = 0;
  // Every byte of a length, one up: the fixed part, its vectors, its extensions.
  for (const std::size_t at : {38u, 71u, 77u, 80u, 84u, 86u, 89u}) {
    std::string changed = message;
    changed[at] = static_cast<char>(changed[at] + 1);
    if (Read(InRecords(changed)).state != State::Complete ||
        Read(InRecords(changed)).name != "a.example") {
      ++refused;
    }
  }
  CHECK(refused == 7);
}

TEST_CASE("an alert is one record that ends the handshake") {
  CHECK(AlertRecord(Alert::AccessDenied) == std::string("\x15\x03\x03\0\x02\x02\x31", 7));
}

}  // namespace
}  // namespace curfew::egress
