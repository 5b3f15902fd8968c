#include "compiler/native/services.h"

#include "compiler/interpret/candidates.h"
#include "compiler/interpret/evaluate.h"
#include "compiler/values/path.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

namespace curfew::native {
namespace {

using module::PatternRecord;
using module::Value;

// Most texts are short: two words that may overlap are quicker than a call.
std::uint32_t EqualBytes(const char* a, const char* b, std::uint64_t bytes) {
  const auto same = [&](auto word, std::uint64_t at) {
    auto other = word;
    std::memcpy(&word, a + at, sizeof word);
    std::memcpy(&other, b + at, sizeof other);
    return word == other;
  };
  if (bytes > 16) return std::memcmp(a, b, bytes) == 0 ? 1 : 0;
  if (bytes >= 8) return same(std::uint64_t{}, 0) && same(std::uint64_t{}, bytes - 8) ? 1 : 0;
  if (bytes >= 4) return same(std::uint32_t{}, 0) && same(std::uint32_t{}, bytes - 4) ? 1 : 0;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    if (a[i] != b[i]) return 0;
  }
  return 1;
}

std::int32_t CompareTexts(const char* a, std::uint64_t a_bytes, const char* b,
                          std::uint64_t b_bytes) {
  return std::string_view(a, a_bytes).compare(std::string_view(b, b_bytes));
}

std::uint32_t TextInItems(const Services* services, std::uint64_t text_items, std::uint32_t sorted,
                          const char* text, std::uint64_t bytes) {
  const module::Tables& t = *services->tables;
  const module::Range range = RangeOf(text_items);
  const auto items = t.text_items.subspan(range.first, range.count);
  const std::string_view looked_for(text, bytes);
  const auto at = [&](std::uint32_t item) { return t.TextOf(item); };
  if (sorted != 0) {
    return std::ranges::binary_search(items, looked_for, std::less{}, at) ? 1 : 0;
  }
  return std::ranges::any_of(items, [&](auto item) { return at(item) == looked_for; }) ? 1 : 0;
}

std::uint32_t TextInValues(const Value* values, std::uint64_t count, const char* text,
                           std::uint64_t bytes) {
  const std::string_view looked_for(text, bytes);
  const std::span items(values, count);
  return std::ranges::any_of(items, [&](const Value& v) { return v.text() == looked_for; }) ? 1 : 0;
}

std::uint32_t IntegerInItems(const Services* services, std::uint64_t integers, std::uint32_t sorted,
                             std::int64_t integer) {
  const module::Range range = RangeOf(integers);
  const auto items = services->tables->integers.subspan(range.first, range.count);
  if (sorted != 0) return std::ranges::binary_search(items, integer) ? 1 : 0;
  return std::ranges::find(items, integer) != items.end() ? 1 : 0;
}

std::uint32_t IntegerInValues(const Value* values, std::uint64_t count, std::int64_t integer) {
  const std::span items(values, count);
  return std::ranges::any_of(items, [&](const Value& v) { return v.integer == integer; }) ? 1 : 0;
}

std::uint32_t HostIn(const Services* services, std::uint64_t patterns, const char* text,
                     std::uint64_t bytes) {
  return interpret::MeetsHost(*services->tables, RangeOf(patterns), {text, bytes}) ? 1 : 0;
}

template <typename Matches>
std::uint32_t AnyPattern(const Services* services, std::uint64_t patterns, Matches matches) {
  const module::Tables& t = *services->tables;
  const module::Range range = RangeOf(patterns);
  for (const PatternRecord& pattern : t.patterns.subspan(range.first, range.count)) {
    if (matches(t.TextOf(pattern.text), pattern.mode)) return 1;
  }
  return 0;
}

std::uint32_t PathIn(const Services* services, std::uint64_t patterns, const char* text,
                     std::uint64_t bytes) {
  return AnyPattern(services, patterns, [&](std::string_view glob, std::uint32_t mode) {
    return values::MatchesPathGlob(glob, {text, bytes}, static_cast<values::Reading>(mode));
  });
}

// From the end: a slash meets a slash, so that whole segments are compared.
std::uint32_t PathEndsIn(const Services* services, std::uint64_t segments, const char* text,
                         std::uint64_t bytes) {
  if (bytes == 0 || text[0] != '/') return 0;
  const module::Range range = RangeOf(segments);
  const char* tail = services->data + range.first;
  // What begins with a mark (`.git`, `_private`) is mostly seen to be absent at once.
  const char first = tail[1];
  const bool is_mark = (first < '0' || first > '9') && (first < 'A' || first > 'Z') &&
                       (first < 'a' || first > 'z') && first != '*';
  if (is_mark && std::memchr(text, first, bytes) == nullptr) return 0;
  std::uint64_t at = bytes;
  for (std::uint32_t i = range.count; i-- > 0;) {
    if (tail[i] == '*') {
      const std::uint64_t end = at;
      while (at > 0 && text[at - 1] != '/') --at;
      if (at == end) return 0;
    } else {
      if (at == 0) return 0;
      --at;
      if (text[at] != tail[i]) return 0;
    }
  }
  return 1;
}

std::uint32_t TextMatches(const Services* services, std::uint64_t patterns, const char* text,
                          std::uint64_t bytes) {
  return AnyPattern(services, patterns, [&](std::string_view glob, std::uint32_t) {
    return values::MatchesTextGlob(glob, {text, bytes});
  });
}

__extension__ using Wide = unsigned __int128;

// An address as a number that compares as addresses do.
Wide NumberOf(const char* address) {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::memcpy(&high, address, sizeof high);
  std::memcpy(&low, address + sizeof high, sizeof low);
  return Wide{__builtin_bswap64(high)} << 64 | __builtin_bswap64(low);
}

std::uint32_t AddressIn(const Services* services, std::uint64_t blocks, const char* address) {
  const module::Range range = RangeOf(blocks);
  if (range.count == 0) return 0;
  const Wide looked_for = NumberOf(address);
  const std::uint64_t* block = services->words + range.first;
  // Most addresses are of IPv4, and near none of the blocks.
  if (looked_for >> 32 == 0xffff) {
    const auto byte = static_cast<std::uint32_t>(looked_for) >> 24;
    if ((*(block - 4 + byte / 64) >> (byte % 64) & 1) == 0) return 0;
  }
  // The last block that begins at or below the address, or the first; no branch to mistake.
  for (std::uint32_t count = range.count; count > 1;) {
    const std::uint32_t half = count / 2;
    const std::uint64_t* middle = block + std::size_t{4} * half;
    block = (Wide{middle[0]} << 64 | middle[1]) <= looked_for ? middle : block;
    count -= half;
  }
  const Wide first = Wide{block[0]} << 64 | block[1];
  const Wide last = Wide{block[2]} << 64 | block[3];
  return first <= looked_for && looked_for <= last ? 1 : 0;
}

std::uint32_t Judge(const Services* services, const module::Facts* facts, std::uint64_t node,
                    const Value* element) {
  const interpret::Truth truth =
      interpret::EvaluateNode(*services->tables, *facts, static_cast<std::uint32_t>(node), element);
  if (truth.is_unknown()) return CodeUnknown | std::uint32_t{truth.slot} << CodeSlotShift;
  return truth.is_true() ? CodeTrue : CodeFalse;
}

}  // namespace

Services ServicesOf(const module::Tables& tables, const std::uint64_t* words) {
  return {.data = tables.data.data(),
          .words = words,
          .texts = tables.texts.data(),
          .text_items = tables.text_items.data(),
          .integers = tables.integers.data(),
          .equal_bytes = EqualBytes,
          .compare_texts = CompareTexts,
          .text_in_items = TextInItems,
          .text_in_values = TextInValues,
          .integer_in_items = IntegerInItems,
          .integer_in_values = IntegerInValues,
          .host_in = HostIn,
          .path_in = PathIn,
          .path_ends_in = PathEndsIn,
          .text_matches = TextMatches,
          .address_in = AddressIn,
          .judge = Judge,
          .tables = &tables};
}

}  // namespace curfew::native
