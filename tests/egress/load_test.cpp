// Many connections of one sandbox: none is lost, and an open one costs little.
#include "tests/egress/rig.h"

#include <fstream>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace curfew::egress {
namespace {

std::size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Takes what comes without a thread for each connection, which would hide what is measured.
class QuietUpstream {
 public:
  QuietUpstream() : listener_(Stream::Listening("198.51.100.7", 5432)) {}
  void Accept() {
    Stream stream = listener_.Accept();
    stream.Send("up");
    held_.push_back(std::move(stream));
  }
  void AnswerAll() {
    for (Stream& stream : held_) stream.Send(stream.ReadBytes(4));
  }

 private:
  Stream listener_;
  std::vector<Stream> held_;
};

TEST_CASE("2,000 open connections hold at most 32 KiB each, and none is lost") {
  constexpr std::size_t Count = 2000;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  REQUIRE(files.rlim_cur >= 5 * Count);
  QuietUpstream upstream;
  Rig rig;
  std::vector<Stream> guests;
  guests.reserve(Count);
  const auto open = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      guests.push_back(rig.DialName("db.example", 5432));
      upstream.Accept();
      REQUIRE(guests.back().ReadBytes(2) == "up");
    }
  };
  open(50);  // what is paid once
  const std::size_t before = ResidentBytes();
  open(Count - 50);
  const std::size_t each = (ResidentBytes() - before) / (Count - 50);
  WARN("an open stream holds " << each << " bytes, the test's own ends included");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their bytes are not ours
  CHECK(each <= 32 * 1024);
#endif
  CHECK(rig.gateway().load().connections == Count);
  for (Stream& guest : guests) guest.Send("ping");
  upstream.AnswerAll();
  std::size_t answered = 0;
  for (Stream& guest : guests) answered += guest.ReadBytes(4) == "ping" ? 1 : 0;
  CHECK(answered == Count);
}

TEST_CASE("a sandbox has so many connections and no more, and gets them back") {
  Limits limits;
  limits.connections = 10;
  Rig rig(limits);
  std::vector<Stream> guests;
  for (int i = 0; i < 10; ++i) guests.push_back(rig.DialName("files.example"));
  Stream beyond = rig.DialName("files.example");
  CHECK(beyond.ReadAll().empty());
  CHECK(rig.denials().size() == 1);
  CHECK(rig.denials().at(0).find("gateway.limit") != std::string::npos);
  guests.clear();
  HttpUpstream upstream("198.51.100.7");
  for (int i = 0; i < 500 && rig.gateway().load().connections > 0; ++i) usleep(10'000);
  CHECK(rig.Get("files.example", "/pub/x").starts_with("HTTP/1.1 200"));
}

TEST_CASE("what is held for slow guests has a bound for the whole sandbox") {
  Limits limits;
  limits.memory_bytes = 256 * 1024;
  Upstream floods("198.51.100.7", 5432, [](Stream& stream) {
    const std::string piece(1 << 20, 'x');
    while (stream.Send(piece)) {
    }
  });
  Rig rig(limits);
  std::vector<Stream> guests;
  for (int i = 0; i < 20; ++i) guests.push_back(rig.DialName("db.example", 5432));
  (void)rig.Flows(10);  // most of them are ended
  CHECK(rig.gateway().load().memory_bytes <= limits.memory_bytes);
  CHECK(rig.Flows(1).size() >= 10);
}

TEST_CASE("a request that waits for its answer holds little more than what is counted for it") {
  constexpr std::size_t Count = 500;
  constexpr std::size_t QueryBytes = 30'000;
  const Stream listener = Stream::Listening("198.51.100.7", 80);
  std::vector<Stream> held;
  Rig rig;
  std::vector<Stream> guests;
  const std::string request =
      "GET /pub/x?" + std::string(QueryBytes, 'q') + " HTTP/1.1\r\nHost: files.example\r\n\r\n";
  std::vector<char> room(64 * 1024);
  const auto open = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      guests.push_back(rig.DialName("files.example"));
      guests.back().Send(request);
      held.push_back(listener.Accept());
      for (std::size_t got = 0; got + 100 < request.size();) {
        const ssize_t more = recv(held.back().fd(), room.data(), room.size(), 0);
        REQUIRE(more > 0);
        got += static_cast<std::size_t>(more);
      }
    }
  };
  open(50);
  const std::size_t before = ResidentBytes();
  open(Count - 50);
  const std::size_t each = (ResidentBytes() - before) / (Count - 50);
  WARN("a request of " << QueryBytes << " bytes that waits holds " << each);
  const std::size_t counted = rig.gateway().load().memory_bytes / Count;
  CHECK(counted >= QueryBytes);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(each <= 3 * counted);
#endif
}

}  // namespace
}  // namespace curfew::egress
