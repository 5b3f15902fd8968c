#include "compiler/base/text.h"
#include "compiler/source/load.h"
#include "compiler/tool/asked_request.h"
#include "compiler/tool/fix_set.h"
#include "compiler/tool/line_diff.h"
#include "compiler/tool/replace_file.h"
#include "compiler/tool/result_verb.h"
#include "compiler/tool/root_option.h"
#include "compiler/tool/verbs.h"

#include <algorithm>
#include <charconv>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::tool {
namespace {

class FixVerb : public ResultVerb {
 public:
  [[nodiscard]] std::string_view name() const override { return "fix"; }
  [[nodiscard]] std::string_view summary() const override {
    return "make the changes that check and lint offer";
  }
  [[nodiscard]] std::string_view example() const override {
    return "What was changed is printed, one change a line; what a misspelt name was taken for is "
           "a guess,\nso read it. No guess is made on top of another: what one uncovers is said, "
           "and left to the\nnext run. Comments and layout stay. With `-` the mended text is "
           "printed, and what was changed\ngoes to standard error. A file that a given file names "
           "is never changed: name it as well.\n"
           "exit status: 0 done, 2 with --dry-run when a file would change, 3 errors are left, 1 "
           "could not run\n\n"
           "example:\n  curfew fix policies/ --dry-run\n  curfew fix policies/ --code CUR9510";
  }

 private:
  void ConfigureRest(CLI::App& app) override {
    app.add_option("POLICY", paths_, "files and folders of the set; - is standard input")
        ->required();
    app.add_flag("--dry-run", dry_run_, "change nothing; print what would change");
    app.add_option("--code", codes_, "only what mends this code; may be given again");
    root_.Configure(app);
    app.add_option("--now", now_, "the time to judge for, as in 2026-11-29T00:00:00Z");
    app.add_flag("--allow-empty", allow_empty_, "folders without policies are fine");
  }
  Result<int> TryRun(Console& console) override {
    FixOptions options;
    options.root = root_.folder();
    CURFEW_TRY(options.now_ms, TimeOf(now_));
    for (const std::string& code : codes_) {
      CURFEW_TRY(const std::uint16_t number, ReadCode(code));
      options.codes.push_back(number);
    }
    CURFEW_TRY(const source::SourceMap sources,
               source::LoadSources(
                   paths_, allow_empty_ ? source::Nothing::Fine : source::Nothing::Refused));
    CURFEW_TRY(const FixedSet fixed, FixSet(sources, options));
    // Standard input is the first of a set; its text goes on to standard output.
    const bool has_input = std::find(paths_.begin(), paths_.end(), "-") != paths_.end();
    if (has_input && !dry_run_) console.Out(fixed.texts.front());
    bool changes = false;
    for (source::FileId file = has_input && !dry_run_ ? 1 : 0; file < sources.size(); ++file) {
      if (fixed.texts[file] == sources.text(file)) continue;
      changes = true;
      const std::string name(sources.name(file));
      if (dry_run_) {
        console.Out(UnifiedDiff(name, sources.text(file), fixed.texts[file]));
      } else {
        CURFEW_TRY_VOID(ReplaceFile(name, sources.text(file), fixed.texts[file]));
      }
    }
    if (!dry_run_) {
      for (const std::string& change : fixed.done) {
        if (has_input) {
          console.Err(change + "\n");
        } else {
          console.Out(change + "\n");
        }
      }
    }
    const int left = PrintDiagnostics(fixed.made, console);
    if (left != exit_status::Fine) return left;
    return dry_run_ && changes ? exit_status::No : exit_status::Fine;
  }

  static Result<std::uint16_t> ReadCode(std::string_view text) {
    std::string_view digits = text;
    if (digits.starts_with("CUR")) digits.remove_prefix(3);
    std::uint16_t code = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code);
    const bool is_number = error == std::errc() && end == digits.data() + digits.size();
    if (!is_number || diagnostics::FindEntry(code) == nullptr) {
      return Failure(FailureCode::Usage, fmt::format("--code: `{}` is no code; they look like "
                                                     "CUR9510",
                                                     Printable(text, 60)));
    }
    return code;
  }

  std::vector<std::string> paths_;
  bool dry_run_ = false;
  std::vector<std::string> codes_;
  RootOption root_;
  std::string now_;
  bool allow_empty_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeFixVerb() { return std::make_unique<FixVerb>(); }

}  // namespace curfew::tool
