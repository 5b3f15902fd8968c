#include "compiler/diagnostics/render.h"

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/source/text_faults.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace curfew::diagnostics {

namespace {

using source::Position;
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

// What a terminal may be shown of a source line, one column for each code point: hidden characters
// and broken bytes become `?`.
std::string Shown(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto code_point = DecodeUtf8(text);
    const std::size_t bytes = code_point ? code_point->bytes : 1;
    const auto byte = static_cast<unsigned char>(text[0]);
    if (byte == '\t') {
      shown += ' ';
    } else if (!code_point || byte < 0x20 || byte == 0x7F ||
               (code_point->value >= 0x80 && source::IsHidden(code_point->value))) {
      shown += '?';
    } else {
      shown += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return shown;
}

std::size_t Columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string Shortened(std::string_view text) {
  constexpr std::size_t BytesMax = 60;
  if (text.size() <= BytesMax) return std::string(text);
  std::size_t cut = BytesMax;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return fmt::format("{}…", text.substr(0, cut));
}

// The line of `span` with a caret below it.
void AppendExcerpt(std::string& out, const SourceMap& sources, Span span, const Palette& palette) {
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
                     palette.reset, "", Columns(before), palette.error, "",
                     std::max<std::size_t>(Columns(marked), 1) - 1, palette.reset);
}

std::string HelpOf(const Fix& fix, const SourceMap& sources) {
  const std::string_view old = sources.text(fix.span);
  const bool is_hidden = Shown(old) != old;
  if (fix.replacement.empty()) {
    return is_hidden ? "remove the character" : fmt::format("remove `{}`", Shortened(old));
  }
  const bool has_controls = Shown(fix.replacement) != fix.replacement;
  const std::string replacement = has_controls ? Printable(fix.replacement) : fix.replacement;
  if (old.empty() || is_hidden) return fmt::format("put `{}` there", replacement);
  return fmt::format("write `{}` instead of `{}`", replacement, Shortened(old));
}

nlohmann::json JsonOf(const SourceMap& sources, Span span) {
  const auto point = [&](std::uint32_t offset) {
    const Position at = sources.PositionOf(span.file, offset);
    return nlohmann::json{{"line", at.line}, {"column", at.column}, {"offset", offset}};
  };
  return {{"start", point(span.begin)}, {"end", point(span.end)}};
}

void AddPlace(nlohmann::json& object, const SourceMap& sources, Span span) {
  if (span.is_nowhere()) return;
  object["file"] = sources.name(span.file);
  object["range"] = JsonOf(sources, span);
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
    if (!diagnostic.span.is_nowhere()) AppendExcerpt(out, sources, diagnostic.span, palette);
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

std::string RenderJson(const Sink& sink, const SourceMap& sources) {
  nlohmann::json list = nlohmann::json::array();
  for (const Diagnostic& diagnostic : sink.Sorted()) {
    nlohmann::json object{{"code", CodeName(diagnostic.code)},
                          {"severity", NameOf(diagnostic.severity)},
                          {"message", diagnostic.message},
                          {"notes", nlohmann::json::array()},
                          {"fixes", nlohmann::json::array()}};
    AddPlace(object, sources, diagnostic.span);
    for (const Note& note : diagnostic.notes) {
      nlohmann::json entry{{"message", note.message}};
      AddPlace(entry, sources, note.span);
      object["notes"].push_back(std::move(entry));
    }
    for (const Fix& fix : diagnostic.fixes) {
      nlohmann::json entry{{"replacement", fix.replacement}};
      AddPlace(entry, sources, fix.span);
      object["fixes"].push_back(std::move(entry));
    }
    list.push_back(std::move(object));
  }
  const nlohmann::json document{{"version", 1}, {"diagnostics", std::move(list)}};
  // A name of a file, or a byte of a broken one, need not be UTF-8.
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace curfew::diagnostics
