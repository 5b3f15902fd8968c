// Places as the protocol counts them: lines from zero, and units of the agreed encoding within a
// line. A text's own places are byte offsets (compiler/source); this converts exactly.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

namespace curfew::lsp {

// In what a position counts: UTF-16 unless the client offers bytes.
enum class Encoding : std::uint8_t { Utf16, Utf8 };

struct Position {
  std::uint32_t line = 0;
  std::uint32_t character = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

// The lines of one text, which outlives it. A line ends with LF, CR LF or CR.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);

  // An offset inside of a character, or past the end, is the next place before it. A byte that is
  // not UTF-8 counts as one.
  [[nodiscard]] Position At(std::uint32_t offset, Encoding encoding) const;
  // A place behind the end of its line is that end, one behind the last line the end of the text,
  // one inside of a character its begin.
  [[nodiscard]] std::uint32_t OffsetOf(Position position, Encoding encoding) const;

 private:
  struct Line {
    std::uint32_t begin;
    std::uint32_t end;  // without its line end
  };
  std::string_view text_;
  std::vector<Line> lines_;
};

}  // namespace curfew::lsp
