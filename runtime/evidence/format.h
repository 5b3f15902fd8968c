// The bytes of a chain of records (FORMAT.md): constants, and the framing as pure code. The writer,
// the verifier and the tests share this file and nothing else.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/base/incarnation.h"
#include "compiler/base/limits.h"
#include "compiler/base/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::evidence {

inline constexpr int FormatVersion = 1;
inline constexpr std::array<std::uint8_t, 4> RecordMagic{'C', 'u', 'R', '1'};
inline constexpr std::size_t HeaderBytes = 112;  // magic 4, body length 4, sequence 8, three hashes
inline constexpr std::size_t TrailerBytes = 4;   // the length of the whole record, again
inline constexpr std::size_t RecordBodyBytesMax = 1024 * 1024;
inline constexpr std::uint64_t ChainBytesMax = 256ULL * 1024 * 1024;
// A chain refuses ordinary records this far before its end, so that the close always fits.
inline constexpr std::uint64_t ChainClosingBytes = 4ULL * 1024 * 1024;

inline constexpr std::string_view StatementType = "https://in-toto.io/Statement/v1";
inline constexpr std::string_view PredicateType = "urn:curfew:receipt:v1";
inline constexpr std::string_view PayloadType = "application/vnd.in-toto+json";
inline constexpr std::size_t ReceiptBytesMax = limits::JsonBytesMax;

// The hash that stands before the first record, so that a chain belongs to one incarnation.
Digest GenesisOf(const Incarnation& incarnation);
Digest HeadsGenesis();

// A record as it stands in the file.
struct Frame {
  std::uint64_t sequence = 0;
  Digest previous;
  Digest hash;  // of the header, which holds the hash of the body
  std::string body;
};

// TooLarge if the body is longer than RecordBodyBytesMax.
Result<Bytes> EncodeFrame(std::uint64_t sequence, const Digest& previous, std::string_view body);
// The hash of a frame that EncodeFrame made.
Digest HashOfFrame(ByteView encoded);

// What the bytes of a file are, up to where they stop to be a chain.
struct ChainScan {
  // Torn: what follows the last whole record can be the remains of one append that a crash cut (it
  // ends too early, or is zeroes). Broken: it cannot.
  enum class End { Whole, Torn, Broken };

  std::vector<Frame> frames;
  std::uint64_t good_bytes = 0;  // the end of the last whole record
  End end = End::Whole;
  std::string why;  // for Torn and Broken
};
ChainScan ScanChain(ByteView file, const Digest& genesis);

// The one whole record that these bytes are; nothing if they are anything else. Says nothing of its
// place in a chain.
std::optional<Frame> DecodeFrame(ByteView bytes);
inline constexpr std::size_t FrameBytesMax = HeaderBytes + RecordBodyBytesMax + TrailerBytes;

// Little-endian, as every number in a frame.
std::uint32_t ReadU32(ByteView bytes);

}  // namespace curfew::evidence
