// A workload's policy, compiled and ready to decide, and its requests, decoded: what the benchmark
// measures and the test checks. Everything on the way from text to decision is the product's own.
#pragma once

#include "compiler/module/engine.h"
#include "compiler/module/request_json.h"
#include "tests/bench/workload.h"

#include <memory>
#include <optional>

namespace curfew::bench {

// What decides: native code, native code for a caller that prepared its sandboxes and interned its
// hosts, the interpreter, or the interpreter without its index.
enum class Engine { Native, Prepared, Interpreter, Unindexed };

class DecisionSet {
 public:
  // Leaves the policy's text at `policy_path` and compiles that file, so that who wonders about a
  // figure can read it. InvalidPolicy with the diagnostics if it is not accepted.
  static Result<DecisionSet> Make(Workload workload, const std::string& policy_path, Engine engine);

  [[nodiscard]] std::size_t size() const { return requests_.size(); }
  [[nodiscard]] const Workload& workload() const { return workload_; }
  [[nodiscard]] std::size_t module_bytes() const { return bytes_->size(); }
  // From text to a module that is loaded, and from there to an engine.
  [[nodiscard]] double compile_ms() const { return compile_ms_; }
  [[nodiscard]] double engine_ms() const { return engine_ms_; }

  // Whether request `index` is allowed. One that the decoder refused is not.
  [[nodiscard]] bool Allows(std::size_t index, module::Verdict& verdict) const {
    const std::optional<module::DecodedRequest>& decoded = requests_[index];
    if (!decoded) return false;
    verdict.denials.count = verdict.allows.count = verdict.trials.count = 0;
    if (prepared_.empty()) {
      engine_->Decide(decoded->request, verdict);
    } else {
      engine_->DecidePrepared(prepared_[index], verdict);
    }
    return verdict.effect == module::Effect::Allow;
  }

  // Null where the decoder refused it.
  [[nodiscard]] const module::Request* request(std::size_t index) const {
    return requests_[index] ? &requests_[index]->request : nullptr;
  }
  [[nodiscard]] const module::PolicyModule& module() const { return engine_->module(); }

  // Requests that are not answered as expected, by index.
  [[nodiscard]] std::vector<std::size_t> WrongAnswers() const;
  // For a message: what was expected, the request, and the rules of the answer.
  [[nodiscard]] std::string Explain(std::size_t index) const;

 private:
  DecisionSet() = default;
  void Prepare();
  Outcome Expect();

  Workload workload_;
  std::unique_ptr<Bytes> bytes_;  // the module views it
  std::unique_ptr<module::DecisionEngine> engine_;
  std::vector<std::optional<module::DecodedRequest>> requests_;
  std::vector<module::PreparedRequest> prepared_;  // by request, or none at all
  std::vector<module::InternedText> hosts_;
  double compile_ms_ = 0;
  double engine_ms_ = 0;
};

}  // namespace curfew::bench
