#include "runtime/keeper/protocol.h"

#include "runtime/host/linux/message_socket.h"

#include <random>

#include <catch2/catch.hpp>

namespace curfew::keeper {
namespace {

template <typename M>
M ThereAndBack(const M& message) {
  const Bytes bytes = *EncodeMessage(7, message);
  const Packet packet = *DecodePacket(bytes);
  CHECK(packet.id == 7);
  return *DecodeMessage<M>(packet);
}

CreateMessage Create() {
  CreateMessage message;
  message.sandbox = {.id = "cf-abcdefghij234567", .nonce = std::string(32, 'a')};
  message.state = "/var/lib/curfew";
  message.image_directory = "/image";
  message.request = {{"version", 1}, {"action", "create"}};
  return message;
}

TEST_CASE("messages come back as they went") {
  CreateMessage create = Create();
  create.caller = StatedCaller{.id = "user:ana", .caller_kind = "human", .groups = {"group:x"}};
  create.dials_elsewhere = true;
  create.no_native_code = "not asked for";
  create.resolvers = {"192.0.2.53:5353"};
  CHECK(ThereAndBack(create).ToJson() == create.ToJson());
  CHECK(ThereAndBack(create).resolvers == create.resolvers);
  const ExecMessage exec{.argv = {"a", "\xff\xfe"}, .env = {"A=b"}, .timeout_ms = 5, .input = true};
  const ExecMessage back = ThereAndBack(exec);
  CHECK(back.argv == exec.argv);
  CHECK(back.input);
  const ExitedMessage exited{.status = 3, .signal = {}, .timed_out = false, .failure = "f"};
  CHECK(ThereAndBack(exited).status == 3);
  CHECK_FALSE(ThereAndBack(exited).signal);
  const EndingMessage ending{.why = EndingWhy::MachineLost, .detail = "d"};
  CHECK(ThereAndBack(ending).why == EndingWhy::MachineLost);
}

TEST_CASE("what is not exactly a message is none") {
  const auto refuses = [](Json json) {
    const Bytes bytes = EncodePacket(Kind::Create, 0, AsBytes(*evidence::Canonical(json)));
    return !DecodeMessage<CreateMessage>(*DecodePacket(bytes));
  };
  const Json good = Create().ToJson();
  CHECK_FALSE(refuses(good));
  for (const auto& [name, member] : good.items()) {
    INFO(name);
    Json without = good;
    without.erase(name);
    CHECK(refuses(without));
    Json mistyped = good;
    mistyped[name] = Json::array({1});
    CHECK(refuses(mistyped));
  }
  Json more = good;
  more["operator"] = true;
  CHECK(refuses(more));
  Json other = good;
  other["version"] = ProtocolVersion + 1;
  CHECK(refuses(other));
  other = good;
  other["sandbox"] = "../../etc";
  CHECK(refuses(other));
  CHECK_FALSE(DecodePacket(Bytes{1, 0, 0}));
  CHECK_FALSE(DecodePacket(Bytes(host::MessageBytesMax + 1, 1)));
  CHECK_FALSE(DecodePacket(Bytes{63, 0, 0, 0, 0}));
}

TEST_CASE("no bytes make a decoder do worse than refuse") {
  std::mt19937 random(20'261'129);
  const Bytes good = *EncodeMessage(1, Create());
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes = good;
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const Result<Packet> packet = DecodePacket(bytes);
    if (packet) static_cast<void>(DecodeMessage<CreateMessage>(*packet));
  }
}

}  // namespace
}  // namespace curfew::keeper
