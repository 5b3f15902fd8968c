// Every bound that is the same for all of Curfew, in one place. A bound of one protocol or file
// format stands with it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace curfew::limits {

// Policy text (language.md sections 3 and 8).
inline constexpr std::size_t StringLiteralBytesMax = 64 * 1024;
inline constexpr std::size_t FileBytesMax = 16 * 1024 * 1024;
inline constexpr std::size_t SetBytesMax = 64 * 1024 * 1024;
inline constexpr std::size_t SetFilesMax = 4096;
inline constexpr std::size_t NestingMax = 64;
inline constexpr std::size_t StatementTokensMax = 64 * 1024;
inline constexpr std::size_t DiagnosticsMax = 100;

// Values (language.md section 4).
inline constexpr std::size_t SetElementsDefault = 64;
inline constexpr std::size_t SetElementsMax = 1024;
inline constexpr std::size_t RequestStringBytesMax = 64 * 1024;
inline constexpr std::size_t HostBytesMax = 253;
inline constexpr std::size_t LabelBytesMax = 63;
inline constexpr std::size_t PathBytesMax = 8 * 1024;

// Decisions.
inline constexpr std::size_t RulesMax = 1'000'000;
inline constexpr std::size_t ChainLinksMax = 8;  // a class and what it narrows
inline constexpr std::size_t AttributesPerActionMax =
    128;                                          // a present and a known bit each, two words
inline constexpr std::size_t VerdictIdsMax = 64;  // named in one verdict before the overflow flag
inline constexpr std::size_t ConditionDepthMax = 4 * NestingMax;  // of nodes in decision code
inline constexpr std::uint64_t DecisionOpsMax = 200'000'000;  // steps that any decision may take
inline constexpr std::size_t RuleIdBytesMax = 512;
inline constexpr std::size_t ModuleBytesMax = std::size_t{1} << 30;

// The longest time that a token may be valid, whatever is written.
inline constexpr std::int64_t TokenLifeMsMax = std::int64_t{7} * 24 * 3600 * 1000;

// The longest while over which requests out are counted.
inline constexpr std::int64_t RateWindowMsMax = std::int64_t{24} * 3600 * 1000;

// Requests and tasks as JSON.
inline constexpr std::size_t JsonBytesMax = 4 * 1024 * 1024;
inline constexpr std::size_t JsonDepthMax = 32;

static_assert(StringLiteralBytesMax <= FileBytesMax && FileBytesMax <= SetBytesMax);
static_assert(SetElementsDefault <= SetElementsMax);

}  // namespace curfew::limits
