// One end of a stream: a socket that never blocks, and the bytes of it that were read and not used
// yet. An idle one holds no memory but itself: bytes are read into room that all streams share, and
// only what is left over is kept. Of one thread.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::egress {

// What all streams of a sandbox hold for peers that are slow.
class Meter {
 public:
  explicit Meter(std::size_t bytes_max) : max_(bytes_max) {}
  [[nodiscard]] bool Take(std::size_t bytes) {
    if (bytes > max_ - held_) return false;
    held_ += bytes;
    return true;
  }
  void Give(std::size_t bytes) { held_ -= bytes; }
  [[nodiscard]] std::size_t held() const { return held_; }

 private:
  std::size_t max_;
  std::size_t held_ = 0;
};

// Bytes that wait, counted.
class Pending {
 public:
  explicit Pending(Meter& meter) : meter_(meter) {}
  ~Pending() { Clear(); }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  // False: the sandbox holds too much already; nothing was added.
  [[nodiscard]] bool Append(std::string_view bytes);
  // The bytes stay where they are, for those who still look at them, until Append or Clear.
  void Consume(std::size_t bytes);
  void Clear();
  [[nodiscard]] std::string_view view() const { return std::string_view(bytes_).substr(begin_); }
  [[nodiscard]] bool is_empty() const { return begin_ == bytes_.size(); }

 private:
  Meter& meter_;
  std::string bytes_;
  std::size_t begin_ = 0;
  std::size_t counted_ = 0;
};

class Peer {
 public:
  // How much is read at once. The shared room is of this size.
  static constexpr std::size_t RoomBytes = 128 * 1024;

  Peer(boost::asio::io_context& io, Meter& meter) : in(meter), meter_(meter), descriptor_(io) {}

  // Read and not used yet.
  Pending in;

  Outcome Take(OwnedFd socket);
  [[nodiscard]] bool is_open() const { return descriptor_.is_open(); }
  [[nodiscard]] int fd() { return descriptor_.native_handle(); }

  // What came, in `room`: valid until the next suspension. Empty: the stream is over, or `failed`.
  boost::asio::awaitable<std::string_view> Read(std::span<char> room);
  // As Read, but to the end of `in`.
  boost::asio::awaitable<bool> ReadMore(std::span<char> room);
  // All of it, in order; the pieces are not looked at after the first suspension. False: it failed.
  boost::asio::awaitable<bool> Write(std::span<const std::string_view> pieces);
  boost::asio::awaitable<bool> Write(std::string_view text);
  // The same in two parts, for what most often needs no more than the first: sends what the socket
  // takes at once and copies the rest, which is WriteRest's to send before anything else is
  // written.
  [[nodiscard]] bool WriteNow(std::span<const std::string_view> pieces);
  [[nodiscard]] bool WriteNow(std::string_view text);
  [[nodiscard]] bool has_rest() const { return !rest_.empty(); }
  boost::asio::awaitable<bool> WriteRest();
  boost::asio::awaitable<bool> WaitWritable();

  // Whether the peer said nothing since the last byte that was read, not even that it is gone.
  [[nodiscard]] bool IsQuiet();
  // Whether it neither speaks nor listens any more: it broke off. One that only has nothing more to
  // say (FIN) still waits for its answer (RFC 9112, 9.6).
  [[nodiscard]] bool IsGone();
  [[nodiscard]] bool failed() const { return failed_; }
  // Wakes whoever waits; what he waits for has failed.
  void Cancel();
  // No more bytes go out; they still come in.
  void Shut();
  void Close();
  // Close, and the other side learns that it did not end well.
  void Reset();

 private:
  // What one read gives; nothing where it has to be waited for.
  std::optional<std::string_view> ReadNow(std::span<char> room);
  boost::asio::awaitable<bool> WriteAll(std::string_view rest);

  Meter& meter_;
  boost::asio::posix::stream_descriptor descriptor_;
  std::string rest_;  // written, and not sent yet
  bool failed_ = false;
  bool drained_ = true;  // the last read took all that there was
  unsigned in_a_row_ = 0;
};

}  // namespace curfew::egress
