// The native image of a module: machine code for its conditions and the constants that the code
// reads, as bytes. compiler/jit makes it; whoever decides by it maps it and needs no LLVM.
//
//   image := Header EntryCode… CodePlace(class)… BlockCode… word… page-aligned code
//
// The code is position-independent and refers to nothing outside of itself: it has no relocations,
// calls nothing by name, and reads what it is handed as arguments (services.h). So the same bytes
// run in every process that maps them.
#pragma once

#include "compiler/module/request.h"
#include "compiler/module/tables.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace curfew::native {

struct Services;

// A condition on the facts of a request: 0 false, 1 true, or 2 + 256 * slot: unknown for want of
// that fact.
using ConditionCode = std::uint32_t (*)(const module::Facts* facts, const std::uint64_t* constants,
                                        const Services* services);
inline constexpr std::uint32_t CodeFalse = 0;
inline constexpr std::uint32_t CodeTrue = 1;
inline constexpr std::uint32_t CodeUnknown = 2;
inline constexpr std::uint32_t CodeSlotShift = 8;

// Where the code of a condition begins, and its constants; or that it needs none, since it always
// or never holds; or that it is interpreted, and then `constants` is its node.
struct CodePlace {
  std::uint32_t code = 0;
  std::uint32_t constants = 0;
};
inline constexpr std::uint32_t AlwaysCode = ~std::uint32_t{0};
inline constexpr std::uint32_t NeverCode = AlwaysCode - 1;
inline constexpr std::uint32_t InterpretedCode = AlwaysCode - 2;

// By entry of the module.
struct EntryCode {
  CodePlace condition;
  CodePlace keyed;  // the condition where a key of the entry's index was met
  CodePlace within;
};

// By block: whether some of the conditions is not false. Always where nobody compiled them.
struct BlockCode {
  // The block's checks, where defaults stand behind them.
  CodePlace before;
  // The denials of block and set that no index can pass over, their trials and, without defaults,
  // the checks of both: those that read nothing but facts that last with the sandbox; the others.
  CodePlace lasting;
  CodePlace varying;
};

struct ImageHeader {
  std::array<char, 8> magic = {'C', 'U', 'R', 'F', 'E', 'W', 'N', '\n'};
  std::uint32_t version = 4;                 // raised with every change of an image or of Services
  std::uint32_t machine = 0;                 // MachineHere of the machine that can run it
  std::array<std::uint8_t, 32> module = {};  // the content digest of its module
  std::uint32_t entries = 0;
  std::uint32_t classes = 0;
  std::uint32_t words = 0;
  std::uint32_t code_offset = 0;  // a multiple of PageBytes
  std::uint32_t code_bytes = 0;
  std::uint32_t blocks = 0;
};
inline constexpr std::size_t PageBytes = 4096;

#if defined(__x86_64__)
inline constexpr std::uint32_t MachineHere = 62;  // as ELF numbers machines
#elif defined(__aarch64__)
inline constexpr std::uint32_t MachineHere = 183;
#else
inline constexpr std::uint32_t MachineHere = 0;  // no image is of this one
#endif

static_assert(sizeof(CodePlace) == 8 && sizeof(EntryCode) == 24 && sizeof(BlockCode) == 24 &&
              sizeof(ImageHeader) == 72);

// A word that names a stretch of an array, or of the module's bytes.
constexpr std::uint64_t RangeWord(std::uint32_t first, std::uint32_t count) {
  return std::uint64_t{count} << 32 | first;
}
constexpr module::Range RangeOf(std::uint64_t word) {
  return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
}

}  // namespace curfew::native
