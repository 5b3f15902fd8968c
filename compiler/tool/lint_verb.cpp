#include "compiler/base/text.h"
#include "compiler/diagnostics/render.h"
#include "compiler/lint/lint.h"
#include "compiler/module/policy_module.h"
#include "compiler/prove/check_uses.h"
#include "compiler/prove/prover.h"
#include "compiler/tool/asked_request.h"
#include "compiler/tool/code_page.h"
#include "compiler/tool/color_option.h"
#include "compiler/tool/compile_set.h"
#include "compiler/tool/root_option.h"
#include "compiler/tool/verbs.h"

#include <charconv>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::tool {
namespace {

using diagnostics::Severity;

class LintVerb : public Verb {
 public:
  [[nodiscard]] std::string_view name() const override { return "lint"; }
  [[nodiscard]] std::string_view summary() const override {
    return "find what a valid policy may say and its author may not have meant";
  }
  [[nodiscard]] std::string_view example() const override {
    return "A finding has a code; `--explain CODE` says why it is one, with a bad and a good "
           "example, and\n`--list` prints all of them. One that is meant is suppressed above its "
           "line or behind it, for\na time and with a reason:\n"
           "  # curfew: allow CUR9205 until 2027-03-01T00:00:00Z because \"the mirror has no other "
           "layout\"\n"
           "Output goes where that of `check` goes. What a tool can mend, `curfew fix` does.\n"
           "exit status: 0 no finding of the fail level, 2 findings, 3 the policy is invalid, 1 "
           "could not run\n\n"
           "example:\n  curfew lint policies/\n  curfew lint policies/ --category reach "
           "--fail-level "
           "info\n  curfew lint --explain CUR9205";
  }
  void Configure(CLI::App& app) override {
    app.add_option("POLICY", paths_, "files and folders of the set");
    app.add_option("--format", format_, "text, json, sarif, junit or github")
        ->check(CLI::IsMember({"text", "json", "sarif", "junit", "github"}));
    root_.Configure(app);
    color_.Configure(app);
    app.add_option("--explain", explain_, "print the page of a code");
    app.add_flag("--list", list_, "print every rule");
    app.add_option("--category", category_, "only the rules of one category")
        ->check(CLI::IsMember({"lifecycle", "reach", "identity", "correctness", "clarity"}));
    app.add_option("--fail-level,--severity", fail_level_,
                   "the least severity that makes the status 2; warning when left out")
        ->check(CLI::IsMember({"error", "warning", "info"}));
    app.add_option("--now", now_, "the time to judge for, as in 2026-11-29T00:00:00Z");
    app.add_flag("--allow-empty", allow_empty_, "folders without policies are fine");
  }
  int Run(Console& console) override {
    color_.Apply(console);
    if (!explain_.empty()) return Explain(console);
    if (list_) return List(console);
    if (paths_.empty()) {
      console.Complain("lint: POLICY is required, or --explain CODE, or --list");
      return exit_status::CouldNotRun;
    }
    const auto now_ms = TimeOf(now_);
    if (!now_ms) {
      console.Complain(now_ms.error().message);
      return ExitStatusOf(now_ms.error().code);
    }
    const auto made = CompileSet(
        paths_, {.root = root_.folder(),
                 .nothing = allow_empty_ ? source::Nothing::Fine : source::Nothing::Refused});
    if (!made) {
      console.Complain(made.error().message);
      return ExitStatusOf(made.error().code);
    }
    diagnostics::Sink found(lint::FindingsMax);
    if (made->is_valid()) {
      const auto category = lint::CategoryOf(category_);
      diagnostics::Sink warnings(lint::FindingsMax);
      for (const diagnostics::Diagnostic& warning : made->diagnostics.diagnostics()) {
        warnings.Keep(warning);
      }
      // A set without a file has no module, and nothing to say.
      if (!made->module.empty() && (!category || *category == lint::Category::Correctness)) {
        prove::CheckUses(*made->model, made->module, prove::LibraryBesideProgram(), warnings);
      }
      std::optional<module::PolicyModule> code;
      if (!made->module.empty()) {
        auto loaded = module::PolicyModule::Load(made->module, 1);
        if (!loaded) {
          console.Complain(loaded.error().message);
          return ExitStatusOf(loaded.error().code);
        }
        code = *std::move(loaded);
      }
      lint::Lint(made->files, made->sources, &*made->model,
                 {.now_ms = *now_ms,
                  .category = category,
                  .first_part = made->first_named,
                  .warnings = warnings.diagnostics(),
                  .code = code ? &code->tables() : nullptr},
                 found);
    } else {
      for (const diagnostics::Diagnostic& mistake : made->diagnostics.diagnostics()) {
        found.Keep(mistake);
      }
    }
    Print(found, made->sources, console);
    return made->is_valid() ? StatusOf(found) : exit_status::InvalidPolicy;
  }

 private:
  void Print(const diagnostics::Sink& found, const source::SourceMap& sources,
             Console& console) const {
    if (format_ == "json") return console.Out(RenderJson(found, sources));
    if (format_ == "sarif") return console.Out(RenderSarif(found, sources, CURFEW_VERSION));
    if (format_ == "junit") return console.Out(RenderJunit(found, sources));
    if (format_ == "github") console.Out(RenderGithub(found, sources));
    const auto color =
        console.colour_diagnostics() ? diagnostics::Color::Always : diagnostics::Color::Never;
    console.Err(RenderText(found, sources, color));
  }

  [[nodiscard]] int StatusOf(const diagnostics::Sink& found) const {
    const Severity least = fail_level_ == "error"  ? Severity::Error
                           : fail_level_ == "info" ? Severity::Info
                                                   : Severity::Warning;
    for (const diagnostics::Diagnostic& finding : found.diagnostics()) {
      // The worst severity is the first.
      if (finding.severity <= least) return exit_status::No;
    }
    return exit_status::Fine;
  }

  int Explain(Console& console) const {
    std::string_view digits = explain_;
    if (digits.starts_with("CUR")) digits.remove_prefix(3);
    std::uint16_t code = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code);
    const bool is_code = error == std::errc() && end == digits.data() + digits.size();
    const diagnostics::RegistryEntry* entry = is_code ? diagnostics::FindEntry(code) : nullptr;
    if (entry == nullptr) {
      console.Complain(fmt::format("`{}` is no code; `curfew lint --list` prints the rules",
                                   Printable(explain_, 60)));
      return exit_status::CouldNotRun;
    }
    console.Out(CodePage(*entry));
    return exit_status::Fine;
  }

  static int List(Console& console) {
    for (const auto rules : lint::Rules()) {
      for (const lint::Rule& rule : rules) {
        console.Out(fmt::format("{}  {:<7}  {:<11}  {}\n", diagnostics::CodeName(rule.code),
                                diagnostics::NameOf(diagnostics::FindEntry(rule.code)->severity),
                                NameOf(rule.category), rule.summary));
      }
    }
    return exit_status::Fine;
  }

  std::vector<std::string> paths_;
  std::string format_ = "text";
  RootOption root_;
  ColorOption color_;
  std::string explain_;
  bool list_ = false;
  std::string category_;
  std::string fail_level_ = "warning";
  std::string now_;
  bool allow_empty_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeLintVerb() { return std::make_unique<LintVerb>(); }

}  // namespace curfew::tool
