#include "runtime/guest/frame.h"

#include "runtime/guest/protocol.h"

#include <random>

#include <catch2/catch.hpp>

namespace curfew::guest {
namespace {

Bytes Header(std::uint32_t payload, std::uint16_t kind, std::uint16_t zero, std::uint32_t id) {
  Bytes bytes;
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(payload >> (8 * i)));
  for (int i = 0; i < 2; ++i) bytes.push_back(static_cast<std::uint8_t>(kind >> (8 * i)));
  for (int i = 0; i < 2; ++i) bytes.push_back(static_cast<std::uint8_t>(zero >> (8 * i)));
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(id >> (8 * i)));
  return bytes;
}

TEST_CASE("frames come out however the stream is cut") {
  Bytes stream;
  for (std::uint32_t id = 1; id <= 50; ++id) {
    AppendFrame(stream, Kind::Output, id, Bytes(id * 37 % 400, static_cast<std::uint8_t>(id)));
  }
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    FrameReader reader;
    std::uint32_t next = 1;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t piece = std::min<std::size_t>(1 + random() % 300, stream.size() - at);
      reader.Feed(ByteView(stream).subspan(at, piece));
      at += piece;
      for (;;) {
        auto frame = reader.Next();
        REQUIRE(frame);
        if (!frame->has_value()) break;
        CHECK((*frame)->id == next);
        CHECK((*frame)->payload == Bytes(next * 37 % 400, static_cast<std::uint8_t>(next)));
        ++next;
      }
    }
    CHECK(next == 51);
    CHECK(reader.pending() == 0);
  }
}

TEST_CASE("a header that cannot be ends the stream for good") {
  struct Case {
    Bytes header;
    FailureCode code;
  };
  const std::uint16_t output = static_cast<std::uint16_t>(Kind::Output);
  for (const Case& bad :
       {Case{Header(0xffffffff, output, 0, 1), FailureCode::TooLarge},
        Case{Header(FramePayloadBytesMax + 1, output, 0, 1), FailureCode::TooLarge},
        Case{Header(0, 0, 0, 1), FailureCode::Malformed},
        Case{Header(0, 16, 0, 1), FailureCode::Malformed},
        Case{Header(0, 63, 0, 1), FailureCode::Malformed},
        Case{Header(0, 79, 0, 1), FailureCode::Malformed},
        Case{Header(0, 0xffff, 0, 1), FailureCode::Malformed},
        Case{Header(0, output, 1, 1), FailureCode::Malformed}}) {
    FrameReader reader;
    reader.Feed(bad.header);
    const auto first = reader.Next();
    REQUIRE_FALSE(first);
    CHECK(first.error().code == bad.code);
    Bytes good;
    AppendFrame(good, Kind::Done, 1, {});
    reader.Feed(good);
    CHECK_FALSE(reader.Next());
  }
}

TEST_CASE("the largest frame passes, and waits until it is whole") {
  Bytes stream;
  AppendFrame(stream, Kind::Data, 3, Bytes(FramePayloadBytesMax, 1));
  FrameReader reader;
  reader.Feed(ByteView(stream).first(stream.size() - 1));
  REQUIRE(reader.Next());
  reader.Feed(ByteView(stream).last(1));
  auto frame = reader.Next();
  REQUIRE(frame);
  REQUIRE(frame->has_value());
  CHECK((*frame)->payload.size() == FramePayloadBytesMax);
}

Frame FrameOf(const Bytes& stream) {
  FrameReader reader;
  reader.Feed(stream);
  return *std::move(reader.Next()).value();
}

TEST_CASE("a message comes back as it was, and with one byte more or less not at all") {
  Process process;
  process.pid = 12;
  process.exec = 3;
  process.argv = std::string("sh\0-c\0x", 7);
  process.ports = {{false, true, 8080}, {true, false, 53}};
  process.end = ProcessEnd::Killed;
  Bytes stream;
  REQUIRE(AppendMessage(stream, 9, process));
  const Frame frame = FrameOf(stream);
  const auto back = DecodeMessage<Process>(frame);
  REQUIRE(back);
  CHECK(back->argv == process.argv);
  CHECK(back->ports.size() == 2);
  CHECK(back->ports[0].port == 8080);
  CHECK(back->end == ProcessEnd::Killed);
  for (std::size_t cut = 0; cut < frame.payload.size(); ++cut) {
    Frame shorter = frame;
    shorter.payload.resize(cut);
    CHECK_FALSE(DecodeMessage<Process>(shorter));
  }
  Frame longer = frame;
  longer.payload.push_back(0);
  CHECK_FALSE(DecodeMessage<Process>(longer));
  Frame other = frame;
  other.kind = Kind::File;
  CHECK_FALSE(DecodeMessage<Process>(other));
}

TEST_CASE("a bound holds in both directions") {
  Bytes stream;
  CHECK_FALSE(AppendMessage(stream, 1, Output{Stream::Out, Bytes(ChunkBytesMax + 1)}));
  CHECK_FALSE(AppendMessage(stream, 1, List{std::vector<std::string>(PatternsMax + 1, "/x")}));
  CHECK(stream.empty());
  // A count that promises more than there is, or than there may be.
  Frame frame{Kind::List, 1, {0xff, 0xff, 0xff, 0xff}};
  CHECK_FALSE(DecodeMessage<List>(frame));
  frame.payload = {2, 0, 0, 0, 1, 0, 0, 0, '/'};
  CHECK_FALSE(DecodeMessage<List>(frame));
  // A flag and a choice have few values.
  CHECK_FALSE(DecodeMessage<Refused>({Kind::Refused, 1, {6, 0, 0, 0, 0}}));
  CHECK_FALSE(DecodeMessage<FilesEnd>({Kind::FilesEnd, 1, {2, 0, 0, 0, 0}}));
}

}  // namespace
}  // namespace curfew::guest
