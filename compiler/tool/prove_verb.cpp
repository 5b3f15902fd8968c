#include "compiler/interpret/interpreter.h"
#include "compiler/prove/prover.h"
#include "compiler/tool/compile_set.h"
#include "compiler/tool/open_bundle.h"
#include "compiler/tool/result_verb.h"
#include "compiler/tool/root_option.h"
#include "compiler/tool/told_request.h"
#include "compiler/tool/verbs.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace curfew::tool {
namespace {

using Json = nlohmann::ordered_json;

std::string_view WordOf(prove::Outcome outcome) {
  switch (outcome) {
    case prove::Outcome::Proven:
      return "proven";
    case prove::Outcome::Refuted:
      return "refuted";
    case prove::Outcome::Undecided:
      return "undecided";
  }
  CURFEW_UNREACHABLE("the switch names every outcome");
}

class ProveVerb : public ResultVerb {
 public:
  [[nodiscard]] std::string_view name() const override { return "prove"; }
  [[nodiscard]] std::string_view summary() const override {
    return "prove each `never` of a policy set, or show a request that speaks against it";
  }
  [[nodiscard]] std::string_view example() const override {
    return "A never is proven where the rules without it let out no request for which it holds. "
           "With --never\nmore is asked than the set says. A request that is shown is one that the "
           "set would allow; with\n--format json it is the request of `eval`. What takes more than "
           "--steps, or cannot be asked\nexactly, is undecided, and why is said.\n"
           "exit status: 0 all proven, 2 one is refuted, 4 none is refuted and one is undecided, "
           "3 the policy\nis invalid, 1 could not run, or there is nothing to prove\n\n"
           "example:\n  curfew prove policies/\n"
           "  curfew prove policies/ --never 'egress when egress.host matches "
           "\"**.cloud.example\"'";
  }

 private:
  void ConfigureRest(CLI::App& app) override {
    app.add_option("POLICY", paths_, "files and folders of the set, or a bundle")->required();
    app.add_option(
        "--never", asked_,
        "prove this too, written as behind `never`: 'ACTION when CONDITION'; repeatable");
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}));
    app.add_option("--steps", steps_, "how much work is spent on each, the same on every machine")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000'000}));
    trust_.Configure(app);
    root_.Configure(app);
  }

  Result<int> TryRun(Console& console) override {
    CURFEW_TRY(const std::optional<module::Bundle> bundle, OpenBundle(paths_, trust_.keys()));
    if (bundle && !asked_.empty()) {
      return Failure(FailureCode::Usage, "--never needs the files of a set, not a bundle");
    }
    Compilation made;
    if (!bundle) {
      CURFEW_TRY(source::SourceMap sources, source::LoadSources(paths_));
      AddAsked(sources);
      CURFEW_TRY(made, CompileTexts(std::move(sources),
                                    {.root = root_.folder(), .proofs = Proofs::LeftToCaller}));
      if (const int status = PrintDiagnostics(made, console); status != 0) return status;
    }
    const Bytes& bytes = bundle ? bundle->content.module : made.module;
    CURFEW_TRY(module::PolicyModule policy, module::PolicyModule::Load(bytes, 1));
    const std::vector<module::RuleIndex> nevers = prove::NeversOf(policy);
    if (nevers.empty()) return Failure(FailureCode::Usage, "the set says no `never`");
    CURFEW_TRY(const std::vector<prove::Answer> answers,
               prove::ProveNevers(prove::LibraryBesideProgram(), bytes, nevers, steps_));
    const interpret::Interpreter engine(std::move(policy));
    for (const prove::Answer& answer : answers) {
      console.Out(format_ == "json" ? JsonOf(engine, answer) : TextOf(engine, answer));
    }
    return StatusOf(answers);
  }

  // Each as a file of its own, so that a mistake in it is shown in its own words.
  void AddAsked(source::SourceMap& sources) const {
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      sources.Add({fmt::format("--never {}", i + 1),
                   fmt::format("asked_{}: never {}\n  because \"asked on the command line\"\n",
                               i + 1, asked_[i])});
    }
  }

  static int StatusOf(const std::vector<prove::Answer>& answers) {
    const auto some = [&](prove::Outcome outcome) {
      return std::ranges::find(answers, outcome, &prove::Answer::outcome) != answers.end();
    };
    if (some(prove::Outcome::Refuted)) return exit_status::No;
    return some(prove::Outcome::Undecided) ? exit_status::Undecided : exit_status::Fine;
  }

  static std::string TextOf(const interpret::Interpreter& engine, const prove::Answer& answer) {
    const module::RuleInfo rule = engine.module().rule(answer.never);
    std::string text = fmt::format("{:<9}  {}", WordOf(answer.outcome), rule.id);
    if (!rule.file.empty()) text += fmt::format("  {}:{}", Printable(rule.file), rule.line);
    if (!rule.message.empty()) text += fmt::format(": {}", Printable(rule.message));
    text += "\n";
    if (answer.outcome == prove::Outcome::Undecided) {
      return text + "  " + Printable(answer.text) + "\n";
    }
    if (answer.outcome == prove::Outcome::Proven) return text;
    const auto told = Tell(engine, answer.text);
    if (!told) return text + "  " + told.error().message + "\n";
    text += fmt::format("  {}{}{} would be allowed by", told->answer.action,
                        told->answer.class_name.empty() ? "" : " in ", told->answer.class_name);
    for (const Reason& reason : told->answer.allows) text += " " + reason.id;
    return text + "\n" + FactLines(*told, "    ");
  }

  static std::string JsonOf(const interpret::Interpreter& engine, const prove::Answer& answer) {
    const module::PolicyModule& policy = engine.module();
    const module::RuleInfo rule = policy.rule(answer.never);
    Json json = {{"version", 1}, {"never", rule.id}, {"outcome", WordOf(answer.outcome)}};
    if (!rule.file.empty()) json["file"] = rule.file, json["line"] = rule.line;
    if (answer.outcome == prove::Outcome::Undecided) json["why"] = answer.text;
    if (answer.outcome == prove::Outcome::Refuted) {
      json["request"] = Json::parse(answer.text);
      json["allows"] = Json::array();
      for (const module::RuleIndex allow : answer.allows) {
        json["allows"].push_back(policy.rule(allow).id);
      }
    }
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  std::vector<std::string> paths_;
  std::vector<std::string> asked_;
  std::string format_ = "text";
  std::uint64_t steps_ = prove::StepsMax;
  TrustOption trust_;
  RootOption root_;
};

}  // namespace

std::unique_ptr<Verb> MakeProveVerb() { return std::make_unique<ProveVerb>(); }

}  // namespace curfew::tool
