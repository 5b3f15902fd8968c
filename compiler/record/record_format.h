// How a decision lies on record; README.md says it in words. Shared by the writer and the reader of
// records, and of no use to anyone else.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/base/limits.h"
#include "compiler/module/request.h"
#include "compiler/record/byte_ring.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace curfew::record::format {

static_assert(std::endian::native == std::endian::little, "records are little-endian");

// Raised with every change of what stands below.
inline constexpr std::uint8_t Version = 1;
inline constexpr std::size_t Alignment = 8;

enum Flag : std::uint8_t {
  Allowed = 1,
  Undecided = 2,
  FactsCut = 4,
  // More rules than the record names.
  DenialsCut = 8,
  AllowsCut = 16,
  TrialsCut = 32
};
inline constexpr std::uint8_t FlagsAll = 63;

struct Header {
  std::uint32_t bytes;  // of the whole record
  std::uint8_t version;
  std::uint8_t action;
  std::uint8_t stage;
  std::uint8_t flags;
  std::uint64_t sequence;
  std::uint64_t generation;
  Digest policy;
  std::uint64_t module;
  std::uint32_t class_index;
  std::uint16_t missing;  // the slot of a fact, where undecided
  std::uint8_t denials;
  std::uint8_t allows;
  std::uint8_t trials;
  std::uint8_t reserved[7];
  // A bit for each slot: what is known, what of it is there, and which facts are numbers, be they
  // there or not.
  module::Facts::Bits known;
  module::Facts::Bits present;
  module::Facts::Bits numbers;
};
static_assert(sizeof(Header) == 128 && std::is_trivially_copyable_v<Header>);

// In front of a text, and of a set or list: how many bytes or elements follow, and what they are.
using Cell = std::uint32_t;
inline constexpr Cell CellCount = (Cell{1} << 24) - 1;
inline constexpr Cell CellIsList = Cell{1} << 29;
inline constexpr Cell CellOfNumbers = Cell{1} << 30;  // the elements of a list
inline constexpr Cell CellIsCut = Cell{1} << 31;

// Of a text, or of an element; longer ones are cut.
inline constexpr std::size_t TextBytesMax = std::size_t{2} * 1024;
inline constexpr std::size_t RulesMax = limits::VerdictIdsMax;  // of each kind

// What is not text, at most; the rest of a record is room for text. Every short text has room of
// its own, so that only long ones need ask.
inline constexpr std::size_t FixedBytesMax = sizeof(Header) + 3 * RulesMax * sizeof(std::uint32_t) +
                                             limits::AttributesPerActionMax * sizeof(std::int64_t);
inline constexpr std::size_t ShortTextBytes = 32;
inline constexpr std::size_t ShortTextsBytes =
    limits::AttributesPerActionMax * (sizeof(Cell) + ShortTextBytes);
// For the zeros at the end, which the writer puts there as a word.
inline constexpr std::size_t Slack = 8;
// Where long texts, and lists, end.
inline constexpr std::size_t TextsEnd = ByteRing::RecordBytesMax - ShortTextsBytes - Slack;
static_assert(FixedBytesMax + TextBytesMax < TextsEnd);

}  // namespace curfew::record::format
