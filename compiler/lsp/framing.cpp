#include "compiler/lsp/framing.h"

#include "compiler/base/limits.h"
#include "compiler/base/text.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace curfew::lsp {
namespace {

constexpr std::string_view EndOfHeaders = "\r\n\r\n";

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string_view WithoutBlanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

Failure Malformed(std::string message) { return {FailureCode::Malformed, std::move(message)}; }

Result<std::size_t> LengthOf(std::string_view digits) {
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return Malformed(fmt::format("Content-Length `{}` is no number", Printable(digits, 40)));
  }
  return length;
}

// Whether a Content-Type says the one encoding that there is (as two names).
bool IsUtf8(std::string_view type) {
  const std::string lower = Lower(type);
  const std::size_t at = lower.find("charset=");
  if (at == std::string::npos) return true;
  std::string_view charset = std::string_view(lower).substr(at + 8);
  charset = WithoutBlanks(charset.substr(0, charset.find(';')));
  return charset == "utf-8" || charset == "utf8" || charset == "\"utf-8\"";
}

}  // namespace

void FrameReader::Feed(std::string_view bytes) {
  if (failure_) return;
  const std::size_t skipped = std::min(left_to_skip_, bytes.size());
  if (begin_ == buffer_.size() && skipped > 0) {
    left_to_skip_ -= skipped;
    bytes.remove_prefix(skipped);
  }
  buffer_.append(bytes);
}

void FrameReader::Drop(std::size_t count) {
  begin_ += count;
  // Moving what is left is paid for by what was dropped.
  if (begin_ < buffer_.size() / 2) return;
  buffer_.erase(0, begin_);
  begin_ = 0;
}

Outcome FrameReader::ReadHeaders() {
  const std::size_t end = rest().substr(0, HeadersBytesMax).find(EndOfHeaders);
  if (end == std::string_view::npos) {
    if (rest().size() < HeadersBytesMax) return Ok();
    return Malformed(fmt::format("headers of more than {} bytes", HeadersBytesMax));
  }
  std::optional<std::size_t> length;
  std::string_view lines = rest().substr(0, end);
  while (!lines.empty()) {
    const std::size_t line_end = lines.find("\r\n");
    const std::string_view line = lines.substr(0, line_end);
    lines.remove_prefix(line_end == std::string_view::npos ? lines.size() : line_end + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      return Malformed(fmt::format("`{}` is no header", Printable(line, 60)));
    }
    const std::string name = Lower(line.substr(0, colon));
    const std::string_view value = WithoutBlanks(line.substr(colon + 1));
    if (name == "content-length") {
      if (length) return Malformed("Content-Length stands twice");
      CURFEW_TRY(length, LengthOf(value));
    } else if (name == "content-type" && !IsUtf8(value)) {
      return Malformed(fmt::format("`{}`: messages are UTF-8", Printable(value, 60)));
    }
  }
  if (!length) return Malformed("headers without Content-Length");
  length_ = length;
  Drop(end + EndOfHeaders.size());
  if (*length > limits::JsonBytesMax) {
    const std::size_t here = std::min(*length, rest().size());
    left_to_skip_ = *length - here;
    Drop(here);
  }
  return Ok();
}

Result<std::optional<FrameReader::Frame>> FrameReader::Next() {
  if (failure_) return *failure_;
  if (!length_) {
    if (const Outcome read = ReadHeaders(); !read) {
      failure_ = read.error();
      return *failure_;
    }
  }
  if (!length_) return std::optional<Frame>();
  if (*length_ > limits::JsonBytesMax) {
    if (left_to_skip_ > 0) return std::optional<Frame>();
    length_.reset();
    return std::optional(Frame{.body = {}, .too_large = true});
  }
  if (rest().size() < *length_) return std::optional<Frame>();
  Frame frame{.body = std::string(rest().substr(0, *length_))};
  Drop(*length_);
  length_.reset();
  return std::optional(std::move(frame));
}

std::string Framed(std::string_view body) {
  return fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
}

}  // namespace curfew::lsp
