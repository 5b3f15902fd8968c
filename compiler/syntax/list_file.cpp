#include "compiler/base/limits.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/text_report.h"

#include <map>

namespace curfew::syntax {
namespace {

using source::Span;

constexpr std::string_view kWhite = " \t\r";

std::string_view Trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(kWhite);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kWhite) - begin + 1);
}

}  // namespace

std::vector<Expr> ParseListFile(const source::SourceMap& sources, source::FileId file,
                                ListDecl::Kind kind, diagnostics::Sink& sink) {
  const std::string_view text = sources.text(file);
  std::vector<Expr> elements;
  for (const source::TextFault& fault : source::FindTextFaults(text)) {
    if (!ReportFault(fault, file, text, sink)) return elements;
  }
  std::map<std::string_view, Span> seen;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const std::string_view entry = Trimmed(line.substr(0, line.find('#')));
    if (entry.empty()) continue;
    const auto begin = static_cast<std::uint32_t>(entry.data() - text.data());
    const Span span{file, begin, begin + static_cast<std::uint32_t>(entry.size())};
    if (entry.size() > limits::StringLiteralBytesMax) {
      sink.Report(span, diag::StringTooLong,
                  static_cast<std::int64_t>(limits::StringLiteralBytesMax / 1024));
      continue;
    }
    if (elements.size() >= ListElementsMax) {
      sink.Report(span, diag::ListTooLong, static_cast<std::int64_t>(ListElementsMax));
      return elements;
    }
    const auto [first, fresh] = seen.emplace(entry, span);
    if (!fresh) {
      sink.Report(span, diag::StatedTwice, entry).Note(first->second, diag::FirstHere);
      continue;
    }
    elements.push_back(
        {.kind = kind == ListDecl::Kind::Digests ? ExprKind::Digest : ExprKind::String,
         .span = span,
         .operator_span = {},
         .text = std::string(entry),
         .operands = {}});
  }
  return elements;
}

}  // namespace curfew::syntax
