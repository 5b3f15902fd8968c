// What compiled conditions are handed beside facts and constants: where the module's bytes lie in
// this process, and the functions that are too large to be compiled again for each shape. Compiled
// code finds a field by its number, so that the order is part of the image's version.
#pragma once

#include "compiler/base/short_text.h"
#include "compiler/module/tables.h"
#include "compiler/native/image.h"

#include <cstdint>

namespace curfew::native {

struct Services {
  const char* data;                 // of the module: texts
  const std::uint64_t* words;       // of the image: what a RangeWord of words counts from
  const module::NameRef* texts;     // of the module
  const std::uint32_t* text_items;  // of the module
  const std::int64_t* integers;     // of the module
  // All that answer a std::uint32_t answer 0 or 1. Texts are bytes and their number; a range is a
  // RangeWord.
  std::uint32_t (*equal_bytes)(const char* a, const char* b, std::uint64_t bytes);
  std::int32_t (*compare_texts)(const char* a, std::uint64_t a_bytes, const char* b,
                                std::uint64_t b_bytes);  // below, at or above 0
  std::uint32_t (*text_in_items)(const Services*, std::uint64_t text_items, std::uint32_t sorted,
                                 const char* text, std::uint64_t bytes);
  std::uint32_t (*text_in_values)(const module::Value* values, std::uint64_t count,
                                  const char* text, std::uint64_t bytes);
  std::uint32_t (*integer_in_items)(const Services*, std::uint64_t integers, std::uint32_t sorted,
                                    std::int64_t integer);
  std::uint32_t (*integer_in_values)(const module::Value* values, std::uint64_t count,
                                     std::int64_t integer);
  std::uint32_t (*host_in)(const Services*, std::uint64_t patterns, const char* text,
                           std::uint64_t bytes);
  std::uint32_t (*path_in)(const Services*, std::uint64_t patterns, const char* text,
                           std::uint64_t bytes);
  // `segments` is a RangeWord of `words`, each a RangeWord of the module's texts: segments, the
  // first behind a slash; `*` is any one of some bytes. Whether the path ends in some of them.
  // Before them stands a word: a byte that all of them have behind their first slash, and that few
  // paths have at all, or 0.
  std::uint32_t (*path_ends_in)(const Services*, std::uint64_t segments, const char* text,
                                std::uint64_t bytes);
  // The literal, a RangeWord of the module's texts, stands somewhere in the text.
  std::uint32_t (*text_contains)(const Services*, std::uint64_t literal, const char* text,
                                 std::uint64_t bytes);
  std::uint32_t (*text_matches)(const Services*, std::uint64_t patterns, const char* text,
                                std::uint64_t bytes);
  // `blocks` are of `words`, four each: the first and last address, as two numbers each; ascending.
  // Before them stand four words, a bit for each first byte that an IPv4 address among them can
  // have.
  std::uint32_t (*address_in)(const Services*, std::uint64_t blocks, const char* address);
  // As PackShortText says.
  std::uint64_t (*pack_short)(const char* text, std::uint64_t bytes);
  // Any node, as the interpreter has it; answers as a ConditionCode does.
  std::uint32_t (*judge)(const Services*, const module::Facts* facts, std::uint64_t node,
                         const module::Value* element);
  const module::Tables* tables;
};

// Before the blocks of an AddressIn.
inline constexpr std::uint32_t FirstByteWords = 4;

// A text of up to seven bytes as one word, its size in the highest byte; NoShortText is none.
inline constexpr std::uint64_t ShortTextBytesMax = 7;
inline constexpr std::uint64_t NoShortText = ~std::uint64_t{0};
inline std::uint64_t PackShortText(const char* text, std::uint64_t bytes) {
  if (bytes > ShortTextBytesMax) return NoShortText;
  return PackFew(text, bytes) | bytes << 56;
}

// The number of each field.
enum class Service : std::uint32_t {
  Data,
  Words,
  Texts,
  TextItems,
  Integers,
  EqualBytes,
  CompareTexts,
  TextInItems,
  TextInValues,
  IntegerInItems,
  IntegerInValues,
  HostIn,
  PathIn,
  PathEndsIn,
  TextContains,
  TextMatches,
  AddressIn,
  PackShort,
  Judge,
  Tables
};
static_assert(sizeof(Services) == 8 * (static_cast<std::size_t>(Service::Tables) + 1));

// Of tables that stay where they are.
Services ServicesOf(const module::Tables& tables, const std::uint64_t* words);

}  // namespace curfew::native
