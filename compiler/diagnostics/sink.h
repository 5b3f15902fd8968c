// The sink: where every stage reports the author's mistakes. A stage always returns its artefact;
// error_count() decides whether the next one may run.
//   sink.Report(span, diag::UnknownAttribute, type, name)
//       .Note(declaration, diag::DeclaredHere, type)
//       .Fix(span, "kind");
#pragma once

#include "compiler/base/limits.h"
#include "compiler/diagnostics/diagnostic.h"
#include "compiler/diagnostics/fitting.h"

#include <type_traits>

#include <fmt/format.h>

namespace curfew::diagnostics {

class Sink;

// The diagnostic just reported, to add notes and fixes to. Use it in the same statement.
class Draft {
 public:
  template <typename... Args>
  Draft& Note(source::Span span, const NoteKind<Args...>& kind,
              const std::type_identity_t<Args>&... args) {
    AddNote(span, fmt::format(fmt::runtime(kind.format), Fitting(args)...));
    return *this;
  }
  // A change that a tool may apply; several fixes of one diagnostic belong together.
  Draft& Fix(source::Span span, std::string replacement);

 private:
  friend class Sink;
  explicit Draft(Diagnostic* diagnostic) : diagnostic_(diagnostic) {}
  void AddNote(source::Span span, std::string message);

  Diagnostic* diagnostic_;  // null when the sink was full; owned by the sink
};

// Keeps at most limits::DiagnosticsMax errors, and `others_max` of all else; the first error beyond
// is replaced by TooManyErrors, the rest is counted and dropped.
class Sink {
 public:
  Sink() = default;
  explicit Sink(std::size_t others_max) : others_max_(others_max) {}

  template <typename... Args>
  Draft Report(source::Span span, const Kind<Args...>& kind,
               const std::type_identity_t<Args>&... args) {
    return Add(span, kind.code, kind.severity,
               fmt::format(fmt::runtime(kind.format), Fitting(args)...));
  }

  // One that was reported to another sink.
  void Keep(Diagnostic diagnostic);

  // All errors, those that were dropped too.
  [[nodiscard]] std::size_t error_count() const { return error_count_; }
  [[nodiscard]] bool has_errors() const { return error_count_ > 0; }
  // All that are no errors, those that were dropped too.
  [[nodiscard]] std::size_t other_count() const { return other_count_; }
  // In the order of the reports.
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  // By file and place, stable; without an exact repetition.
  [[nodiscard]] std::vector<Diagnostic> Sorted() const;

 private:
  Draft Add(source::Span span, std::uint16_t code, Severity severity, std::string message);
  // Counts one more; false where it is not kept.
  bool Admit(Severity severity);

  std::size_t others_max_ = limits::DiagnosticsMax;
  std::vector<Diagnostic> diagnostics_;
  std::size_t error_count_ = 0;
  std::size_t other_count_ = 0;
};

}  // namespace curfew::diagnostics
