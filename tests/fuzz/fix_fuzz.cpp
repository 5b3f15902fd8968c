// Findings are looked for in whatever parses, and what their fixes make of a set without errors is
// a set without errors, in a few rounds.
#include "compiler/base/check.h"
#include "compiler/check/check.h"
#include "compiler/diagnostics/apply.h"
#include "compiler/lint/lint.h"
#include "compiler/lint/suppression.h"
#include "compiler/syntax/parse.h"

#include <optional>

namespace curfew {
namespace {

constexpr std::int64_t kNowMs = 1'796'000'000'000;
constexpr int kRoundsMax = 8;

// The text with the fixes of its findings; nothing where the compiler refuses it.
std::optional<std::string> Mended(const std::string& text) {
  source::SourceMap sources;
  sources.Add({"input", text});
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  if (sink.has_errors()) return std::nullopt;
  const model::PolicyModel model = check::Check(trees, sources, sink);
  const bool is_whole = !sink.has_errors();
  diagnostics::Sink findings(lint::FindingsMax);
  lint::Lint(trees, sources, is_whole ? &model : nullptr,
             {.now_ms = kNowMs, .category = {}, .warnings = {}}, findings);
  if (!is_whole) return std::nullopt;
  const auto sorted = findings.Sorted();
  return diagnostics::WithFixes(text, 0, sorted, diagnostics::ChooseFixes(sorted, 1));
}

}  // namespace
}  // namespace curfew

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace curfew;
  std::string text(reinterpret_cast<const char*>(data), size);
  const auto read = lint::ReadSuppression(text);
  CURFEW_CHECK(!read || read->suppression.has_value() == read->wrong.empty(),
               "a suppression is read, or something is wrong with it");
  std::optional<std::string> mended = Mended(text);
  for (int round = 0; mended && *mended != text; ++round) {
    CURFEW_CHECK(round < kRoundsMax, "fixes come to an end");
    text = *std::move(mended);
    mended = Mended(text);
    CURFEW_CHECK(mended.has_value(), "a fix leaves a set without errors as one");
  }
  return 0;
}
