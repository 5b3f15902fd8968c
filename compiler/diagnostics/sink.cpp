#include "compiler/diagnostics/sink.h"

#include <algorithm>

namespace curfew::diagnostics {

void Draft::AddNote(source::Span span, std::string message) {
  if (diagnostic_ != nullptr) diagnostic_->notes.push_back({span, std::move(message)});
}

Draft& Draft::Fix(source::Span span, std::string replacement) {
  if (diagnostic_ != nullptr) diagnostic_->fixes.push_back({span, std::move(replacement)});
  return *this;
}

bool Sink::Admit(Severity severity) {
  const bool is_error = severity == Severity::Error;
  std::size_t& count = is_error ? error_count_ : other_count_;
  ++count;
  if (count <= (is_error ? limits::DiagnosticsMax : others_max_)) return true;
  if (is_error && count == limits::DiagnosticsMax + 1) {
    diagnostics_.push_back(
        {diag::TooManyErrors.code,
         Severity::Error,
         {},
         fmt::format(fmt::runtime(diag::TooManyErrors.format), limits::DiagnosticsMax),
         {},
         {}});
  }
  return false;
}

Draft Sink::Add(source::Span span, std::uint16_t code, Severity severity, std::string message) {
  if (!Admit(severity)) return Draft(nullptr);
  diagnostics_.push_back({code, severity, span, std::move(message), {}, {}});
  return Draft(&diagnostics_.back());
}

void Sink::Keep(Diagnostic diagnostic) {
  if (Admit(diagnostic.severity)) diagnostics_.push_back(std::move(diagnostic));
}

std::vector<Diagnostic> Sink::Sorted() const {
  std::vector<Diagnostic> sorted = diagnostics_;
  // "Nowhere" is the greatest file, so that what concerns the whole set stands last.
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.span < b.span; });
  const auto same = [](const Diagnostic& a, const Diagnostic& b) {
    return a.code == b.code && a.span == b.span && a.message == b.message;
  };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  return sorted;
}

}  // namespace curfew::diagnostics
