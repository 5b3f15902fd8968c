#include "compiler/source/source.h"

#include "compiler/base/check.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::source {

struct SourceMap::File {
  SourceText source;
  std::vector<std::uint32_t> line_starts;
};

FileId SourceMap::Add(SourceText source) {
  auto file = std::make_shared<File>();
  file->source = std::move(source);
  file->line_starts.push_back(0);
  const std::string& text = file->source.text;
  for (std::size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 1)) {
    file->line_starts.push_back(static_cast<std::uint32_t>(i + 1));
  }
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
  const std::uint32_t start = *(next - 1);
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  const auto code_points = std::count_if(whole.begin() + start, whole.begin() + offset,
                                         [&](char c) { return !continues(c); });
  return {static_cast<std::uint32_t>(next - starts.begin()),
          static_cast<std::uint32_t>(code_points) + 1};
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
