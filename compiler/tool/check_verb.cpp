#include "compiler/check/check.h"
#include "compiler/check/literal.h"
#include "compiler/diagnostics/render.h"
#include "compiler/ir/print.h"
#include "compiler/lower/lower.h"
#include "compiler/model/print.h"
#include "compiler/module/policy_module.h"
#include "compiler/syntax/print.h"
#include "compiler/tool/asked_request.h"
#include "compiler/tool/color_option.h"
#include "compiler/tool/compile_set.h"
#include "compiler/tool/root_option.h"
#include "compiler/tool/verbs.h"

#include <cstdint>
#include <optional>

#include <CLI/CLI.hpp>

namespace curfew::tool {
namespace {

class CheckVerb : public Verb {
 public:
  [[nodiscard]] std::string_view name() const override { return "check"; }
  [[nodiscard]] std::string_view summary() const override {
    return "find every mistake in a policy set; silent when there is none";
  }
  [[nodiscard]] std::string_view example() const override {
    return "A set is every file that is given, and every *.curfew below a folder that is given; "
           "`-` is\nstandard input. Diagnostics go to standard error; with --format json, sarif "
           "or junit\nthey are the result, on standard output; with github both are written: "
           "annotations for the\nrunner, text for the log.\n"
           "exit status: 0 no errors, 3 errors, 1 could not run (also: no policy found)\n\n"
           "example:\n  curfew check policies/ images.curfew\n"
           "  curfew check policies/ --max-cost 500000\n"
           "  curfew check policies/ --format sarif > curfew.sarif";
  }
  void Configure(CLI::App& app) override {
    app.add_option("POLICY", paths_, "files and folders of the set")->required();
    app.add_option("--format", format_, "text, json, sarif, junit or github")
        ->check(CLI::IsMember({"text", "json", "sarif", "junit", "github"}));
    root_.Configure(app);
    color_.Configure(app);
    app.add_option("--dump", dump_, "print what the set became at a station of the compiler")
        ->check(CLI::IsMember({"ast", "model", "ir"}));
    app.add_flag("--allow-empty", allow_empty_, "folders without policies are fine");
    app.add_option("--now", now_, "the time by which a trial is over, else this machine's");
    app.add_option("--max-cost", max_cost_,
                   "an error if a decision may take more steps, as `inspect` counts them")
        ->check(CLI::PositiveNumber);
  }
  int Run(Console& console) override {
    color_.Apply(console);
    if (!dump_.empty() && format_ != "text") {
      console.Complain("--dump prints text; it goes with --format text only");
      return exit_status::CouldNotRun;
    }
    const auto now_ms = TimeOf(now_);
    if (!now_ms) {
      console.Complain(now_ms.error().message);
      return ExitStatusOf(now_ms.error().code);
    }
    auto made = CompileSet(
        paths_, {.root = root_.folder(),
                 .nothing = allow_empty_ ? source::Nothing::Fine : source::Nothing::Refused});
    if (!made) {
      console.Complain(made.error().message);
      return ExitStatusOf(made.error().code);
    }
    if (made->model) check::CheckTrialEnds(*made->model, *now_ms, made->diagnostics);
    if (made->is_valid() && max_cost_) CheckCost(*made);
    const diagnostics::Sink& found = made->diagnostics;
    if (format_ == "json") {
      console.Out(RenderJson(found, made->sources));
    } else if (format_ == "sarif") {
      console.Out(RenderSarif(found, made->sources, CURFEW_VERSION));
    } else if (format_ == "junit") {
      console.Out(RenderJunit(found, made->sources));
    } else {
      if (format_ == "github") console.Out(RenderGithub(found, made->sources));
      PrintDiagnostics(*made, console);
    }
    if (found.has_errors()) return exit_status::InvalidPolicy;
    Dump(*made, console);
    return exit_status::Fine;
  }

 private:
  void CheckCost(Compilation& made) const {
    if (made.module.empty()) return;
    const auto policy = module::PolicyModule::Load(made.module, 0);
    CURFEW_CHECK(policy.has_value(), "what was just compiled loads");
    const auto steps = static_cast<std::int64_t>(policy->manifest().operations_max);
    if (steps > *max_cost_) {
      made.diagnostics.Report({}, diag::CostAboveBudget, steps, *max_cost_);
    }
  }

  void Dump(const Compilation& made, Console& console) const {
    if (dump_ == "ast") {
      for (const syntax::Ast& file : made.files) console.Out(syntax::Print(file));
    } else if (dump_ == "model") {
      console.Out(model::Print(*made.model));
    } else if (dump_ == "ir") {
      const auto code = lower::Lower(*made.model, made.sources);
      CURFEW_CHECK(code.has_value(), "it was lowered a moment ago");
      console.Out(ir::Print(*code));
    }
  }

  std::vector<std::string> paths_;
  std::string format_ = "text";
  RootOption root_;
  ColorOption color_;
  std::string dump_;
  bool allow_empty_ = false;
  std::string now_;
  std::optional<std::int64_t> max_cost_;
};

}  // namespace

std::unique_ptr<Verb> MakeCheckVerb() { return std::make_unique<CheckVerb>(); }

}  // namespace curfew::tool
