#include "compiler/lint/lint.h"

#include "compiler/lint/suppression.h"

#include <algorithm>

namespace curfew::lint {
namespace {

class Suppressions {
 public:
  explicit Suppressions(std::vector<Suppression> found) : found_(std::move(found)) {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Suppression& a, const Suppression& b) { return a.line < b.line; });
  }

  bool Cover(const diagnostics::Diagnostic& finding) {
    // The first line that begins behind the finding; lines do not overlap.
    auto behind =
        std::upper_bound(found_.begin(), found_.end(), finding.span,
                         [](source::Span span, const Suppression& suppression) {
                           return std::pair(span.file, span.begin) <
                                  std::pair(suppression.line.file, suppression.line.begin);
                         });
    bool covered = false;
    while (behind != found_.begin()) {
      Suppression& suppression = *--behind;
      if (suppression.line.file != finding.span.file || suppression.line.end < finding.span.begin) {
        break;
      }
      if (suppression.code != finding.code) continue;
      suppression.used = true;
      covered = true;
    }
    return covered;
  }

  // Of rules that were looked for.
  void ReportUnused(const source::SourceMap& sources, const Options& options,
                    diagnostics::Sink& sink) const {
    for (const Suppression& suppression : found_) {
      if (suppression.used) continue;
      const Rule* rule = FindRule(suppression.code);
      if (rule != nullptr && options.category && rule->category != *options.category) continue;
      sink.Report(suppression.comment, diag::SuppressionUnused,
                  diagnostics::CodeName(suppression.code))
          .Fix(RemovalOf(sources, suppression.comment), "");
    }
  }

 private:
  std::vector<Suppression> found_;
};

}  // namespace

void Lint(std::span<const syntax::Ast> files, const source::SourceMap& sources,
          const model::PolicyModel* model, const Options& options, diagnostics::Sink& sink) {
  const PolicyTree tree = ReadTrees(files);
  const Subject subject{tree, sources, model, options.now_ms, options.first_part};
  diagnostics::Sink found(FindingsMax);
  for (const diagnostics::Diagnostic& warning : options.warnings) found.Keep(warning);
  for (const auto rules : Rules()) {
    for (const Rule& rule : rules) {
      if (!options.category || rule.category == *options.category) rule.find(subject, found);
    }
  }
  std::vector<Suppression> all;
  for (const syntax::Ast& file : files) {
    auto of_file = FindSuppressions(sources, file.file, options.now_ms, sink);
    std::move(of_file.begin(), of_file.end(), std::back_inserter(all));
  }
  Suppressions suppressions(std::move(all));
  const bool are_too_many = found.other_count() > FindingsMax;
  // First, while there is room in the sink; it is about the whole set, and so it is shown last.
  if (are_too_many) {
    sink.Report({}, diag::TooManyFindings, static_cast<std::int64_t>(FindingsMax));
  }
  for (diagnostics::Diagnostic& finding : found.Sorted()) {
    if (!suppressions.Cover(finding)) sink.Keep(std::move(finding));
  }
  if (!are_too_many) suppressions.ReportUnused(sources, options, sink);
}

}  // namespace curfew::lint
