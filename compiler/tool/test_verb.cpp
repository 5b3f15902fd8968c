#include "compiler/interpret/interpreter.h"
#include "compiler/testing/report.h"
#include "compiler/tool/color_option.h"
#include "compiler/tool/compile_set.h"
#include "compiler/tool/file_watch.h"
#include "compiler/tool/reloads.h"
#include "compiler/tool/root_option.h"
#include "compiler/tool/verbs.h"

#include <algorithm>
#include <optional>
#include <regex.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::tool {
namespace {

// A POSIX extended expression: libc's matcher needs no stack that grows with the name.
class NamePattern {
 public:
  static Result<NamePattern> Make(const std::string& pattern) {
    NamePattern made;
    const int error = regcomp(made.compiled_.get(), pattern.c_str(), REG_EXTENDED | REG_NOSUB);
    if (error == 0) {
      made.owns_ = true;
      return made;
    }
    char text[200];
    regerror(error, made.compiled_.get(), text, sizeof text);
    return Failure(FailureCode::Usage, fmt::format("--run: not a regular expression: {}", text));
  }
  NamePattern(NamePattern&& other) noexcept
      : compiled_(std::move(other.compiled_)), owns_(std::exchange(other.owns_, false)) {}
  NamePattern& operator=(NamePattern&&) = delete;
  ~NamePattern() {
    if (owns_) regfree(compiled_.get());
  }
  [[nodiscard]] bool Meets(std::string_view name) const {
    return regexec(compiled_.get(), std::string(name).c_str(), 0, nullptr, 0) == 0;
  }

 private:
  NamePattern() : compiled_(std::make_unique<regex_t>()) {}
  std::unique_ptr<regex_t> compiled_;
  bool owns_ = false;
};

class TestVerb : public Verb {
 public:
  [[nodiscard]] std::string_view name() const override { return "test"; }
  [[nodiscard]] std::string_view summary() const override {
    return "run the tests that a policy set carries";
  }
  [[nodiscard]] std::string_view example() const override {
    return "exit status: 0 all passed, 2 some failed or coverage is below the threshold, 3 the "
           "policy is\ninvalid, 1 could not run (also: no test found, unless --allow-empty); with "
           "--watch 0 "
           "when it is interrupted\n\n"
           "example:\n  curfew test policies/ -r 'first boot' --coverage";
  }
  void Configure(CLI::App& app) override {
    app.add_option("POLICY", paths_, "files and folders of the set")->required();
    app.add_option("-r,--run", pattern_, "only tests whose name the regular expression meets");
    app.add_flag("-v,--verbose", text_.verbose, "show every test and question");
    app.add_option("--format", format_, "text, json or junit")
        ->check(CLI::IsMember({"text", "json", "junit"}));
    root_.Configure(app);
    color_.Configure(app);
    app.add_flag("--coverage", text_.coverage,
                 "name the rules that no question met, and clauses not seen to hold and to fail");
    app.add_option("--threshold", threshold_, "percent of the rules that must be met")
        ->check(CLI::Range(0.0, 100.0));
    app.add_option("--clause-threshold", clause_threshold_,
                   "percent of the clauses that must be met both ways")
        ->check(CLI::Range(0.0, 100.0));
    app.add_flag("--watch", watch_, "run again whenever a file of the set changes, until Ctrl-C");
    app.add_flag("--allow-empty", allow_empty_, "no test is fine");
  }
  int Run(Console& console) override {
    color_.Apply(console);
    const auto wanted = NamePattern::Make(pattern_);
    if (!wanted) {
      console.Complain(wanted.error().message);
      return exit_status::CouldNotRun;
    }
    if (!watch_) return RunOnce(*wanted, console, nullptr);
    const auto status = Watch(*wanted, console);
    if (status) return *status;
    console.Complain(status.error().message);
    return ExitStatusOf(status.error().code);
  }

 private:
  Result<int> Watch(const NamePattern& wanted, Console& console) {
    if (std::find(paths_.begin(), paths_.end(), "-") != paths_.end()) {
      return Failure(FailureCode::Usage, "--watch needs files; standard input does not change");
    }
    CURFEW_TRY(FileWatch changes, FileWatch::Make());
    while (!console.reader_gone()) {
      CURFEW_TRY_VOID(changes.Add(paths_));
      std::vector<std::string> files;
      RunOnce(wanted, console, &files);
      CURFEW_TRY_VOID(changes.Add(files));
      console.Flush();
      CURFEW_TRY(const FileWatch::Event event, changes.Wait());
      if (event == FileWatch::Event::Interrupted) break;
    }
    return exit_status::Fine;
  }

  // `files`, if it is there, gets the name of each file of the set, also of those that others name.
  int RunOnce(const NamePattern& wanted, Console& console, std::vector<std::string>* files) {
    const auto made = CompileSet(
        paths_, {.root = root_.folder(),
                 .nothing = allow_empty_ ? source::Nothing::Fine : source::Nothing::Refused});
    if (!made) {
      console.Complain(made.error().message);
      return ExitStatusOf(made.error().code);
    }
    for (source::FileId file = 0; files != nullptr && file < made->sources.size(); ++file) {
      files->emplace_back(made->sources.name(file));
    }
    if (const int status = PrintDiagnostics(*made, console); status != 0) return status;
    if (made->module.empty()) return Print({}, made->sources, console);
    auto policy = module::PolicyModule::Load(made->module, 0);
    if (!policy) {
      console.Complain(policy.error().In("internal fault: the compiled set").message);
      return exit_status::CouldNotRun;
    }
    const auto reloaded = ReloadedSets::Load(*made->model, made->sources, root_.folder(), console);
    if (!reloaded) {
      console.Complain(reloaded.error().message);
      return ExitStatusOf(reloaded.error().code);
    }
    const interpret::Interpreter engine(*std::move(policy));
    const testing::Report report = testing::RunTests(
        *made->model, made->sources, engine, made->written,
        [&wanted](std::string_view name) { return wanted.Meets(name); }, reloaded->reloads());
    return Print(report, made->sources, console);
  }

  int Print(const testing::Report& report, const source::SourceMap& sources, Console& console) {
    if (report.tests.empty() && !allow_empty_) {
      console.Complain(pattern_.empty()
                           ? std::string("no test in the set; `--allow-empty` takes that for fine")
                           : fmt::format("no test whose name meets `{}`", pattern_));
      return exit_status::CouldNotRun;
    }
    text_.color = console.colour_results();
    if (format_ == "json") {
      console.Out(RenderJson(report, sources));
    } else if (format_ == "junit") {
      console.Out(RenderJunit(report, sources));
    } else {
      console.Out(RenderText(report, sources, text_));
    }
    if (threshold_ && report.coverage.percent() < *threshold_) {
      console.Complain(fmt::format("{:.1f} % of the rules were met; {:.1f} % are asked for",
                                   report.coverage.percent(), *threshold_));
      return exit_status::No;
    }
    if (clause_threshold_ && report.coverage.clause_percent() < *clause_threshold_) {
      console.Complain(
          fmt::format("{:.1f} % of the clauses were met both ways; {:.1f} % are asked for",
                      report.coverage.clause_percent(), *clause_threshold_));
      return exit_status::No;
    }
    return report.failed() == 0 ? exit_status::Fine : exit_status::No;
  }

  std::vector<std::string> paths_;
  std::string pattern_;
  std::string format_ = "text";
  RootOption root_;
  ColorOption color_;
  testing::TextOptions text_;
  std::optional<double> threshold_;
  std::optional<double> clause_threshold_;
  bool watch_ = false;
  bool allow_empty_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeTestVerb() { return std::make_unique<TestVerb>(); }

}  // namespace curfew::tool
