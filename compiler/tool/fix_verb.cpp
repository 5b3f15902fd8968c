#include "compiler/base/text.h"
#include "compiler/source/load.h"
#include "compiler/tool/asked_request.h"
#include "compiler/tool/color_option.h"
#include "compiler/tool/fix_set.h"
#include "compiler/tool/line_diff.h"
#include "compiler/tool/replace_file.h"
#include "compiler/tool/verbs.h"

#include <algorithm>
#include <charconv>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::tool {
namespace {

class FixVerb : public Verb {
 public:
  [[nodiscard]] std::string_view name() const override { return "fix"; }
  [[nodiscard]] std::string_view summary() const override {
    return "make the changes that check and lint offer";
  }
  [[nodiscard]] std::string_view example() const override {
    return "What was changed is printed, one change a line; what a misspelt name was taken for is "
           "a "
           "guess,\nso read it. Comments and layout stay. A file that a given file names is never "
           "changed: name it\nas well.\n"
           "exit status: 0 done, 2 with --dry-run when a file would change, 3 errors are left, 1 "
           "could not run\n\n"
           "example:\n  curfew fix policies/ --dry-run\n  curfew fix policies/ --code CUR9510";
  }
  void Configure(CLI::App& app) override {
    app.add_option("POLICY", paths_, "files and folders of the set")->required();
    app.add_flag("--dry-run", dry_run_, "change nothing; print what would change");
    app.add_option("--code", codes_, "only what mends this code; may be given again");
    color_.Configure(app);
    app.add_option("--now", now_, "the time to judge for, as in 2026-11-29T00:00:00Z");
    app.add_flag("--allow-empty", allow_empty_, "folders without policies are fine");
  }
  int Run(Console& console) override {
    color_.Apply(console);
    const auto status = Fix(console);
    if (status) return *status;
    console.Complain(status.error().message);
    return ExitStatusOf(status.error().code);
  }

 private:
  Result<int> Fix(Console& console) const {
    if (!dry_run_ && std::find(paths_.begin(), paths_.end(), "-") != paths_.end()) {
      return Failure(FailureCode::Usage,
                     "standard input has no place to write to; `--dry-run` prints the changes");
    }
    FixOptions options;
    CURFEW_TRY(options.now_ms, TimeOf(now_));
    for (const std::string& code : codes_) {
      CURFEW_TRY(const std::uint16_t number, ReadCode(code));
      options.codes.push_back(number);
    }
    CURFEW_TRY(const source::SourceMap sources,
               source::LoadSources(
                   paths_, allow_empty_ ? source::Nothing::Fine : source::Nothing::Refused));
    CURFEW_TRY(const FixedSet fixed, FixSet(sources, options));
    bool changes = false;
    for (source::FileId file = 0; file < sources.size(); ++file) {
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
      for (const std::string& change : fixed.done) console.Out(change + "\n");
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
  ColorOption color_;
  std::string now_;
  bool allow_empty_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeFixVerb() { return std::make_unique<FixVerb>(); }

}  // namespace curfew::tool
