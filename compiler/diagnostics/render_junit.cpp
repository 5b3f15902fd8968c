#include "compiler/base/xml_text.h"
#include "compiler/diagnostics/render.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

namespace curfew::diagnostics {
namespace {

using source::SourceMap;

// An information is told and fails nothing.
bool Fails(const Diagnostic& diagnostic) { return diagnostic.severity != Severity::Info; }

// What `RenderText` says of this one alone.
std::string TextOf(const Diagnostic& diagnostic, const SourceMap& sources) {
  Sink alone;
  alone.Keep(diagnostic);
  return RenderText(alone, sources);
}

std::string CaseOf(const Diagnostic& diagnostic, const SourceMap& sources) {
  std::string place;
  std::string name = diagnostic.message;
  if (!diagnostic.span.is_nowhere()) {
    const auto at = sources.PositionOf(diagnostic.span.file, diagnostic.span.begin);
    const std::string_view file = sources.name(diagnostic.span.file);
    place = fmt::format(" file=\"{}\" line=\"{}\"", XmlAttribute(file), at.line);
    name = fmt::format("{}:{}: {}", at.line, at.column, diagnostic.message);
  }
  const std::string head = fmt::format("    <testcase name=\"{}\" classname=\"{}\"{}>\n",
                                       XmlAttribute(name), CodeName(diagnostic.code), place);
  const std::string text = XmlText(TextOf(diagnostic, sources));
  const std::string body =
      Fails(diagnostic)
          ? fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                        NameOf(diagnostic.severity), XmlAttribute(diagnostic.message), text)
          : fmt::format("      <system-out>{}</system-out>\n", text);
  return head + body + "    </testcase>\n";
}

std::string CountsOf(std::size_t cases, std::size_t failures) {
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\"", cases, failures);
}

std::size_t FailuresOf(const std::vector<const Diagnostic*>& found) {
  return static_cast<std::size_t>(
      std::count_if(found.begin(), found.end(), [](const Diagnostic* one) { return Fails(*one); }));
}

// A file in which nothing was found is one test that passed, so that a clean run is not an empty
// one.
std::string SuiteOf(std::string_view name, const std::vector<const Diagnostic*>& found,
                    const SourceMap& sources) {
  std::string text =
      fmt::format("  <testsuite name=\"{}\" {}>\n", XmlAttribute(name),
                  CountsOf(std::max<std::size_t>(found.size(), 1), FailuresOf(found)));
  for (const Diagnostic* diagnostic : found) text += CaseOf(*diagnostic, sources);
  if (found.empty()) text += "    <testcase name=\"nothing found\" classname=\"curfew\"/>\n";
  return text + "  </testsuite>\n";
}

}  // namespace

std::string RenderJunit(const Sink& sink, const SourceMap& sources) {
  std::map<source::FileId, std::vector<const Diagnostic*>> found;
  for (source::FileId file = 0; file < sources.size(); ++file) found[file];
  const std::vector<Diagnostic> sorted = sink.Sorted();
  for (const Diagnostic& diagnostic : sorted) found[diagnostic.span.file].push_back(&diagnostic);
  std::string suites;
  std::size_t cases = 0;
  std::size_t failures = 0;
  for (const auto& [file, of_file] : found) {
    const bool of_set = file == source::Span::Nowhere;
    suites += SuiteOf(of_set ? "the set" : sources.name(file), of_file, sources);
    cases += std::max<std::size_t>(of_file.size(), 1);
    failures += FailuresOf(of_file);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"curfew\" {}>\n{}"
      "</testsuites>\n",
      CountsOf(cases, failures), suites);
}

}  // namespace curfew::diagnostics
