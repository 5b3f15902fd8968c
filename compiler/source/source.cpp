#include "compiler/source/source.h"

#include "compiler/base/check.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::source {

namespace {

// Bytes between two counts of a file's code points: a line may be as long as its file, and have a
// rule at each place.
constexpr std::size_t kCountEvery = 1024;

bool BeginsCodePoint(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

}  // namespace

struct SourceMap::File {
  SourceText source;
  std::vector<std::uint32_t> line_starts;
  std::vector<std::uint32_t> code_points;  // before each kCountEvery bytes

  [[nodiscard]] std::uint32_t CodePointsBefore(std::uint32_t offset) const {
    const std::size_t counted = offset / kCountEvery;
    const auto begin = source.text.begin();
    return code_points[counted] +
           static_cast<std::uint32_t>(
               std::count_if(begin + static_cast<std::ptrdiff_t>(counted * kCountEvery),
                             begin + static_cast<std::ptrdiff_t>(offset), BeginsCodePoint));
  }
};

FileId SourceMap::Add(SourceText source) {
  auto file = std::make_shared<File>();
  file->source = std::move(source);
  file->line_starts.push_back(0);
  const std::string& text = file->source.text;
  for (std::size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 1)) {
    file->line_starts.push_back(static_cast<std::uint32_t>(i + 1));
  }
  std::uint32_t code_points = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % kCountEvery == 0) file->code_points.push_back(code_points);
    if (BeginsCodePoint(text[i])) ++code_points;
  }
  // The end of a text may be asked for, too.
  if (text.size() % kCountEvery == 0) file->code_points.push_back(code_points);
  files_.push_back(std::move(file));
  return static_cast<FileId>(files_.size() - 1);
}

std::string_view SourceMap::name(FileId file) const {
  CURFEW_CHECK(file < files_.size(), "a file id comes from this map");
  return files_[file]->source.name;
}

std::string_view SourceMap::text(FileId file) const {
  CURFEW_CHECK(file < files_.size(), "a file id comes from this map");
  return files_[file]->source.text;
}

bool SourceMap::is_too_large(FileId file) const {
  CURFEW_CHECK(file < files_.size(), "a file id comes from this map");
  return files_[file]->source.is_too_large;
}

SourceMap SourceMap::OfExcess(Excess excess) {
  SourceMap sources;
  sources.excess_ = excess;
  return sources;
}

std::string_view SourceMap::text(Span span) const {
  if (span.is_nowhere()) return {};
  const std::string_view whole = text(span.file);
  CURFEW_CHECK(span.begin <= span.end && span.end <= whole.size(), "a span lies in its file");
  return whole.substr(span.begin, span.end - span.begin);
}

Position SourceMap::PositionOf(FileId file, std::uint32_t offset) const {
  const std::string_view whole = text(file);
  offset = std::min(offset, static_cast<std::uint32_t>(whole.size()));
  const auto& starts = files_[file]->line_starts;
  const auto next = std::upper_bound(starts.begin(), starts.end(), offset);
  const File& in = *files_[file];
  const std::uint32_t column = in.CodePointsBefore(offset) - in.CodePointsBefore(*(next - 1)) + 1;
  return {static_cast<std::uint32_t>(next - starts.begin()), column};
}

std::string_view SourceMap::Line(FileId file, std::uint32_t line) const {
  const std::string_view whole = text(file);
  const auto& starts = files_[file]->line_starts;
  if (line == 0 || line > starts.size()) return {};
  std::string_view rest = whole.substr(starts[line - 1]);
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

std::string SourceMap::Describe(Span span) const {
  if (span.is_nowhere()) return "policy set";
  const Position at = PositionOf(span.file, span.begin);
  return fmt::format("{}:{}:{}", name(span.file), at.line, at.column);
}

}  // namespace curfew::source
