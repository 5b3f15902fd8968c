#include "compiler/lint/rule.h"

#include "compiler/base/check.h"

namespace curfew::lint {

std::string_view NameOf(Category category) {
  switch (category) {
    case Category::Lifecycle:
      return "lifecycle";
    case Category::Reach:
      return "reach";
    case Category::Identity:
      return "identity";
    case Category::Correctness:
      return "correctness";
    case Category::Clarity:
      return "clarity";
  }
  CURFEW_UNREACHABLE("the switch names every category");
}

std::optional<Category> CategoryOf(std::string_view name) {
  for (const Category category : {Category::Lifecycle, Category::Reach, Category::Identity,
                                  Category::Correctness, Category::Clarity}) {
    if (NameOf(category) == name) return category;
  }
  return std::nullopt;
}

std::array<std::span<const Rule>, 5> Rules() {
  return {LifecycleRules(), ReachRules(), IdentityRules(), CorrectnessRules(), ClarityRules()};
}

const Rule* FindRule(std::uint16_t code) {
  for (const auto rules : Rules()) {
    for (const Rule& rule : rules) {
      if (rule.code == code) return &rule;
    }
  }
  return nullptr;
}

source::Span RemovalOf(const source::SourceMap& sources, source::Span span) {
  const std::string_view text = sources.text(span.file);
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  std::uint32_t begin = span.begin;
  while (begin > 0 && is_blank(text[begin - 1])) --begin;
  std::uint32_t end = span.end;
  while (end < text.size() && (is_blank(text[end]) || text[end] == '\r')) ++end;
  const bool starts_line = begin == 0 || text[begin - 1] == '\n';
  const bool ends_line = end == text.size() || text[end] == '\n';
  if (starts_line && ends_line) {
    return {span.file, begin, end == text.size() ? end : end + 1};
  }
  return starts_line ? source::Span{span.file, span.begin, end}
                     : source::Span{span.file, begin, span.end};
}

void OfferFix(diagnostics::Draft draft, const source::SourceMap& sources, source::Span span,
              std::string replacement) {
  if (sources.text(span).find('#') != std::string_view::npos) return;
  draft.Fix(span, std::move(replacement));
}

}  // namespace curfew::lint
