#include "compiler/base/check.h"
#include "compiler/diagnostics/help.h"
#include "compiler/diagnostics/render.h"
#include "compiler/source/shown.h"

#include <filesystem>

#include <fmt/format.h>

namespace curfew::diagnostics {

namespace {

using source::SourceMap;

// A workflow command ends at the line's end, a property at a comma or at `::`. What the runner
// decodes is escaped (actions/toolkit, packages/core/src/command.ts); what a log must not be shown
// becomes `?`.
std::string Escaped(std::string_view text, std::string_view special) {
  std::string escaped;
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find_first_of(special), text.size());
    escaped += source::Shown(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    escaped += fmt::format("%{:02X}", static_cast<unsigned char>(text.front()));
    text.remove_prefix(1);
  }
  return escaped;
}

std::string Data(std::string_view text) { return Escaped(text, "%\r\n"); }
std::string Property(std::string_view text) { return Escaped(text, "%\r\n:,"); }

std::string_view CommandOf(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Info:
      return "notice";
  }
  CURFEW_UNREACHABLE("the switch names every severity");
}

// "file=…,line=…,…,": columns only within one line, or the whole annotation is refused.
std::string PlaceOf(const SourceMap& sources, source::Span span) {
  if (span.is_nowhere()) return {};
  const source::Position begin = sources.PositionOf(span.file, span.begin);
  const source::Position end = sources.PositionOf(span.file, span.end);
  const std::string path =
      std::filesystem::path(sources.name(span.file)).lexically_normal().string();
  if (begin.line != end.line) {
    return fmt::format("file={},line={},endLine={},", Property(path), begin.line, end.line);
  }
  return fmt::format("file={},line={},col={},endLine={},endColumn={},", Property(path), begin.line,
                     begin.column, end.line, end.column);
}

}  // namespace

std::string RenderGithub(const Sink& sink, const SourceMap& sources) {
  std::string out;
  for (const Diagnostic& diagnostic : sink.Sorted()) {
    std::string message = diagnostic.message;
    for (const Note& note : diagnostic.notes) {
      message += fmt::format("\n{}: note: {}", sources.Describe(note.span), note.message);
    }
    for (const Fix& fix : diagnostic.fixes) {
      message += fmt::format("\nhelp: {}", HelpOf(fix, sources));
    }
    out += fmt::format("::{} {}title={}::{}\n", CommandOf(diagnostic.severity),
                       PlaceOf(sources, diagnostic.span), CodeName(diagnostic.code), Data(message));
  }
  return out;
}

}  // namespace curfew::diagnostics
