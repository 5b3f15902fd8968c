// Where things lie in the bytes of a module.
//
//   module  := FileHeader SectionRecord[SectionCount] section…
//   section := records of one kind, at a multiple of 16, in the order of Section
//
// Numbers have the byte order of the machine that compiled it, which is little-endian everywhere
// that Curfew runs. Nothing is a pointer and nothing is relocated.
#pragma once

#include "compiler/module/tables.h"

#include <array>
#include <bit>
#include <cstdint>

namespace curfew::module::layout {

static_assert(std::endian::native == std::endian::little, "module bytes are little-endian");

inline constexpr std::array<char, 8> Magic = {'C', 'U', 'R', 'F', 'E', 'W', 'M', '\n'};
// Raised with every change of a record or of what one means.
inline constexpr std::uint32_t Version = 7;
inline constexpr std::size_t Alignment = 16;

enum class Section : std::uint32_t {
  Manifest,  // one ManifestRecord
  Rules,
  Classes,
  ClassLinks,
  Blocks,
  Groups,
  Entries,
  Defaults,
  Nodes,
  Children,
  Terms,
  Addends,
  Integers,
  Texts,
  TextItems,
  Patterns,
  Addresses,
  ClassIndex,
  BlockIndexes,
  GroupIndexes,
  Indexes,
  Listed,
  Keys,
  Marks,
  Postings,
  Names,    // bytes
  Data,     // bytes
  Plans,    // bytes: plan_codec.h, one template a class
  Declared  // bytes: plan_codec.h
};
inline constexpr std::size_t SectionCount = 29;

struct FileHeader {
  std::array<char, 8> magic = Magic;
  std::uint32_t version = Version;
  std::uint32_t section_count = SectionCount;
  std::uint64_t bytes = 0;                    // of the whole module
  std::array<std::uint8_t, 32> content = {};  // SHA-256 of everything behind the header
  std::uint64_t reserved = 0;
};
static_assert(sizeof(FileHeader) == 64);

struct SectionRecord {
  std::uint32_t offset = 0;  // from the start of the module
  std::uint32_t bytes = 0;
};

struct ManifestRecord {
  std::array<std::uint8_t, 32> policy = {};
  NameRef compiler;
  std::uint32_t language = 0;
  SelectionRules selection;
};
static_assert(sizeof(ManifestRecord) == 64);

}  // namespace curfew::module::layout
