#include "compiler/base/limits.h"
#include "compiler/base/text.h"
#include "compiler/module/policy_module.h"
#include "compiler/tool/asked_request.h"
#include "compiler/tool/engine_choice.h"
#include "compiler/tool/measure.h"
#include "compiler/tool/open_bundle.h"
#include "compiler/tool/read_input.h"
#include "compiler/tool/root_option.h"
#include "compiler/tool/verbs.h"
#include "compiler/tool/write_output.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace curfew::tool {
namespace {

using Json = nlohmann::ordered_json;

// Requests as they were read, and how they are answered.
struct Asked {
  std::deque<module::DecodedRequest> decoded;
  std::vector<module::Request> requests;
  Digest digest;  // of the text that they stood in
  std::size_t allowed = 0;
  std::size_t undecided = 0;
};

class BenchVerb : public Verb {
 public:
  [[nodiscard]] std::string_view name() const override { return "bench"; }
  [[nodiscard]] std::string_view summary() const override {
    return "measure how long a policy set takes to answer requests";
  }
  [[nodiscard]] std::string_view example() const override {
    return "The requests are JSON Lines, one a line, as `curfew eval --lines` reads them. Each is "
           "decoded\nonce; what is measured is the decision, by the interpreter and by native "
           "code, in this thread's\nown time. The yardstick is one look-up of a name in a hash "
           "table of 4,096, measured in the same\npasses: compare by it between machines, and "
           "between days of one.\n"
           "--save keeps the result as JSON; --compare holds this run against one that was kept, "
           "of the same\nrequests, and ends with 2 where an engine takes more of the yardstick "
           "than the threshold allows.\n"
           "exit status: 0 measured, 2 slower than what it was compared with, 3 the policy is "
           "invalid, 1 could not run\n\n"
           "example:\n"
           "  curfew bench policies/ --requests requests.jsonl --save before.json\n"
           "  curfew bench policies/ --requests requests.jsonl --compare before.json --threshold "
           "10%";
  }
  void Configure(CLI::App& app) override {
    app.add_option("POLICY,--policy", paths_, "files and folders of the set, or a bundle")
        ->required();
    app.add_option("--requests", requests_, "JSON Lines: a file, or - for standard input")
        ->required();
    app.add_option("--passes", passes_, "how often each is measured; the median is told")
        ->check(CLI::Range(3, 1001));
    app.add_option("--save", save_, "keep the result in this file");
    app.add_option("--compare", compare_, "a result that was kept");
    app.add_option("--threshold", threshold_, "how much slower is fine, as in 10%");
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}));
    app.add_option("--now", now_, "the time of the decisions, where a request says none");
    trust_.Configure(app);
    root_.Configure(app);
  }
  int Run(Console& console) override {
    const auto run = TryRun(console);
    if (run) return *run;
    console.Complain(run.error().message);
    return ExitStatusOf(run.error().code);
  }

 private:
  Result<int> TryRun(Console& console) {
    CURFEW_TRY(const double threshold, Threshold());
    CURFEW_TRY(const std::optional<Json> before, Before());
    CURFEW_TRY(const Bytes module, OpenModule(paths_, trust_.keys(), root_.folder()));
    CURFEW_TRY(const EngineChoice interpreter, ChooseEngine(module, EngineWish::Interpreter));
    CURFEW_TRY(const EngineChoice native, ChooseEngine(module, EngineWish::Auto));
    std::vector<const module::DecisionEngine*> engines = {interpreter.engine.get()};
    if (native.why_not_native.empty()) {
      engines.push_back(native.engine.get());
    } else {
      console.Err(fmt::format("note: native code is not measured: {}\n", native.why_not_native));
    }
    CURFEW_TRY(const Asked asked, Ask(engines));
    const Measurement measured = Measure(engines, asked.requests, passes_);
    const Json result = JsonOf(interpreter.engine->module(), asked, measured);
    if (!save_.empty()) {
      CURFEW_TRY_VOID(WriteOutput(save_, AsBytes(result.dump(2) + "\n"), console));
    }
    console.Out(format_ == "json" ? result.dump() + "\n" : TextOf(result));
    if (!before) return exit_status::Fine;
    return Compare(*before, result, threshold, console);
  }

  // "10%" or "10" as 0.1.
  [[nodiscard]] Result<double> Threshold() const {
    std::string_view text = threshold_;
    if (text.ends_with('%')) text.remove_suffix(1);
    char* end = nullptr;
    const std::string number(text);
    const double percent = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || !(percent >= 0 && percent <= 1000)) {
      return Failure(FailureCode::Usage,
                     "--threshold is a share as in 10%, and not " + Printable(threshold_, 40));
    }
    return percent / 100;
  }

  [[nodiscard]] Result<std::optional<Json>> Before() const {
    if (compare_.empty()) return std::optional<Json>();
    CURFEW_TRY(const std::string text, ReadInput(compare_, limits::JsonBytesMax));
    const Json json = Json::parse(text, nullptr, false);
    const auto has = [&](const char* name) { return json.is_object() && json.contains(name); };
    if (!has("version") || json["version"] != 1 || !has("requests_digest") || !has("engines") ||
        !json["engines"].is_array()) {
      return Failure(FailureCode::Malformed,
                     compare_ + " is no result that `curfew bench --save` has kept");
    }
    return std::optional<Json>(json);
  }

  // Reads the requests and has every engine answer each: what they do not agree on is no measure.
  [[nodiscard]] Result<Asked> Ask(const std::vector<const module::DecisionEngine*>& engines) const {
    CURFEW_TRY(const std::int64_t now_ms, TimeOf(now_));
    CURFEW_TRY(const std::string text, ReadInput(requests_, limits::SetBytesMax));
    Asked asked;
    asked.digest = Sha256(AsBytes(text));
    std::size_t number = 0;
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      ++number;
      if (line.find_first_not_of(" \t\r") == line.npos) continue;
      const std::string place = fmt::format("{}:{}", requests_, number);
      auto decoding =
          DecodeRequestText(line, engines.front()->module().declared(), module::StatedBy::Author);
      if (!decoding) return std::move(decoding).error().In(place);
      if (!*decoding) {
        const module::RequestProblem& first = decoding->problems.front();
        return Failure(FailureCode::Malformed,
                       fmt::format("{}: {}: {}", place, first.pointer, first.message));
      }
      Complete(*decoding->decoded, now_ms);
      asked.decoded.push_back(*std::move(decoding->decoded));
      asked.requests.push_back(asked.decoded.back().request);
      CURFEW_TRY_VOID(Answer(engines, asked, place));
    }
    if (asked.requests.empty())
      return Failure(FailureCode::Usage, requests_ + ": no request in it");
    return asked;
  }

  static Outcome Answer(const std::vector<const module::DecisionEngine*>& engines, Asked& asked,
                        const std::string& place) {
    std::optional<module::Effect> effect;
    bool undecided = false;
    for (const module::DecisionEngine* engine : engines) {
      module::VerdictRoom room;
      engine->Decide(asked.requests.back(), room.verdict);
      if (effect && *effect != room.verdict.effect) {
        return Failure(FailureCode::System,
                       place +
                           ": native code and the interpreter differ, which is a defect of "
                           "Curfew; use `--engine interpreter` and report it");
      }
      effect = room.verdict.effect;
      undecided = room.verdict.undecided;
    }
    if (effect == module::Effect::Allow) {
      ++asked.allowed;
    } else if (undecided) {
      ++asked.undecided;
    }
    return Ok();
  }

  static Json JsonOf(const Timing& timing) {
    const auto rounded = [](double ns) { return std::round(ns * 10) / 10; };
    return {{"median_ns", rounded(timing.median)},
            {"low_ns", rounded(timing.low)},
            {"high_ns", rounded(timing.high)}};
  }

  Json JsonOf(const module::PolicyModule& policy, const Asked& asked,
              const Measurement& measured) const {
    Json engines = Json::array();
    for (const EngineTiming& engine : measured.engines) {
      Json one = {{"engine", engine.engine}};
      one.update(JsonOf(engine.timing));
      one["per_yardstick"] = std::round(engine.per_yardstick * 1000) / 1000;
      engines.push_back(std::move(one));
    }
    return {{"version", 1},
            {"policy", ToString(policy.manifest().policy)},
            {"requests", asked.requests.size()},
            {"requests_digest", ToString(asked.digest)},
            {"allowed", asked.allowed},
            {"undecided", asked.undecided},
            {"passes", passes_},
            {"yardstick", JsonOf(measured.yardstick)},
            {"engines", std::move(engines)}};
  }

  static std::string TextOf(const Json& result) {
    const std::size_t requests = result["requests"];
    const std::size_t allowed = result["allowed"];
    const std::size_t undecided = result["undecided"];
    std::string text =
        fmt::format("{} request{}: {} allowed, {} denied, {} undecided\n", requests,
                    requests == 1 ? "" : "s", allowed, requests - allowed - undecided, undecided);
    text += fmt::format("{:<12} {:>12} {:>19} {:>14}\n", "", "ns, median", "lowest to highest",
                        "of a yardstick");
    const auto row = [](std::string_view name, const Json& timing, const std::string& ratio) {
      return fmt::format("{:<12} {:>12.1f} {:>19} {:>14}\n", name,
                         timing["median_ns"].get<double>(),
                         fmt::format("{:.1f} to {:.1f}", timing["low_ns"].get<double>(),
                                     timing["high_ns"].get<double>()),
                         ratio);
    };
    for (const Json& engine : result["engines"]) {
      text += row(engine["engine"].get<std::string>(), engine,
                  fmt::format("{:.2f}", engine["per_yardstick"].get<double>()));
    }
    return text + row("yardstick", result["yardstick"], "1");
  }

  Result<int> Compare(const Json& before, const Json& now, double threshold,
                      Console& console) const {
    if (before["requests_digest"] != now["requests_digest"]) {
      return Failure(FailureCode::Usage, compare_ + " is of other requests than " + requests_ +
                                             "; measure both with the same file");
    }
    bool slower = false;
    bool compared = false;
    for (const Json& engine : now["engines"]) {
      for (const Json& old : before["engines"]) {
        if (!old.is_object() || old.value("engine", "") != engine["engine"]) continue;
        const double then = old.value("per_yardstick", 0.0);
        if (then <= 0) continue;
        compared = true;
        const double change = engine["per_yardstick"].get<double>() / then - 1;
        const bool is_slower = change > threshold;
        slower = slower || is_slower;
        console.Err(fmt::format("{}: {:+.1f} %{}\n", engine["engine"].get<std::string>(),
                                change * 100, is_slower ? ", above the threshold" : ""));
      }
    }
    if (!compared) {
      return Failure(FailureCode::Usage, compare_ + " measured no engine that was measured now");
    }
    return slower ? exit_status::No : exit_status::Fine;
  }

  std::vector<std::string> paths_;
  std::string requests_;
  std::size_t passes_ = 21;
  std::string save_;
  std::string compare_;
  std::string threshold_ = "10%";
  std::string format_ = "text";
  std::string now_;
  TrustOption trust_;
  RootOption root_;
};

}  // namespace

std::unique_ptr<Verb> MakeBenchVerb() { return std::make_unique<BenchVerb>(); }

}  // namespace curfew::tool
