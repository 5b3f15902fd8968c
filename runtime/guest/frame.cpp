#include "runtime/guest/frame.h"

namespace curfew::guest {
namespace {

std::uint32_t ReadLittle(ByteView bytes, std::size_t offset, std::size_t width) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value |= std::uint32_t{bytes[offset + i]} << (8 * i);
  return value;
}

void AppendLittle(Bytes& out, std::uint32_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i)
    out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

bool IsKnown(std::uint16_t kind) {
  return (kind >= static_cast<std::uint16_t>(Kind::Configure) &&
          kind <= static_cast<std::uint16_t>(Kind::Denial)) ||
         (kind >= static_cast<std::uint16_t>(Kind::Up) &&
          kind <= static_cast<std::uint16_t>(Kind::ProcessesEnd));
}

}  // namespace

void AppendFrame(Bytes& out, Kind kind, std::uint32_t id, ByteView payload) {
  AppendLittle(out, static_cast<std::uint32_t>(payload.size()), 4);
  AppendLittle(out, static_cast<std::uint16_t>(kind), 2);
  AppendLittle(out, 0, 2);
  AppendLittle(out, id, 4);
  out.insert(out.end(), payload.begin(), payload.end());
}

void FrameReader::Feed(ByteView bytes) {
  if (dead_) return;
  if (start_ > 0) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(start_));
    start_ = 0;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

Result<std::optional<Frame>> FrameReader::Next() {
  if (dead_) return *dead_;
  const ByteView rest = ByteView(buffer_).subspan(start_);
  if (rest.size() < FrameHeaderBytes) return std::optional<Frame>();
  const std::uint32_t payload_bytes = ReadLittle(rest, 0, 4);
  const auto kind = static_cast<std::uint16_t>(ReadLittle(rest, 4, 2));
  if (payload_bytes > FramePayloadBytesMax) {
    dead_ = Failure(FailureCode::TooLarge, "a frame of the guest protocol announces " +
                                               std::to_string(payload_bytes) + " bytes");
  } else if (!IsKnown(kind) || ReadLittle(rest, 6, 2) != 0) {
    dead_ = Failure(FailureCode::Malformed,
                    "a frame of the guest protocol is of the unknown kind " + std::to_string(kind));
  }
  if (dead_) {
    buffer_.clear();
    start_ = 0;
    return *dead_;
  }
  if (rest.size() < FrameHeaderBytes + payload_bytes) return std::optional<Frame>();
  const ByteView payload = rest.subspan(FrameHeaderBytes, payload_bytes);
  start_ += FrameHeaderBytes + payload_bytes;
  return std::optional(Frame{static_cast<Kind>(kind), ReadLittle(rest, 8, 4),
                             Bytes(payload.begin(), payload.end())});
}

}  // namespace curfew::guest
