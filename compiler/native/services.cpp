#include "compiler/native/services.h"

#include "compiler/base/short_text.h"
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

std::uint32_t EqualBytes(const char* a, const char* b, std::uint64_t bytes) {
  return SameBytes(a, b, bytes) ? 1 : 0;
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
  for (const Value& value : std::span(values, count)) {
    if (value.size == bytes && SameBytes(value.data, text, bytes)) return 1;
  }
  return 0;
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
bool EndsInSegments(std::string_view tail, std::string_view path) {
  std::size_t at = path.size();
  for (std::size_t i = tail.size(); i-- > 0;) {
    if (tail[i] == '*') {
      const std::size_t end = at;
      while (at > 0 && path[at - 1] != '/') --at;
      if (at == end) return false;
    } else {
      if (at == 0) return false;
      --at;
      if (path[at] != tail[i]) return false;
    }
  }
  return true;
}

std::uint32_t PathEndsIn(const Services* services, std::uint64_t segments, const char* text,
                         std::uint64_t bytes) {
  if (bytes == 0 || text[0] != '/') return 0;
  const std::string_view path(text, bytes);
  const module::Range range = RangeOf(segments);
  const char mark = static_cast<char>(services->words[range.first - 1]);
  if (mark != 0 && path.find(mark) == path.npos) return 0;
  for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
    const module::Range bounds = RangeOf(services->words[i]);
    if (EndsInSegments({services->data + bounds.first, bounds.count}, path)) return 1;
  }
  return 0;
}

std::uint32_t TextContains(const Services* services, std::uint64_t literal, const char* text,
                           std::uint64_t bytes) {
  const module::Range bounds = RangeOf(literal);
  const std::string_view looked_for(services->data + bounds.first, bounds.count);
  return std::string_view(text, bytes).find(looked_for) != std::string_view::npos ? 1 : 0;
}

std::uint64_t PackShort(const char* text, std::uint64_t bytes) {
  return PackShortText(text, bytes);
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

// Native code has seen to addresses of IPv4 that are near none.
std::uint32_t AddressIn(const Services* services, std::uint64_t blocks, const char* address) {
  const module::Range range = RangeOf(blocks);
  if (range.count == 0) return 0;
  const Wide looked_for = NumberOf(address);
  const std::uint64_t* block = services->words + range.first;
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
          .text_contains = TextContains,
          .text_matches = TextMatches,
          .address_in = AddressIn,
          .pack_short = PackShort,
          .judge = Judge,
          .tables = &tables};
}

}  // namespace curfew::native
