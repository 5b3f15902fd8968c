#include "compiler/tool/fix_set.h"

#include "compiler/diagnostics/apply.h"
#include "compiler/diagnostics/help.h"
#include "compiler/lint/lint.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::tool {
namespace {

using diagnostics::Diagnostic;

// What such a diagnostic's fix writes is what the author most likely meant, and no more.
bool IsGuess(std::uint16_t code) {
  constexpr std::uint16_t kGuesses[] = {diag::MisspeltWord.code,     diag::UnknownName.code,
                                        diag::UnknownAttribute.code, diag::UnknownRuleId.code,
                                        diag::WrongSubject.code,     diag::TypeMismatch.code,
                                        diag::UnknownType.code};
  return std::find(std::begin(kGuesses), std::end(kGuesses), code) != std::end(kGuesses);
}

class Fixer {
 public:
  Fixer(const source::SourceMap& sources, const FixOptions& options)
      : named_(sources), options_(options) {}

  Result<FixedSet> Run() {
    FixedSet fixed;
    for (source::FileId file = 0; file < named_.size(); ++file) {
      fixed.texts.emplace_back(named_.text(file));
    }
    CURFEW_TRY(fixed.made, Compile(fixed.texts));
    while (compilations_ < FixCompilationsMax) {
      const std::vector<Diagnostic> wanted = WantedOf(fixed.made);
      const auto chosen = diagnostics::ChooseFixes(wanted, FilesEnd());
      if (chosen.empty()) break;
      CURFEW_TRY(bool done, Try(fixed, wanted, chosen));
      for (std::size_t i = 0; !done && chosen.size() > 1 && i < chosen.size(); ++i) {
        if (compilations_ >= FixCompilationsMax) break;
        CURFEW_TRY(done, Try(fixed, wanted, std::span(chosen).subspan(i, 1)));
      }
      if (!done) break;
    }
    return fixed;
  }

 private:
  [[nodiscard]] source::FileId FilesEnd() const {
    return static_cast<source::FileId>(named_.size());
  }

  Result<Compilation> Compile(const std::vector<std::string>& texts) {
    ++compilations_;
    source::SourceMap sources = source::SourceMap::OfExcess(named_.excess());
    for (source::FileId file = 0; file < FilesEnd(); ++file) {
      sources.Add({std::string(named_.name(file)), texts[file], named_.is_too_large(file)});
    }
    return CompileTexts(std::move(sources), {.root = options_.root});
  }

  // Whether the set with these fixes is taken.
  Result<bool> Try(FixedSet& fixed, const std::vector<Diagnostic>& wanted,
                   std::span<const std::size_t> chosen) {
    std::vector<std::string> texts;
    for (source::FileId file = 0; file < FilesEnd(); ++file) {
      texts.push_back(diagnostics::WithFixes(fixed.texts[file], file, wanted, chosen));
    }
    if (texts == fixed.texts) return false;
    CURFEW_TRY(Compilation made, Compile(texts));
    if (IsWorse(made, fixed.made)) return false;
    for (const std::size_t index : chosen) {
      has_guessed_ = has_guessed_ || IsGuess(wanted[index].code);
      for (const diagnostics::Fix& fix : wanted[index].fixes) {
        fixed.done.push_back(fmt::format("{}: {} [{}]", fixed.made.sources.Describe(fix.span),
                                         HelpOf(fix, fixed.made.sources),
                                         diagnostics::CodeName(wanted[index].code)));
      }
    }
    fixed.texts = std::move(texts);
    fixed.made = std::move(made);
    return true;
  }

  static bool IsWorse(const Compilation& after, const Compilation& before) {
    if (after.is_valid() != before.is_valid()) return before.is_valid();
    if (after.parses != before.parses) return before.parses;
    // A mistake of syntax hides others behind it; they are no new ones.
    return after.parses && after.diagnostics.error_count() > before.diagnostics.error_count();
  }

  [[nodiscard]] std::vector<Diagnostic> WantedOf(const Compilation& made) const {
    std::vector<Diagnostic> all = made.diagnostics.Sorted();
    if (made.is_valid()) {
      diagnostics::Sink found(lint::FindingsMax);
      lint::Lint(made.files, made.sources, &*made.model,
                 {.now_ms = options_.now_ms,
                  .category = {},
                  .first_part = made.first_named,
                  .warnings = made.diagnostics.diagnostics()},
                 found);
      all = found.Sorted();
    }
    const std::vector<std::uint16_t>& codes = options_.codes;
    std::erase_if(all, [&](const Diagnostic& one) {
      if (has_guessed_ && IsGuess(one.code)) return true;
      return !codes.empty() && std::find(codes.begin(), codes.end(), one.code) == codes.end();
    });
    return all;
  }

  const source::SourceMap& named_;
  const FixOptions& options_;
  int compilations_ = 0;
  bool has_guessed_ = false;
};

}  // namespace

Result<FixedSet> FixSet(const source::SourceMap& sources, const FixOptions& options) {
  return Fixer(sources, options).Run();
}

}  // namespace curfew::tool
