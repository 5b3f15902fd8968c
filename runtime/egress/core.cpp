#include "runtime/egress/core.h"

#include "runtime/egress/connection.h"
#include "runtime/egress/dns_message.h"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <sys/socket.h>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace curfew::egress {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;

namespace {

constexpr auto Quietly = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kNoDescriptors{100};
constexpr unsigned kDatagramsInARow = 64;

Outcome Watch(Descriptor& descriptor, OwnedFd fd) {
  if (!fd.is_open()) return Ok();
  boost::system::error_code error;
  descriptor.assign(fd.get(), error);
  if (error) return SystemFailure(error.value(), "watch a listening socket");
  (void)fd.Release();
  return Ok();
}

}  // namespace

void RequestWindow::MoveTo(std::int64_t now_ms) {
  const std::int64_t slot = now_ms / slot_ms_;
  const std::int64_t steps = std::min<std::int64_t>(slot - slot_, Slots + 1);
  for (std::int64_t i = 0; i < steps; ++i) {
    std::int64_t& count = counts_[static_cast<std::size_t>((slot - i) % (Slots + 1))];
    sum_ -= std::exchange(count, 0);
  }
  slot_ = std::max(slot, slot_);
}

std::int64_t RequestWindow::Count(std::int64_t now_ms) {
  MoveTo(now_ms);
  return sum_;
}

void RequestWindow::CountOver(std::int64_t window_ms, std::int64_t now_ms) {
  if (window_ms / Slots + 1 == slot_ms_) return;
  const std::int64_t count = Count(now_ms);
  slot_ms_ = window_ms / Slots + 1;
  slot_ = now_ms / slot_ms_;
  counts_ = {};
  counts_[static_cast<std::size_t>(slot_ % (Slots + 1))] = count;
}

void RequestWindow::Add(std::int64_t now_ms) {
  MoveTo(now_ms);
  ++counts_[static_cast<std::size_t>(slot_ % (Slots + 1))];
  ++sum_;
}

Core::Core(Setup the_setup, Judge& the_judge, Outside& the_outside, Records& the_records,
           const host::Clock& the_clock)
    : setup(std::move(the_setup)),
      judge(the_judge),
      outside(the_outside),
      records(the_records),
      clock(the_clock),
      names(setup.names_base, setup.names),
      meter(setup.limits.memory_bytes),
      window(judge.WindowMs()),
      room(Peer::RoomBytes),
      io(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO),
      streams_(io),
      dns_datagrams_(io),
      dns_streams_(io),
      ticker_(io),
      tick_ms_(clock.MonotonicNowMs()) {}

Outcome Core::Open() {
  CURFEW_TRY(resolver, Resolver::Make(io, outside, setup.resolvers, setup.limits.resolve_ms));
  CURFEW_TRY_VOID(Watch(streams_, std::move(setup.streams)));
  CURFEW_TRY_VOID(Watch(dns_datagrams_, std::move(setup.dns_datagrams)));
  CURFEW_TRY_VOID(Watch(dns_streams_, std::move(setup.dns_streams)));
  return Ok();
}

void Core::Run() {
  asio::co_spawn(io, Tick(), asio::detached);
  if (streams_.is_open()) asio::co_spawn(io, Accept(), asio::detached);
  if (dns_datagrams_.is_open()) asio::co_spawn(io, ServeDatagrams(), asio::detached);
  if (dns_streams_.is_open()) asio::co_spawn(io, AcceptDns(), asio::detached);
  io.run();
}

void Core::Stop() {
  stopping = true;
  boost::system::error_code error;
  streams_.close(error);
  dns_datagrams_.close(error);
  dns_streams_.close(error);
  ticker_.cancel();
  for (Connection* connection : connections) {
    connection->Cut(OwnDenial(ClosingId, "the sandbox's way out is closed"));
  }
  for (const auto& [peer, deadline] : dns_peers_) peer->Cancel();
  resolver->Cancel();
}

std::size_t Core::Rejudge() {
  window.CountOver(judge.WindowMs(), now_ms());
  return static_cast<std::size_t>(
      std::ranges::count_if(connections, [](Connection* each) { return each->Rejudge(); }));
}

OwnedFd Core::AcceptOne(Descriptor& listener) {
  return OwnedFd(
      ::accept4(listener.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

asio::awaitable<void> Core::Accept() {
  asio::steady_timer pause(io);
  while (!stopping) {
    const auto [error] = co_await streams_.async_wait(Descriptor::wait_read, Quietly);
    if (error) co_return;
    for (;;) {
      OwnedFd socket = AcceptOne(streams_);
      if (!socket.is_open()) break;
      // The socket is closed where there is no room for it; the guest sees that at once, and is
      // told why once.
      const bool was_full =
          std::exchange(is_full, connections.size() + dns_connections >= setup.limits.connections);
      if (!is_full) {
        Connection::Begin(*this, std::move(socket));
      } else if (!was_full) {
        records.Denied(DenialLine(
            clock.WallNowMs(), {},
            OwnDenial(LimitId,
                      fmt::format("more than {} connections are open", setup.limits.connections))));
      }
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
      pause.expires_after(kNoDescriptors);
      co_await pause.async_wait(Quietly);
    }
  }
}

asio::awaitable<void> Core::Tick() {
  std::int64_t judged_ms = tick_ms_;
  while (!stopping) {
    ticker_.expires_after(std::chrono::milliseconds(TickMs));
    co_await ticker_.async_wait(Quietly);
    if (stopping) co_return;
    const std::int64_t now = tick_ms_ = now_ms();
    records.OnTick();
    for (Connection* connection : connections) connection->OnTick(now);
    for (const auto& [peer, deadline] : dns_peers_) {
      if (now >= deadline) peer->Cancel();
    }
    if (now - judged_ms >= setup.limits.rejudge_ms) {
      judged_ms = now;
      Rejudge();
    }
  }
}

asio::awaitable<void> Core::ServeDatagrams() {
  while (!stopping) {
    const auto [error] = co_await dns_datagrams_.async_wait(Descriptor::wait_read, Quietly);
    if (error) co_return;
    for (unsigned i = 0; i < kDatagramsInARow; ++i) {
      sockaddr_storage from{};
      socklen_t size = sizeof(from);
      // One byte more than any question has, so that a longer one shows.
      const ssize_t got =
          ::recvfrom(dns_datagrams_.native_handle(), room.data(), DnsQueryBytesMax + 1,
                     MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from), &size);
      if (got < 0) break;
      ++dns_questions;
      const auto answer = AnswerDns(AsBytes({room.data(), static_cast<std::size_t>(got)}), names);
      if (!answer) continue;
      // One that cannot be sent now is asked for again.
      (void)::sendto(dns_datagrams_.native_handle(), answer->data(), answer->size(),
                     MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&from), size);
    }
  }
}

asio::awaitable<void> Core::AcceptDns() {
  while (!stopping) {
    const auto [error] = co_await dns_streams_.async_wait(Descriptor::wait_read, Quietly);
    if (error) co_return;
    for (;;) {
      OwnedFd socket = AcceptOne(dns_streams_);
      if (!socket.is_open()) break;
      if (dns_connections < setup.limits.dns_connections) {
        asio::co_spawn(io, ServeDns(std::move(socket)), asio::detached);
      }
    }
  }
}

// Questions with two bytes of length in front (RFC 1035 section 4.2.2), one after another.
asio::awaitable<void> Core::ServeDns(OwnedFd socket) {
  Peer peer(io, meter);
  if (!peer.Take(std::move(socket))) co_return;
  ++dns_connections;
  dns_peers_[&peer] = DeadlineIn(setup.limits.dns_ms);
  for (bool more = true; more && !stopping;) {
    const ByteView seen = AsBytes(peer.in.view());
    const std::size_t size = seen.size() < 2 ? 0 : static_cast<std::size_t>(seen[0]) << 8 | seen[1];
    if (seen.size() < 2 || seen.size() < 2 + size) {
      more = co_await peer.ReadMore(std::span(room).first(DnsQueryBytesMax));
      continue;
    }
    ++dns_questions;
    const auto answer = AnswerDns(seen.subspan(2, size), names);
    if (!answer) break;
    std::string text;
    text.push_back(static_cast<char>(answer->size() >> 8));
    text.push_back(static_cast<char>(answer->size() & 0xff));
    text += AsText(*answer);
    peer.in.Consume(2 + size);
    more = co_await peer.Write(text);
    dns_peers_[&peer] = DeadlineIn(setup.limits.dns_ms);
  }
  dns_peers_.erase(&peer);
  --dns_connections;
}

}  // namespace curfew::egress
