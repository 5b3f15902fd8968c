#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/diagnostics/help.h"
#include "compiler/diagnostics/render.h"
#include "compiler/source/shown.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::diagnostics {

namespace {

using source::Position;
using source::Shown;
using source::SourceMap;
using source::Span;

// A line is shown up to this many bytes, a window around the place when it is longer.
constexpr std::size_t LineBytesMax = 160;

struct Palette {
  std::string_view error, warning, info, bold, place, reset;
};
constexpr Palette Plain{};
constexpr Palette Colored{"\x1b[1;31m", "\x1b[1;33m", "\x1b[1;36m",
                          "\x1b[1m",    "\x1b[36m",   "\x1b[0m"};

std::string_view ColorOf(Severity severity, const Palette& palette) {
  switch (severity) {
    case Severity::Error:
      return palette.error;
    case Severity::Warning:
      return palette.warning;
    case Severity::Info:
      return palette.info;
  }
  CURFEW_UNREACHABLE("the switch names every severity");
}

std::size_t Columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// The line of `span` with a caret below it, in the colour of its severity.
void AppendExcerpt(std::string& out, const SourceMap& sources, Span span, Severity severity,
                   const Palette& palette) {
  const Position at = sources.PositionOf(span.file, span.begin);
  std::string_view line = sources.Line(span.file, at.line);
  const std::string_view whole = sources.text(span.file);
  const std::size_t line_begin = static_cast<std::size_t>(line.data() - whole.data());
  std::size_t begin = std::min<std::size_t>(span.begin - line_begin, line.size());
  std::size_t end = std::clamp<std::size_t>(span.end - line_begin, begin, line.size());
  if (line.size() > LineBytesMax) {
    std::size_t cut = begin > LineBytesMax / 4 ? begin - LineBytesMax / 4 : 0;
    while (cut < begin && (static_cast<unsigned char>(line[cut]) & 0xC0) == 0x80) ++cut;
    std::size_t keep = std::min(line.size() - cut, LineBytesMax);
    while (cut + keep < line.size() && keep > 0 &&
           (static_cast<unsigned char>(line[cut + keep]) & 0xC0) == 0x80) {
      --keep;
    }
    line = line.substr(cut, keep);
    begin -= cut;
    end = std::min(end - cut, line.size());
    begin = std::min(begin, end);
  }
  const std::string before = Shown(line.substr(0, begin));
  const std::string marked = Shown(line.substr(begin, end - begin));
  const std::string number = fmt::format("{:>5}", at.line);
  out += fmt::format("{}{} |{} {}{}{}\n", palette.place, number, palette.reset, before, marked,
                     Shown(line.substr(end)));
  out += fmt::format("{}{:>{}} |{} {:>{}}{}^{:~>{}}{}\n", palette.place, "", number.size(),
                     palette.reset, "", Columns(before), ColorOf(severity, palette), "",
                     std::max<std::size_t>(Columns(marked), 1) - 1, palette.reset);
}

}  // namespace

std::string RenderText(const Sink& sink, const SourceMap& sources, Color color) {
  const Palette& palette = color == Color::Always ? Colored : Plain;
  std::string out;
  std::size_t warnings = 0;
  for (const Diagnostic& diagnostic : sink.Sorted()) {
    if (diagnostic.severity == Severity::Warning) ++warnings;
    out += fmt::format("{}{}:{} {}{}:{} {} [{}]\n", palette.bold,
                       Printable(sources.Describe(diagnostic.span), 4096), palette.reset,
                       ColorOf(diagnostic.severity, palette), NameOf(diagnostic.severity),
                       palette.reset, Shown(diagnostic.message), CodeName(diagnostic.code));
    if (!diagnostic.span.is_nowhere()) {
      AppendExcerpt(out, sources, diagnostic.span, diagnostic.severity, palette);
    }
    for (const Note& note : diagnostic.notes) {
      out += fmt::format("{}: note: {}\n", Printable(sources.Describe(note.span), 4096),
                         Shown(note.message));
    }
    for (const Fix& fix : diagnostic.fixes) {
      out += fmt::format("{:>5} = help: {}\n", "", HelpOf(fix, sources));
    }
  }
  const std::size_t errors = sink.error_count();
  if (errors + warnings >= 2) {
    if (errors > 0) out += Counted(errors, "error");
    if (errors > 0 && warnings > 0) out += ", ";
    if (warnings > 0) out += Counted(warnings, "warning");
    out += '\n';
  }
  return out;
}

}  // namespace curfew::diagnostics
