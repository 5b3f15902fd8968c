#include "compiler/diagnostics/apply.h"

#include <catch2/catch.hpp>

namespace curfew::diagnostics {
namespace {

Diagnostic Of(std::vector<Fix> fixes) {
  Diagnostic diagnostic;
  diagnostic.fixes = std::move(fixes);
  return diagnostic;
}

TEST_CASE("fixes that overlap or touch are not made together, and the first of them is") {
  const std::string_view text = "abcdefgh";
  const std::vector<Diagnostic> all = {
      Of({{{0, 0, 2}, "X"}}),                     // ab
      Of({{{0, 1, 3}, "Y"}}),                     // overlaps it
      Of({{{0, 2, 2}, "Z"}}),                     // touches it
      Of({{{0, 4, 4}, "+"}, {{0, 6, 8}, ""}}),    // two changes that belong together
      Of({{{0, 5, 5}, "-"}, {{0, 7, 7}, "no"}}),  // one of them meets another
      Of({}),
      Of({{{1, 0, 1}, "other file"}}),
  };
  const auto chosen = ChooseFixes(all, 1);
  CHECK(chosen == std::vector<std::size_t>{0, 3});
  CHECK(WithFixes(text, 0, all, chosen) == "Xcd+ef");
  CHECK(ChooseFixes(all, 2) == std::vector<std::size_t>{0, 3, 6});
}

TEST_CASE("a diagnostic whose own changes meet is left alone, and one of nowhere too") {
  const std::vector<Diagnostic> all = {Of({{{0, 0, 3}, "a"}, {{0, 2, 4}, "b"}}),
                                       Of({{source::Span{}, "c"}})};
  CHECK(ChooseFixes(all, 1).empty());
  CHECK(WithFixes("text", 0, all, {}) == "text");
}

}  // namespace
}  // namespace curfew::diagnostics
