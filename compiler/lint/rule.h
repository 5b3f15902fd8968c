// What a lint rule is, and what it looks at. A category is one file with a table of its rules at
// the end; its mistakes have codes in compiler/diagnostics/registry.def like all others. To add a
// rule: README.md.
#pragma once

#include "compiler/diagnostics/sink.h"
#include "compiler/lint/policy_tree.h"
#include "compiler/model/policy_model.h"
#include "compiler/module/tables.h"
#include "compiler/source/source.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace curfew::lint {

enum class Category : std::uint8_t { Lifecycle, Reach, Identity, Correctness, Clarity };
std::string_view NameOf(Category category);
std::optional<Category> CategoryOf(std::string_view name);

// A policy set without errors, and the time for which it is judged.
struct Subject {
  const PolicyTree& tree;
  const source::SourceMap& sources;
  // Null for a set that the checker refuses: rules that read types then find nothing.
  const model::PolicyModel* model = nullptr;
  const module::Tables* code = nullptr;  // lint::Options
  std::int64_t now_ms = 0;
  source::FileId first_part = source::Span::Nowhere;  // lint::Options
};

struct Rule {
  std::uint16_t code;
  Category category;
  std::string_view summary;  // what it finds, without a full stop
  // Null where a proof finds it: it comes to Lint as a warning (prove/check_uses.h).
  void (*find)(const Subject& subject, diagnostics::Sink& sink);
};

// Ascending by code.
std::span<const Rule> LifecycleRules();
std::span<const Rule> ReachRules();
std::span<const Rule> IdentityRules();
std::span<const Rule> CorrectnessRules();
std::span<const Rule> ClarityRules();

// Of every category.
std::array<std::span<const Rule>, 5> Rules();
const Rule* FindRule(std::uint16_t code);

// Why, bad, good, how to fix: pages/CURnnnn.md as it stands in the repository. Empty for a code
// that is no rule's.
std::string_view PageOf(std::uint16_t code);

// What a fix removes with `span` so that no empty line stays: the whole line where nothing else
// stands on it, otherwise the span and the blanks beside it.
source::Span RemovalOf(const source::SourceMap& sources, source::Span span);

// A change that a tool may make in the place of `span`, unless a comment in it would go with it (a
// `#` in a string is taken for one).
void OfferFix(diagnostics::Draft draft, const source::SourceMap& sources, source::Span span,
              std::string replacement);

}  // namespace curfew::lint
