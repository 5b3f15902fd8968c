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
      // A proof that is not made, or not within its budget, finds nothing.
      if (rule != nullptr && rule->find == nullptr) continue;
      sink.Report(suppression.comment, diag::SuppressionUnused,
                  diagnostics::CodeName(suppression.code))
          .Fix(RemovalOf(sources, suppression.comment), "");
    }
  }

 private:
  std::vector<Suppression> found_;
};

bool IsProof(const diagnostics::Diagnostic& finding) {
  const Rule* rule = FindRule(finding.code);
  return rule != nullptr && rule->find == nullptr;
}

// Whether one of the findings says of the same rule why it changes nothing.
bool IsSaid(const diagnostics::Sink& found, const diagnostics::Diagnostic& proof) {
  constexpr std::uint16_t kSaying[] = {
      diag::NeverHolds.code,    diag::ShadowedAllow.code, diag::ShadowedDeny.code,
      diag::DeniedAllow.code,   diag::DenyOfNothing.code, diag::RuleOfNoGrant.code,
      diag::BarredAlready.code, diag::RepeatedRule.code,  diag::PastDate.code};
  return std::ranges::any_of(found.diagnostics(), [&](const diagnostics::Diagnostic& finding) {
    return finding.span.file == proof.span.file && finding.span.begin >= proof.span.begin &&
           finding.span.end <= proof.span.end &&
           std::ranges::find(kSaying, finding.code) != std::end(kSaying);
  });
}

}  // namespace

void Lint(std::span<const syntax::Ast> files, const source::SourceMap& sources,
          const model::PolicyModel* model, const Options& options, diagnostics::Sink& sink) {
  const PolicyTree tree = ReadTrees(files);
  const Subject subject{tree, sources, model, options.code, options.now_ms, options.first_part};
  diagnostics::Sink found(FindingsMax);
  for (const diagnostics::Diagnostic& warning : options.warnings) {
    if (!IsProof(warning)) found.Keep(warning);
  }
  for (const auto rules : Rules()) {
    for (const Rule& rule : rules) {
      const bool is_wanted = !options.category || rule.category == *options.category;
      if (is_wanted && rule.find != nullptr) rule.find(subject, found);
    }
  }
  for (const diagnostics::Diagnostic& warning : options.warnings) {
    if (IsProof(warning) && !IsSaid(found, warning)) found.Keep(warning);
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
