// The text of a policy set: what was read, from where, and how a byte offset becomes a line and a
// column. Nothing here knows the language; compiler/source/load.h reads files, and
// compiler/syntax/token_list.h is the next station.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::source {

// Index into the SourceMap that made it.
using FileId = std::uint32_t;

// Bytes [begin, end) of one file. A default span is "nowhere": a diagnostic about the whole set.
struct Span {
  static constexpr FileId Nowhere = 0xffffffff;

  FileId file = Nowhere;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] bool is_nowhere() const { return file == Nowhere; }
  friend auto operator<=>(const Span&, const Span&) = default;
};

// From the beginning of `first` to the end of `last`, which stands in the same file.
inline Span Join(Span first, Span last) { return {first.file, first.begin, last.end}; }
// The empty place directly behind `span`.
inline Span Behind(Span span) { return {span.file, span.end, span.end}; }

// Counted from one. A column counts code points, as editors do; a tab is one.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  friend auto operator<=>(const Position&, const Position&) = default;
};

// One file, named as the author named it. At most limits::FileBytesMax bytes, not yet judged; of a
// larger one nothing was read.
struct SourceText {
  std::string name;
  std::string text;
  bool is_too_large = false;
};

// Why there is no file in the map of a set that is too large as a whole.
enum class Excess : std::uint8_t { None, Files, Bytes };

// Every file of a set. It owns the texts; views into them live as long as it does, also when it
// grows or moves.
class SourceMap {
 public:
  FileId Add(SourceText source);

  [[nodiscard]] std::size_t size() const { return files_.size(); }
  [[nodiscard]] std::string_view name(FileId file) const;
  [[nodiscard]] std::string_view text(FileId file) const;
  [[nodiscard]] std::string_view text(Span span) const;
  [[nodiscard]] bool is_too_large(FileId file) const;
  [[nodiscard]] Excess excess() const { return excess_; }

  // A map of nothing, which says why.
  static SourceMap OfExcess(Excess excess);

  // Where a byte of a file is; an offset past the end is the end.
  [[nodiscard]] Position PositionOf(FileId file, std::uint32_t offset) const;
  // One line (from one) without its end; empty when there is none.
  [[nodiscard]] std::string_view Line(FileId file, std::uint32_t line) const;
  // "policy.curfew:3:7", or "policy set" for nowhere.
  [[nodiscard]] std::string Describe(Span span) const;

 private:
  struct File;
  // Behind pointers, so that views stay good while files are added.
  std::vector<std::shared_ptr<const File>> files_;
  Excess excess_ = Excess::None;
};

}  // namespace curfew::source
