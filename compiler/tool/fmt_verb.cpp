#include "compiler/diagnostics/render.h"
#include "compiler/source/load.h"
#include "compiler/syntax/format.h"
#include "compiler/syntax/parse.h"
#include "compiler/tool/color_option.h"
#include "compiler/tool/line_diff.h"
#include "compiler/tool/replace_file.h"
#include "compiler/tool/verbs.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::tool {
namespace {

class FmtVerb : public Verb {
 public:
  [[nodiscard]] std::string_view name() const override { return "fmt"; }
  [[nodiscard]] std::string_view summary() const override {
    return "bring policies into the one layout";
  }
  [[nodiscard]] std::string_view example() const override {
    return "Without a flag the result is printed. A file with errors is never written.\n"
           "exit status: 0 done, 2 with --check when a file would change, 3 a file has errors, "
           "1 could not run\n\n"
           "example:\n  curfew fmt -w policies/\n  curfew fmt --check -d policies/";
  }
  void Configure(CLI::App& app) override {
    app.add_option("POLICY", paths_, "files and folders; - is standard input")->required();
    app.add_flag("-w,--write", write_, "write the result back to the file");
    app.add_flag("-l,--list", list_, "print the names of files that would change");
    app.add_flag("-d,--diff", diff_, "print what would change");
    app.add_flag("--check", check_, "change nothing; status 2 and a name for each that would");
    color_.Configure(app);
    app.add_flag("--allow-empty", allow_empty_, "folders without policies are fine");
  }
  int Run(Console& console) override {
    color_.Apply(console);
    if (write_ && (check_ || std::find(paths_.begin(), paths_.end(), "-") != paths_.end())) {
      console.Complain(check_ ? "--write and --check exclude each other"
                              : "--write needs files; standard input has no place to write to");
      return exit_status::CouldNotRun;
    }
    const auto sources = source::LoadSources(
        paths_, allow_empty_ ? source::Nothing::Fine : source::Nothing::Refused);
    if (!sources) {
      console.Complain(sources.error().message);
      return ExitStatusOf(sources.error().code);
    }
    diagnostics::Sink of_set;
    if (!syntax::IsWithinLimits(*sources, of_set)) return Show(of_set, *sources, console);
    int status = exit_status::Fine;
    for (source::FileId file = 0; file < sources->size(); ++file) {
      status = Worse(status, FormatOne(*sources, file, console));
    }
    return status;
  }

 private:
  static int Worse(int a, int b) {
    constexpr std::array kWorstFirst = {exit_status::CouldNotRun, exit_status::InvalidPolicy,
                                        exit_status::No, exit_status::Fine};
    return *std::find_if(kWorstFirst.begin(), kWorstFirst.end(),
                         [a, b](int status) { return status == a || status == b; });
  }

  static int Show(const diagnostics::Sink& mistakes, const source::SourceMap& sources,
                  Console& console) {
    console.Err(RenderText(
        mistakes, sources,
        console.colour_diagnostics() ? diagnostics::Color::Always : diagnostics::Color::Never));
    return exit_status::InvalidPolicy;
  }

  int FormatOne(const source::SourceMap& sources, source::FileId file, Console& console) const {
    diagnostics::Sink sink;
    const syntax::TokenList tokens = syntax::Lex(sources, file, sink);
    const syntax::Ast tree = syntax::Parse(tokens, sink);
    if (sink.has_errors()) return Show(sink, sources, console);
    const std::string_view before = sources.text(file);
    const std::string after = syntax::Format(tokens, tree);
    const std::string name(sources.name(file));
    const bool changes = before != after;

    if (!write_ && !list_ && !diff_ && !check_) console.Out(after);
    if (changes && (list_ || (check_ && !diff_))) console.Out(name + "\n");
    if (changes && diff_) console.Out(UnifiedDiff(name, before, after));
    if (changes && write_) {
      if (const Outcome written = ReplaceFile(name, before, after); !written) {
        console.Complain(written.error().message);
        return exit_status::CouldNotRun;
      }
    }
    return changes && check_ ? exit_status::No : exit_status::Fine;
  }

  std::vector<std::string> paths_;
  ColorOption color_;
  bool write_ = false;
  bool list_ = false;
  bool diff_ = false;
  bool check_ = false;
  bool allow_empty_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeFmtVerb() { return std::make_unique<FmtVerb>(); }

}  // namespace curfew::tool
