// Frames: how messages are cut out of the byte stream between host and guest. Pure code: bytes in,
// frames out. It knows nothing of what a frame means (messages.h does).
//
// A frame is a header of 12 bytes and a payload, all little endian:
//   u32 payload bytes | u16 kind | u16 zero | u32 id
// The id ties an answer to its question; 0 belongs to no question.
#pragma once

#include "compiler/base/result.h"
#include "compiler/base/text.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace curfew::guest {

inline constexpr std::uint16_t ProtocolVersion = 2;
inline constexpr std::size_t FrameHeaderBytes = 12;
inline constexpr std::size_t FramePayloadBytesMax = 256 * 1024;

// What a frame is. Values are part of the protocol: never reused.
enum class Kind : std::uint16_t {
  // Host to guest.
  Configure = 1,
  WriteFile = 2,
  Prepare = 3,
  Start = 4,
  Discard = 5,
  Input = 6,
  CloseInput = 7,
  Credit = 8,
  Signal = 9,
  List = 10,
  Fetch = 11,
  ListProcesses = 12,
  EndProcesses = 13,
  PowerOff = 14,
  Denial = 15,
  // Guest to host.
  Up = 64,
  Ready = 65,
  Done = 66,
  Refused = 67,
  Prepared = 68,
  Started = 69,
  Output = 70,
  InputCredit = 71,
  Exited = 72,
  File = 73,
  FilesEnd = 74,
  Data = 75,
  DataEnd = 76,
  Process = 77,
  ProcessesEnd = 78,
};

struct Frame {
  Kind kind;
  std::uint32_t id;
  Bytes payload;
};

void AppendFrame(Bytes& out, Kind kind, std::uint32_t id, ByteView payload);

// Cuts frames out of a stream that arrives in pieces of any size. Holds at most one frame and the
// piece that was fed last. After a Failure (Malformed, TooLarge) the stream is dead: every further
// call fails the same way.
class FrameReader {
 public:
  void Feed(ByteView bytes);
  // The next whole frame, or nothing yet.
  Result<std::optional<Frame>> Next();
  // Bytes fed and not yet given out.
  [[nodiscard]] std::size_t pending() const { return buffer_.size() - start_; }

 private:
  Bytes buffer_;
  std::size_t start_ = 0;
  std::optional<Failure> dead_;
};

}  // namespace curfew::guest
