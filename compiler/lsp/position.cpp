#include "compiler/lsp/position.h"

#include "compiler/base/text.h"

#include <algorithm>

namespace curfew::lsp {
namespace {

struct Step {
  std::uint32_t bytes;
  std::uint32_t units;
};

// The character at the front of `text`, which is not empty.
Step FirstOf(std::string_view text, Encoding encoding) {
  const auto point = DecodeUtf8(text);
  if (!point) return {1, 1};
  const auto bytes = static_cast<std::uint32_t>(point->bytes);
  if (encoding == Encoding::Utf8) return {bytes, bytes};
  return {bytes, point->value > 0xFFFF ? 2U : 1U};
}

}  // namespace

LineIndex::LineIndex(std::string_view text) : text_(text) {
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n' && text[i] != '\r') continue;
    const auto end = static_cast<std::uint32_t>(i);
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
    lines_.push_back({begin, end});
    begin = static_cast<std::uint32_t>(i + 1);
  }
  lines_.push_back({begin, static_cast<std::uint32_t>(text.size())});
}

Position LineIndex::At(std::uint32_t offset, Encoding encoding) const {
  const auto next =
      std::upper_bound(lines_.begin(), lines_.end(), offset,
                       [](std::uint32_t place, const Line& line) { return place < line.begin; });
  const Line& line = *(next - 1);
  const std::uint32_t end = std::min(offset, line.end);
  Position position{static_cast<std::uint32_t>(next - 1 - lines_.begin()), 0};
  for (std::uint32_t at = line.begin; at < end;) {
    const Step step = FirstOf(text_.substr(at), encoding);
    if (at + step.bytes > end) break;
    at += step.bytes;
    position.character += step.units;
  }
  return position;
}

std::uint32_t LineIndex::OffsetOf(Position position, Encoding encoding) const {
  if (position.line >= lines_.size()) return static_cast<std::uint32_t>(text_.size());
  const Line& line = lines_[position.line];
  std::uint32_t at = line.begin;
  for (std::uint32_t units = 0; at < line.end;) {
    const Step step = FirstOf(text_.substr(at), encoding);
    if (units + step.units > position.character) break;
    at += step.bytes;
    units += step.units;
  }
  return at;
}

}  // namespace curfew::lsp
