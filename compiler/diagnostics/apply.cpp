#include "compiler/diagnostics/apply.h"

#include "compiler/base/check.h"

#include <algorithm>
#include <set>

namespace curfew::diagnostics {
namespace {

// The places of changes that were chosen; they neither overlap nor touch.
class Places {
 public:
  [[nodiscard]] bool IsFree(source::Span span) const {
    const auto behind = places_.lower_bound({span.file, span.begin, 0});
    if (behind != places_.end() && behind->file == span.file && behind->begin <= span.end) {
      return false;
    }
    if (behind == places_.begin()) return true;
    const source::Span before = *std::prev(behind);
    return before.file != span.file || before.end < span.begin;
  }
  void Take(source::Span span) { places_.insert(span); }

 private:
  std::set<source::Span> places_;
};

// Two changes of one diagnostic may not meet either.
bool AreApart(std::span<const Fix> fixes) {
  Places own;
  return std::all_of(fixes.begin(), fixes.end(), [&own](const Fix& fix) {
    const bool is_free = own.IsFree(fix.span);
    own.Take(fix.span);
    return is_free;
  });
}

}  // namespace

std::vector<std::size_t> ChooseFixes(std::span<const Diagnostic> diagnostics,
                                     source::FileId files_end) {
  std::vector<std::size_t> chosen;
  Places taken;
  for (std::size_t i = 0; i < diagnostics.size(); ++i) {
    const std::vector<Fix>& fixes = diagnostics[i].fixes;
    const bool is_possible =
        !fixes.empty() && AreApart(fixes) &&
        std::all_of(fixes.begin(), fixes.end(), [&taken, files_end](const Fix& fix) {
          return fix.span.file < files_end && taken.IsFree(fix.span);
        });
    if (!is_possible) continue;
    for (const Fix& fix : fixes) taken.Take(fix.span);
    chosen.push_back(i);
  }
  return chosen;
}

std::string WithFixes(std::string_view text, source::FileId file,
                      std::span<const Diagnostic> diagnostics,
                      std::span<const std::size_t> chosen) {
  std::vector<const Fix*> fixes;
  for (const std::size_t index : chosen) {
    for (const Fix& fix : diagnostics[index].fixes) {
      if (fix.span.file == file) fixes.push_back(&fix);
    }
  }
  std::sort(fixes.begin(), fixes.end(),
            [](const Fix* a, const Fix* b) { return a->span < b->span; });
  std::string result;
  std::size_t at = 0;
  for (const Fix* fix : fixes) {
    CURFEW_CHECK(at <= fix->span.begin && fix->span.end <= text.size(),
                 "chosen fixes lie apart and within the text");
    result += text.substr(at, fix->span.begin - at);
    result += fix->replacement;
    at = fix->span.end;
  }
  result += text.substr(at);
  return result;
}

}  // namespace curfew::diagnostics
