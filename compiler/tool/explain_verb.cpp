#include "compiler/base/limits.h"
#include "compiler/explain/covering_statement.h"
#include "compiler/explain/smallest_change.h"
#include "compiler/explain/story.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/tool/answer.h"
#include "compiler/tool/asked_request.h"
#include "compiler/tool/policy_option.h"
#include "compiler/tool/read_input.h"
#include "compiler/tool/result_verb.h"
#include "compiler/tool/verbs.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace curfew::tool {
namespace {

using Json = nlohmann::ordered_json;

std::string_view WordOf(const interpret::Truth& truth) {
  return truth.is_true() ? "holds" : truth.is_false() ? "fails" : "not known";
}

// An explanation as a tree of lines and as JSON, from one walk over what is told.
class Telling {
 public:
  Telling(const module::PolicyModule& policy, const Answer& answer, const explain::Story& story,
          const explain::ChangeSearch& changes,
          const std::optional<explain::CoveringStatement>& covering)
      : policy_(policy), answer_(answer), story_(story), changes_(changes), covering_(covering) {}

  [[nodiscard]] std::string AsText(bool color) const {
    std::string text = RenderText(answer_, color);
    // The reasons are told below, with what decided them.
    text = text.substr(0, text.find('\n') + 1);
    if (!answer_.missing.empty()) {
      text += fmt::format("  depends on `{}`, which the request does not say\n", answer_.missing);
    }
    if (!answer_.fault.empty()) text += fmt::format("  {}\n", answer_.fault);
    for (const explain::Cause& cause : story_.denials) Append(text, "denied by", cause);
    for (const explain::Lack& lack : story_.lacks) {
      text += fmt::format("  denied by {}\n", Named(lack.denial));
      for (const explain::Near& near : lack.nearest) {
        text += fmt::format("    {} would, but\n", Named(near.allow));
        AppendClauses(text, near.failing);
      }
      if (lack.others > 0) text += fmt::format("    and {} further from it\n", lack.others);
    }
    const bool allowed = answer_.decision == Answer::Decision::Allow;
    for (const explain::Cause& cause : story_.allows) {
      Append(text, allowed ? "allowed by" : "would be allowed by", cause);
    }
    AppendChanges(text);
    AppendPolicyChange(text);
    return text;
  }

  [[nodiscard]] std::string AsJson() const {
    Json json = Json::parse(RenderJson(answer_));
    Json why = {{"denials", Json::array()}, {"lacks", Json::array()}, {"allows", Json::array()}};
    for (const explain::Cause& cause : story_.denials) why["denials"].push_back(JsonOf(cause));
    for (const explain::Cause& cause : story_.allows) why["allows"].push_back(JsonOf(cause));
    for (const explain::Lack& lack : story_.lacks) {
      Json nearest = Json::array();
      for (const explain::Near& near : lack.nearest) {
        nearest.push_back({{"id", IdOf(near.allow)}, {"failing", JsonOf(near.failing)}});
      }
      why["lacks"].push_back(
          {{"id", IdOf(lack.denial)}, {"nearest", std::move(nearest)}, {"others", lack.others}});
    }
    json["why"] = std::move(why);
    Json alternatives = Json::array();
    for (const auto& changes : changes_.alternatives) {
      Json together = Json::array();
      for (const explain::FactChange& change : changes) {
        together.push_back({{"path", change.path}, {"now", change.from}, {"to", change.to}});
      }
      alternatives.push_back(std::move(together));
    }
    json["request_changes"] = {{"alternatives", std::move(alternatives)},
                               {"tried", changes_.tried},
                               {"every_single_tried", changes_.singles_done}};
    json["policy_changes"] = PolicyChanges();
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

 private:
  [[nodiscard]] std::string IdOf(module::RuleIndex rule) const {
    return std::string(policy_.rule(rule).id);
  }
  [[nodiscard]] std::string Named(module::RuleIndex rule) const {
    const module::RuleInfo info = policy_.rule(rule);
    std::string text(info.id);
    if (!info.file.empty()) text += fmt::format("  {}:{}", Printable(info.file), info.line);
    if (!info.message.empty()) text += fmt::format(": {}", Printable(info.message));
    return text;
  }
  void Append(std::string& text, std::string_view word, const explain::Cause& cause) const {
    text += fmt::format("  {} {}\n", word, Named(cause.rule));
    AppendClauses(text, cause.clauses);
  }
  static void AppendClauses(std::string& text, const std::vector<explain::Clause>& clauses) {
    for (const explain::Clause& clause : clauses) {
      text += fmt::format("      {:<9}  {}\n", WordOf(clause.truth), clause.text);
      if (!clause.seen.empty()) {
        text += fmt::format("      {:<9}  {}\n", "", fmt::join(clause.seen, "; "));
      }
    }
  }

  void AppendChanges(std::string& text) const {
    const bool allowed = answer_.decision == Answer::Decision::Allow;
    const std::string_view turned = allowed ? "denied" : "allowed";
    if (changes_.alternatives.empty()) {
      text += fmt::format(
          "no change of the request was found that has it {}{} ({} tried)\n", turned,
          changes_.singles_done ? "; none of one fact has it" : "; not every one was tried",
          changes_.tried);
      return;
    }
    text += fmt::format("it would be {} with\n", turned);
    for (const auto& changes : changes_.alternatives) {
      std::string_view lead = "  ";
      for (const explain::FactChange& change : changes) {
        text += fmt::format("{}{} {} (it {})\n", lead, change.path, change.to, change.from);
        lead = "  and ";
      }
    }
  }

  // What of the policy would have to go, and what it would have to say.
  [[nodiscard]] std::vector<std::string> PolicyChanges() const {
    std::vector<std::string> changes;
    if (answer_.decision == Answer::Decision::Allow) {
      for (const explain::Cause& cause : story_.allows) {
        const module::RuleInfo rule = policy_.rule(cause.rule);
        // The class itself is no grant.
        if (rule.file.empty() || rule.id == answer_.class_name) continue;
        changes.push_back(
            fmt::format("take away `{}` at {}:{}", rule.id, Printable(rule.file), rule.line));
      }
      return changes;
    }
    for (const explain::Cause& cause : story_.denials) {
      const module::RuleInfo rule = policy_.rule(cause.rule);
      // A bar of the language, which no policy lifts; or what the set claims of every request.
      if (rule.file.empty() || rule.never) return {};
      changes.push_back(fmt::format("take away or narrow `{}` at {}:{}", rule.id,
                                    Printable(rule.file), rule.line));
    }
    if (story_.lacks.empty()) return changes;
    if (!covering_ || answer_.class_name.empty()) return {};
    changes.push_back(fmt::format("in `{} {{ … }}` of class `{}`: {}", covering_->plane,
                                  answer_.class_name, covering_->statement));
    return changes;
  }
  void AppendPolicyChange(std::string& text) const {
    for (const explain::Cause& cause : story_.denials) {
      const module::RuleInfo rule = policy_.rule(cause.rule);
      if (!rule.never) continue;
      text += fmt::format("and no policy allows it that claims `{}` at {}:{}\n", rule.id,
                          Printable(rule.file), rule.line);
    }
    const std::vector<std::string> changes = PolicyChanges();
    if (changes.empty()) return;
    text += "or with a policy that does all of this\n";
    for (const std::string& change : changes) text += fmt::format("  {}\n", change);
  }

  static Json JsonOf(const std::vector<explain::Clause>& clauses) {
    Json array = Json::array();
    for (const explain::Clause& clause : clauses) {
      array.push_back(
          {{"clause", clause.text}, {"is", WordOf(clause.truth)}, {"saw", clause.seen}});
    }
    return array;
  }
  [[nodiscard]] Json JsonOf(const explain::Cause& cause) const {
    return {{"id", IdOf(cause.rule)}, {"clauses", JsonOf(cause.clauses)}};
  }

  const module::PolicyModule& policy_;
  const Answer& answer_;
  const explain::Story& story_;
  const explain::ChangeSearch& changes_;
  const std::optional<explain::CoveringStatement>& covering_;
};

class ExplainVerb : public ResultVerb {
 public:
  [[nodiscard]] std::string_view name() const override { return "explain"; }
  [[nodiscard]] std::string_view summary() const override {
    return "say why a request is answered as it is, and what would turn the answer";
  }
  [[nodiscard]] std::string_view example() const override {
    return "For each rule the clauses that decided it and what they saw; of what nothing allows, "
           "the allows\nthat come nearest. Then the smallest change of the request that was found "
           "to turn the answer\n(asked again, so it is true; what was not looked for is said), and "
           "what the policy would have to\nsay. The request is that of `eval`.\n"
           "exit status: 0 explained, 3 the policy is invalid, 1 could not run\n\n"
           "example:\n  curfew explain policies/ --request denied.json";
  }

 private:
  void ConfigureRest(CLI::App& app) override {
    policy_.Configure(app);
    app.add_option("--request", request_, "the request: a file, or - for standard input")
        ->required();
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}));
    app.add_option("--now", now_, "the time of the decision, where the request says none");
    app.add_option("--budget", budget_, "how many decisions the search for a change may ask for")
        ->check(CLI::Range(std::size_t{0}, std::size_t{100'000'000}));
  }
  Result<int> TryRun(Console& console) override {
    CURFEW_TRY(const std::int64_t now_ms, TimeOf(now_));
    CURFEW_TRY_VOID(policy_.CheckBeside(request_));
    CURFEW_TRY(const std::optional<Bytes> module, policy_.ReadModule(console));
    if (!module) return exit_status::InvalidPolicy;
    CURFEW_TRY(module::PolicyModule policy, module::PolicyModule::Load(*module, 1));
    const interpret::Interpreter engine(std::move(policy));
    CURFEW_TRY(const std::string text, ReadInput(request_, limits::JsonBytesMax));
    auto decoding = DecodeRequestText(text, engine.module().declared(), module::StatedBy::Author);
    if (!decoding) {
      return std::move(decoding).error().In(request_ == "-" ? "standard input" : request_);
    }
    if (!*decoding) {
      // Nothing was asked of the rules: what is wrong with the document is all there is to say.
      const Answer answer = AnswerOf(engine.module(), decoding->problems);
      console.Out(format_ == "json" ? RenderJson(answer)
                                    : RenderText(answer, console.colour_results()));
      return exit_status::Fine;
    }
    Complete(*decoding->decoded, now_ms);
    console.Out(Explain(engine, decoding->decoded->request, console.colour_results()));
    return exit_status::Fine;
  }

  [[nodiscard]] std::string Explain(const module::DecisionEngine& engine,
                                    const module::Request& request, bool color) const {
    Answer answer = AnswerOf(engine, request);
    answer.engine = engine.kind();
    module::VerdictRoom room;
    engine.Decide(request, room.verdict);
    const explain::Story story = explain::StoryOf(engine.module(), request, room.verdict);
    const explain::ChangeSearch changes =
        explain::FindSmallestChange(engine, request, story, budget_);
    const auto covering = explain::StatementCovering(engine.module(), story.judged);
    const Telling telling(engine.module(), answer, story, changes, covering);
    return format_ == "json" ? telling.AsJson() : telling.AsText(color);
  }

  PolicyOption policy_;
  std::string request_;
  std::string format_ = "text";
  std::string now_;
  std::size_t budget_ = 200'000;
};

}  // namespace

std::unique_ptr<Verb> MakeExplainVerb() { return std::make_unique<ExplainVerb>(); }

}  // namespace curfew::tool
