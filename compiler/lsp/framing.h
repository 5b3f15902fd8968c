// The base protocol of LSP 3.17: messages with `Content-Length` headers in a stream of bytes. What
// a message says is message.h's matter.
#pragma once

#include "compiler/base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace curfew::lsp {

inline constexpr std::size_t HeadersBytesMax = 8 * 1024;

// Cuts messages out of bytes as they arrive. Holds at most one message that is not whole, with its
// headers, beside what was fed at last.
class FrameReader {
 public:
  struct Frame {
    std::string body;
    // It was larger than limits::JsonBytesMax: it was skipped, and `body` is empty.
    bool too_large = false;
  };

  void Feed(std::string_view bytes);
  // The next message that is whole, or nothing. Malformed when headers cannot be read: where the
  // next message begins is then unknown, and every later call says the same.
  Result<std::optional<Frame>> Next();

 private:
  Outcome ReadHeaders();
  void Drop(std::size_t count);
  [[nodiscard]] std::string_view rest() const { return std::string_view(buffer_).substr(begin_); }

  std::string buffer_;
  std::size_t begin_ = 0;              // of what is not read yet
  std::optional<std::size_t> length_;  // of the body that is being waited for
  std::size_t left_to_skip_ = 0;       // of a body that is too large
  std::optional<Failure> failure_;
};

// The body with its header.
std::string Framed(std::string_view body);

}  // namespace curfew::lsp
