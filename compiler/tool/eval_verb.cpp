#include "compiler/base/limits.h"
#include "compiler/tool/answer.h"
#include "compiler/tool/asked_request.h"
#include "compiler/tool/engine_choice.h"
#include "compiler/tool/policy_option.h"
#include "compiler/tool/read_input.h"
#include "compiler/tool/result_verb.h"
#include "compiler/tool/verbs.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::tool {
namespace {

// The worst of several statuses: could not run, undecided, denied, allowed.
int Worse(int a, int b) {
  constexpr std::array kWorstFirst = {exit_status::CouldNotRun, exit_status::Undecided,
                                      exit_status::No, exit_status::Fine};
  return *std::find_if(kWorstFirst.begin(), kWorstFirst.end(),
                       [a, b](int status) { return status == a || status == b; });
}

class EvalVerb : public ResultVerb {
 public:
  [[nodiscard]] std::string_view name() const override { return "eval"; }
  [[nodiscard]] std::string_view summary() const override {
    return "answer a request by a policy set, with every reason and the plan";
  }
  [[nodiscard]] std::string_view example() const override {
    return "The request is JSON: \"version\": 1, \"action\", and the attributes of that action, "
           "their dotted\npaths as nesting; durations, sizes and times are strings. You play the "
           "runtime as well and may\nstate verified facts (caller, sandbox, now). A document that "
           "does not fit (an unknown, doubled, missing or impossible field) is denied as a whole:\n"
           "`request.invalid`, with each place. Text that is no JSON at all could not be asked; "
           "with "
           "--lines\nsuch a line is answered with an error and its number, and the rest goes on.\n"
           "exit status: 0 allowed, 2 denied, 4 the answer depends on a fact that the request does "
           "not say,\n3 the policy is invalid, 1 could not run; of several requests, the worst\n\n"
           "example:\n"
           "  echo '{\"version\": 1, \"action\": \"observe\", \"observe\": {\"what\": \"logs\"},\n"
           "         \"caller\": {\"id\": \"user:ana\"}, \"sandbox\": {\"class\": \"coding\",\n"
           "         \"creator\": \"user:ana\"}}' |\n"
           "    curfew eval policies/ --request - --format json";
  }

 private:
  void ConfigureRest(CLI::App& app) override {
    policy_.Configure(app);
    app.add_option("--request", request_, "the request: a file, or - for standard input")
        ->required();
    app.add_flag("--lines", lines_, "one request a line (JSON Lines), one answer each");
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}));
    app.add_option("--engine", engine_,
                   "what decides: native code, the interpreter, or what suits: native code for "
                   "--lines, where this machine has it; the answers are the same")
        ->check(CLI::IsMember({"auto", "native", "interpreter"}));
    app.add_option("--now", now_, "the time of the decision, where the request says none");
  }
  Result<int> TryRun(Console& console) override {
    CURFEW_TRY(const std::int64_t now_ms, TimeOf(now_));
    CURFEW_TRY_VOID(policy_.CheckBeside(request_));
    CURFEW_TRY(const std::optional<Bytes> module, policy_.ReadModule(console));
    if (!module) return exit_status::InvalidPolicy;
    CURFEW_TRY(EngineChoice choice, ChooseEngine(*module, Wish()));
    why_not_native_ = std::move(choice.why_not_native);
    if (!why_not_native_.empty() && format_ == "text") {
      console.Err(fmt::format("note: the interpreter decides: {}\n", why_not_native_));
    }
    CURFEW_TRY(const std::string text,
               ReadInput(request_, lines_ ? limits::SetBytesMax : limits::JsonBytesMax));
    if (!lines_) {
      Result<int> status = Answer(*choice.engine, text, now_ms, console);
      if (status) return status;
      return std::move(status).error().In(request_ == "-" ? "standard input" : request_);
    }
    return AnswerLines(*choice.engine, text, now_ms, console);
  }

  // One request is answered before LLVM is even loaded.
  [[nodiscard]] EngineWish Wish() const {
    if (engine_ == "native") return EngineWish::Native;
    return engine_ == "auto" && lines_ ? EngineWish::Auto : EngineWish::Interpreter;
  }

  Result<int> Answer(const module::DecisionEngine& engine, std::string_view text,
                     std::int64_t now_ms, Console& console) const {
    auto decoding = DecodeRequestText(text, engine.module().declared(), module::StatedBy::Author);
    if (!decoding) return decoding.error();
    tool::Answer answer;
    if (*decoding) {
      Complete(*decoding->decoded, now_ms);
      answer = AnswerOf(engine, decoding->decoded->request);
    } else {
      answer = AnswerOf(engine.module(), decoding->problems);
    }
    answer.engine = engine.kind();
    answer.why_not_native = why_not_native_;
    console.Out(format_ == "json" ? RenderJson(answer)
                                  : RenderText(answer, console.colour_results()));
    return ExitStatusOf(answer);
  }

  // A line that is no JSON gets an answer of its own, so that answers stay beside their requests.
  Result<int> AnswerLines(const module::DecisionEngine& engine, std::string_view text,
                          std::int64_t now_ms, Console& console) const {
    int worst = exit_status::Fine;
    std::size_t number = 0;
    std::size_t answered = 0;
    while (!text.empty() && !console.reader_gone()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++number;
      if (line.find_first_not_of(" \t\r") == line.npos) continue;
      ++answered;
      const Result<int> status = Answer(engine, line, now_ms, console);
      if (!status) {
        console.Out(format_ == "json" ? RenderJson(number, status.error())
                                      : RenderText(number, status.error()));
      }
      worst = Worse(worst, status ? *status : exit_status::CouldNotRun);
    }
    if (answered == 0) return Failure(FailureCode::Usage, request_ + ": no request in it");
    return worst;
  }

  PolicyOption policy_;
  std::string request_;
  std::string format_ = "text";
  std::string engine_ = "auto";
  std::string now_;
  std::string why_not_native_;
  bool lines_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeEvalVerb() { return std::make_unique<EvalVerb>(); }

}  // namespace curfew::tool
