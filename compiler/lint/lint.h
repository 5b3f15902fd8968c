// Findings on a policy set without errors: what it may say, and its author may not have meant. A
// finding changes no decision. What a rule is, is rule.h's matter; how one is silenced,
// suppression.h's.
#pragma once

#include "compiler/diagnostics/sink.h"
#include "compiler/lint/rule.h"

#include <cstdint>
#include <optional>
#include <span>

namespace curfew::lint {

struct Options {
  std::int64_t now_ms = 0;           // for which suppressions and dates in conditions are judged
  std::optional<Category> category;  // only this one
  // Files from this one on are parts: nobody gave them, and `use` brought them in.
  source::FileId first_part = source::Span::Nowhere;
  // What the checker warned of, and what was proven of rules: findings like others, that can be
  // suppressed. Of one rule a proof says nothing that a comparison has said already.
  std::span<const diagnostics::Diagnostic> warnings;
  // What the set was lowered to; without it nothing is said of what its rules cost.
  const module::Tables* code = nullptr;
};

// `files` are the trees of a set that parses, `model` what the checker made of it, or null where it
// refused the set. Findings that are suppressed are not in the sink, and what is wrong with
// suppressions is. Linear in the set but for a bounded number of comparisons for each rule.
void Lint(std::span<const syntax::Ast> files, const source::SourceMap& sources,
          const model::PolicyModel* model, const Options& options, diagnostics::Sink& sink);

// More findings are counted only.
inline constexpr std::size_t FindingsMax = 10'000;

}  // namespace curfew::lint
