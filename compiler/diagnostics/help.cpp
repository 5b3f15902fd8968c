#include "compiler/diagnostics/help.h"

#include "compiler/base/text.h"
#include "compiler/diagnostics/fitting.h"
#include "compiler/source/shown.h"

#include <fmt/format.h>

namespace curfew::diagnostics {

namespace {

using source::Shown;

std::string Shortened(std::string_view text) { return ShortenedTo(text, 60); }

// What a reader sees of it: its first line, without the blanks around it where there is more.
std::string_view SeenOf(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return text;
  text = text.substr(first);
  return text.substr(0, text.find_first_of("\r\n"));
}

// Blanks and line ends as one blank, and none at the beginning.
std::string OnOneLine(std::string_view text) {
  std::string line;
  bool parts = false;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (!is_blank && parts && !line.empty()) line += ' ';
    if (!is_blank) line += c;
    parts = is_blank;
  }
  return line;
}

// The word that ends at `end`, if one does.
std::string_view WordBefore(std::string_view text, std::size_t end) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t blank = end == 0 ? std::string_view::npos : text.find_last_of(kBlanks, end - 1);
  const std::size_t begin = blank == std::string_view::npos ? 0 : blank + 1;
  return text.substr(begin, end - begin);
}

// Where something is added that begins a line of its own, or stands behind a word.
std::string HelpOfAddition(const Fix& fix, const source::SourceMap& sources) {
  const std::string added = ShortenedTo(OnOneLine(fix.replacement), 1000);
  if (fix.replacement.starts_with('\n')) {
    return fmt::format("put `{}` below line {}", added,
                       sources.PositionOf(fix.span.file, fix.span.begin).line);
  }
  const std::string_view word = WordBefore(sources.text(fix.span.file), fix.span.begin);
  return fmt::format("put `{}` behind `{}`", added, Shown(Shortened(word)));
}

}  // namespace

std::string HelpOf(const Fix& fix, const source::SourceMap& sources) {
  const std::string_view old = SeenOf(sources.text(fix.span));
  const bool is_hidden = Shown(old) != old;
  if (fix.replacement.empty()) {
    return is_hidden ? "remove the character" : fmt::format("remove `{}`", Shortened(old));
  }
  // What ends or parts something may be wanted far from where the mistake is shown.
  const bool is_addition = fix.span.begin == fix.span.end && !OnOneLine(fix.replacement).empty();
  if (is_addition && std::string_view("\n ])").find(fix.replacement[0]) != std::string_view::npos) {
    return HelpOfAddition(fix, sources);
  }
  const bool has_controls = Shown(fix.replacement) != fix.replacement;
  const std::string replacement =
      has_controls ? Printable(fix.replacement) : ShortenedTo(fix.replacement, 1000);
  if (old.empty() || is_hidden) return fmt::format("put `{}` there", replacement);
  return fmt::format("write `{}` instead of `{}`", replacement, Shortened(old));
}

}  // namespace curfew::diagnostics
