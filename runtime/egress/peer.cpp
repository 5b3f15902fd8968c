#include "runtime/egress/peer.h"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <tuple>
#include <utility>

namespace curfew::egress {
namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;

constexpr auto Quietly = asio::as_tuple(asio::use_awaitable);
// After so many reads that did not have to wait, others get their turn.
constexpr unsigned kReadsInARow = 8;
constexpr std::size_t kPiecesAtOnce = 64;
// An empty buffer that is larger than this is given back.
constexpr std::size_t kKeptBytes = 512;

}  // namespace

bool Pending::Append(std::string_view bytes) {
  if (begin_ > 0) {
    bytes_.erase(0, begin_);
    begin_ = 0;
  }
  const std::size_t wanted = bytes_.size() + bytes.size();
  if (wanted > counted_) {
    if (!meter_.Take(wanted - counted_)) return false;
    counted_ = wanted;
  }
  bytes_.append(bytes);
  return true;
}

void Pending::Consume(std::size_t bytes) { begin_ += std::min(bytes, bytes_.size() - begin_); }

void Pending::Clear() {
  begin_ = 0;
  meter_.Give(std::exchange(counted_, 0));
  bytes_.clear();
  if (bytes_.capacity() > kKeptBytes) std::string().swap(bytes_);
}

Outcome Peer::Take(OwnedFd socket) {
  boost::system::error_code error;
  descriptor_.assign(socket.get(), error);
  if (error) return SystemFailure(error.value(), "watch a socket");
  (void)socket.Release();
  failed_ = false;
  drained_ = true;
  in.Clear();
  return Ok();
}

std::optional<std::string_view> Peer::ReadNow(std::span<char> room) {
  for (;;) {
    const ssize_t got = is_open() ? ::recv(fd(), room.data(), room.size(), MSG_DONTWAIT) : 0;
    if (got > 0) {
      drained_ = static_cast<std::size_t>(got) < room.size();
      return std::string_view(room.data(), static_cast<std::size_t>(got));
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      drained_ = true;
      return std::nullopt;
    }
    failed_ = failed_ || got < 0 || !is_open();
    return std::string_view();
  }
}

asio::awaitable<std::string_view> Peer::Read(std::span<char> room) {
  if (in.is_empty()) in.Clear();
  for (;;) {
    if (drained_ && is_open()) {
      in_a_row_ = 0;
      const auto [error] = co_await descriptor_.async_wait(Descriptor::wait_read, Quietly);
      if (error) {
        failed_ = true;
        co_return std::string_view();
      }
    } else if (++in_a_row_ > kReadsInARow) {
      in_a_row_ = 0;
      co_await asio::post(descriptor_.get_executor(), asio::use_awaitable);
    }
    if (const auto got = ReadNow(room)) co_return *got;
  }
}

// Not by way of Read: what waits for every request is one coroutine and not two.
asio::awaitable<bool> Peer::ReadMore(std::span<char> room) {
  if (in.is_empty()) in.Clear();
  std::optional<std::string_view> got;
  while (!got) {
    if (!drained_ || !is_open()) {
      got = co_await Read(room);
      break;
    }
    in_a_row_ = 0;
    const auto [error] = co_await descriptor_.async_wait(Descriptor::wait_read, Quietly);
    failed_ = failed_ || error;
    got = error ? std::string_view() : ReadNow(room);
  }
  if (got->empty()) co_return false;
  if (in.Append(*got)) co_return true;
  failed_ = true;
  co_return false;
}

asio::awaitable<bool> Peer::WaitWritable() {
  const auto [error] = co_await descriptor_.async_wait(Descriptor::wait_write, Quietly);
  co_return !error && is_open();
}

bool Peer::WriteNow(std::string_view text) {
  const std::array<std::string_view, 1> pieces = {text};
  return WriteNow(std::span<const std::string_view>(pieces));
}

bool Peer::WriteNow(std::span<const std::string_view> pieces) {
  while (!pieces.empty()) {
    if (!is_open()) return false;
    const std::size_t count = std::min(pieces.size(), kPiecesAtOnce);
    std::array<iovec, kPiecesAtOnce> vectors;
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) {
      vectors[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
      size += pieces[i].size();
    }
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = count;
    // The plain call is the cheaper one.
    ssize_t sent = count == 1 ? ::send(fd(), pieces[0].data(), size, MSG_NOSIGNAL | MSG_DONTWAIT)
                              : ::sendmsg(fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      failed_ = true;
      return false;
    }
    sent = std::max<ssize_t>(sent, 0);
    if (static_cast<std::size_t>(sent) == size) {
      pieces = pieces.subspan(count);
      continue;
    }
    auto skip = static_cast<std::size_t>(sent);
    for (const std::string_view piece : pieces) {
      const std::size_t skipped = std::min(skip, piece.size());
      skip -= skipped;
      rest_ += piece.substr(skipped);
    }
    return true;
  }
  return true;
}

asio::awaitable<bool> Peer::Write(std::string_view text) {
  const std::array<std::string_view, 1> pieces = {text};
  co_return co_await Write(std::span<const std::string_view>(pieces));
}

asio::awaitable<bool> Peer::Write(std::span<const std::string_view> pieces) {
  if (!WriteNow(pieces)) co_return false;
  if (has_rest()) co_return co_await WriteRest();
  co_return true;
}

asio::awaitable<bool> Peer::WriteRest() {
  const std::string rest = std::exchange(rest_, {});
  if (!meter_.Take(rest.size())) co_return false;
  const bool written = co_await WriteAll(rest);
  meter_.Give(rest.size());
  co_return written;
}

asio::awaitable<bool> Peer::WriteAll(std::string_view rest) {
  while (!rest.empty()) {
    const bool writable = co_await WaitWritable();
    if (!writable) co_return false;
    const ssize_t sent = ::send(fd(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      co_return false;
    }
  }
  co_return true;
}

bool Peer::IsQuiet() {
  char byte = 0;
  return is_open() && in.is_empty() && ::recv(fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         errno == EAGAIN;
}

bool Peer::IsGone() {
  if (!is_open()) return true;
  // What ends both directions is always reported; the end of one alone is not asked for.
  pollfd state{.fd = fd(), .events = 0, .revents = 0};
  return ::poll(&state, 1, 0) == 1 && (state.revents & (POLLERR | POLLHUP)) != 0;
}

void Peer::Cancel() {
  boost::system::error_code error;
  descriptor_.cancel(error);
}

void Peer::Shut() {
  if (is_open()) ::shutdown(fd(), SHUT_WR);
}

void Peer::Close() {
  boost::system::error_code error;
  descriptor_.close(error);
  in.Clear();
}

void Peer::Reset() {
  if (!is_open()) return;
  const linger hard{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
  Close();
}

}  // namespace curfew::egress
