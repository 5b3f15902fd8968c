// What the connections of one gateway share, all of it touched by the gateway's thread only.
#pragma once

#include "runtime/egress/gateway.h"
#include "runtime/egress/names.h"
#include "runtime/egress/peer.h"
#include "runtime/egress/resolver.h"

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace curfew::egress {

class Connection;

// How many requests were let out in the last while. Counted in slots, so a request leaves the count
// up to a sixtieth of the window late, never early.
class RequestWindow {
 public:
  explicit RequestWindow(std::int64_t window_ms) : slot_ms_(window_ms / Slots + 1) {}
  // Another window from now on. What the old one counts counts as if it were of now.
  void CountOver(std::int64_t window_ms, std::int64_t now_ms);
  [[nodiscard]] std::int64_t Count(std::int64_t now_ms);
  void Add(std::int64_t now_ms);

 private:
  static constexpr std::int64_t Slots = 60;
  void MoveTo(std::int64_t now_ms);
  std::int64_t slot_ms_;
  std::int64_t slot_ = 0;
  std::array<std::int64_t, Slots + 1> counts_{};
  std::int64_t sum_ = 0;  // of them
};

class Core {
 public:
  Core(Setup setup, Judge& judge, Outside& outside, Records& records, const host::Clock& clock);
  Outcome Open();
  // Serves until Stop; then until every connection has ended.
  void Run();
  // The rest on the gateway's thread only.
  void Stop();
  std::size_t Rejudge();

  [[nodiscard]] std::int64_t now_ms() const { return clock.MonotonicNowMs(); }
  // Deadlines are looked at once in so long, and reckoned from the last time that they were: they
  // are kept to within this, and cost no look at the clock.
  static constexpr std::int64_t TickMs = 250;
  [[nodiscard]] std::int64_t DeadlineIn(std::int64_t ms) const { return tick_ms_ + TickMs + ms; }

  Setup setup;
  Judge& judge;
  Outside& outside;
  Records& records;
  const host::Clock& clock;
  Names names;
  Meter meter;
  RequestWindow window;
  std::int64_t total_bytes = 0;
  std::uint64_t dns_questions = 0;
  std::size_t dns_connections = 0;
  bool stopping = false;
  bool is_full = false;  // and the task was told
  std::unordered_set<Connection*> connections;
  // Where bytes are read to, and pieces gathered to be written at once: never across a suspension.
  std::vector<char> room;
  std::vector<std::string_view> pieces;
  std::string chunk_heads;

  boost::asio::io_context io;
  std::unique_ptr<Resolver> resolver;

 private:
  boost::asio::awaitable<void> Accept();
  boost::asio::awaitable<void> Tick();
  boost::asio::awaitable<void> ServeDatagrams();
  boost::asio::awaitable<void> AcceptDns();
  boost::asio::awaitable<void> ServeDns(OwnedFd socket);
  // The next connection of a listener; an empty descriptor when there is none just now.
  OwnedFd AcceptOne(boost::asio::posix::stream_descriptor& listener);

  boost::asio::posix::stream_descriptor streams_;
  boost::asio::posix::stream_descriptor dns_datagrams_;
  boost::asio::posix::stream_descriptor dns_streams_;
  boost::asio::steady_timer ticker_;
  std::int64_t tick_ms_ = 0;
  std::unordered_map<Peer*, std::int64_t> dns_peers_;  // with their deadlines
};

}  // namespace curfew::egress
