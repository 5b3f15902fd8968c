#include "runtime/evidence/format.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::evidence {

namespace {

constexpr std::size_t LengthAt = 4;
constexpr std::size_t SequenceAt = 8;
constexpr std::size_t PreviousAt = 16;
constexpr std::size_t BodyHashAt = 48;
constexpr std::size_t HashAt = 80;
constexpr std::size_t DigestBytes = 32;
static_assert(HashAt + DigestBytes == HeaderBytes);

void AppendNumber(Bytes& bytes, std::uint64_t number, int width) {
  for (int i = 0; i < width; ++i) bytes.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}

std::uint64_t ReadNumber(ByteView bytes, std::size_t at, int width) {
  std::uint64_t number = 0;
  for (int i = width - 1; i >= 0; --i)
    number = (number << 8) | bytes[at + static_cast<std::size_t>(i)];
  return number;
}

void AppendDigest(Bytes& bytes, const Digest& digest) {
  bytes.insert(bytes.end(), digest.bytes.begin(), digest.bytes.end());
}

Digest ReadDigest(ByteView bytes, std::size_t at) {
  Digest digest;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), DigestBytes, digest.bytes.begin());
  return digest;
}

bool IsZero(ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

// The record at the front of `rest`, its own bytes checked but not its place in a chain.
struct Front {
  ChainScan::End end = ChainScan::End::Broken;
  std::string why;
  Frame frame;
  std::size_t bytes = 0;
};

Front ReadFront(ByteView rest) {
  using End = ChainScan::End;
  const ByteView magic = rest.first(std::min(rest.size(), RecordMagic.size()));
  if (!std::equal(magic.begin(), magic.end(), RecordMagic.begin())) {
    if (IsZero(rest)) return {End::Torn, "zeroes stand where a record should begin", {}, 0};
    return {End::Broken, "no record begins here", {}, 0};
  }
  if (rest.size() < HeaderBytes) return {End::Torn, "the header ends too early", {}, 0};
  Front front;
  front.frame.hash = ReadDigest(rest, HashAt);
  if (Sha256(rest.first(HashAt)) != front.frame.hash) {
    front.why = "the header does not have its hash";
    return front;
  }
  const std::size_t body_bytes = ReadNumber(rest, LengthAt, 4);
  if (body_bytes == 0 || body_bytes > RecordBodyBytesMax) {
    front.why = "a body of " + Counted(body_bytes, "byte");
    return front;
  }
  front.bytes = HeaderBytes + body_bytes + TrailerBytes;
  if (rest.size() < front.bytes) return {End::Torn, "the body ends too early", {}, 0};

  const ByteView body = rest.subspan(HeaderBytes, body_bytes);
  const bool is_last = rest.size() == front.bytes;
  if (Sha256(body) != ReadDigest(rest, BodyHashAt)) {
    if (is_last && IsZero(body)) front.end = End::Torn;
    front.why = "the body does not have its hash";
    return front;
  }
  const ByteView trailer = rest.subspan(HeaderBytes + body_bytes, TrailerBytes);
  if (ReadU32(trailer) != front.bytes) {
    if (is_last && IsZero(trailer)) front.end = End::Torn;
    front.why = "the length at the end is another than at the front";
    return front;
  }
  front.frame.sequence = ReadNumber(rest, SequenceAt, 8);
  front.frame.previous = ReadDigest(rest, PreviousAt);
  front.frame.body = std::string(AsText(body));
  front.end = End::Whole;
  return front;
}

}  // namespace

Digest GenesisOf(const Incarnation& incarnation) {
  return Sha256(AsBytes("curfew records v1\n" + ToString(incarnation)));
}

Digest HeadsGenesis() { return Sha256(AsBytes("curfew heads v1\n")); }

std::uint32_t ReadU32(ByteView bytes) {
  return static_cast<std::uint32_t>(ReadNumber(bytes, 0, 4));
}

Result<Bytes> EncodeFrame(std::uint64_t sequence, const Digest& previous, std::string_view body) {
  CURFEW_CHECK(!body.empty(), "a record says something");
  if (body.size() > RecordBodyBytesMax) {
    return Failure(FailureCode::TooLarge, fmt::format("a record of {} bytes; at most {} are kept",
                                                      body.size(), RecordBodyBytesMax));
  }
  Bytes bytes(RecordMagic.begin(), RecordMagic.end());
  bytes.reserve(HeaderBytes + body.size() + TrailerBytes);
  AppendNumber(bytes, body.size(), 4);
  AppendNumber(bytes, sequence, 8);
  AppendDigest(bytes, previous);
  AppendDigest(bytes, Sha256(AsBytes(body)));
  AppendDigest(bytes, Sha256(bytes));
  bytes.insert(bytes.end(), body.begin(), body.end());
  AppendNumber(bytes, bytes.size() + TrailerBytes, 4);
  return bytes;
}

Digest HashOfFrame(ByteView encoded) { return ReadDigest(encoded, HashAt); }

ChainScan ScanChain(ByteView file, const Digest& genesis) {
  ChainScan scan;
  Digest previous = genesis;
  while (scan.good_bytes < file.size()) {
    Front front = ReadFront(file.subspan(scan.good_bytes));
    scan.end = front.end;
    scan.why = std::move(front.why);
    if (scan.end != ChainScan::End::Whole) return scan;
    const std::uint64_t expected = scan.frames.size();
    if (front.frame.sequence != expected || front.frame.previous != previous) {
      scan.end = ChainScan::End::Broken;
      scan.why = front.frame.sequence != expected
                     ? fmt::format("it says that it is record {}", front.frame.sequence)
                     : std::string("it follows another record than the one before it");
      return scan;
    }
    previous = front.frame.hash;
    scan.frames.push_back(std::move(front.frame));
    scan.good_bytes += front.bytes;
  }
  return scan;
}

std::optional<Frame> DecodeFrame(ByteView bytes) {
  Front front = ReadFront(bytes);
  if (front.end != ChainScan::End::Whole || front.bytes != bytes.size()) return std::nullopt;
  return std::move(front.frame);
}

}  // namespace curfew::evidence
