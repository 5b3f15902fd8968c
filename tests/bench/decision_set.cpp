#include "tests/bench/decision_set.h"

#include "compiler/interpret/interpreter.h"
#include "compiler/module/capability.h"
#include "compiler/tool/compile_set.h"
#include "compiler/tool/engine_choice.h"

#include <chrono>
#include <fstream>

#include <fmt/format.h>

namespace curfew::bench {
namespace {

double MillisecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace

Result<DecisionSet> DecisionSet::Make(Workload workload, const std::string& policy_path,
                                      Engine engine) {
  std::ofstream policy(policy_path, std::ios::binary);
  policy << workload.policy;
  policy.close();
  if (!policy) return Failure{FailureCode::System, "cannot write " + policy_path};
  DecisionSet set;
  set.workload_ = std::move(workload);
  const auto begin = std::chrono::steady_clock::now();
  const std::string paths[] = {policy_path};
  CURFEW_TRY(Bytes bytes, tool::CompileModule(paths));
  set.bytes_ = std::make_unique<Bytes>(std::move(bytes));
  CURFEW_TRY(module::PolicyModule module, module::PolicyModule::Load(*set.bytes_, 1));
  set.compile_ms_ = MillisecondsSince(begin);
  const auto compiled = std::chrono::steady_clock::now();
  if (engine == Engine::Unindexed) {
    set.engine_ =
        std::make_unique<interpret::Interpreter>(std::move(module), interpret::UseIndex::No);
  } else {
    const auto wish =
        engine == Engine::Interpreter ? tool::EngineWish::Interpreter : tool::EngineWish::Native;
    CURFEW_TRY(tool::EngineChoice choice, tool::ChooseEngine(*set.bytes_, wish));
    set.engine_ = std::move(choice.engine);
  }
  set.engine_ms_ = MillisecondsSince(compiled);

  for (const std::string& text : set.workload_.requests) {
    CURFEW_TRY(const JsonValue document, ParseJson(text));
    module::RequestDecoding decoding =
        module::DecodeRequest(document, set.engine_->module().declared(), module::StatedBy::Author);
    if (decoding) {
      std::vector<module::Value> capabilities;
      for (const std::string_view word : module::capability::All) {
        capabilities.push_back(module::Value::OfText(word));
      }
      module::DecodedRequest& decoded = *decoding.decoded;
      decoded.request.Set(schema::slot::HostCapabilities,
                          module::Value::OfItems(decoded.arena.Keep(std::move(capabilities))));
    }
    set.requests_.push_back(std::move(decoding.decoded));
  }
  if (engine == Engine::Prepared) set.Prepare();
  if (set.workload_.allowed.empty()) CURFEW_TRY_VOID(set.Expect());
  return set;
}

// What the interpreter says without its index, where the workload does not say what it expects.
Outcome DecisionSet::Expect() {
  CURFEW_TRY(module::PolicyModule module, module::PolicyModule::Load(*bytes_, 1));
  const interpret::Interpreter plain(std::move(module), interpret::UseIndex::No);
  module::VerdictRoom room;
  for (const std::optional<module::DecodedRequest>& decoded : requests_) {
    if (decoded) plain.Decide(decoded->request, room.verdict);
    workload_.allowed.push_back(decoded && room.verdict.effect == module::Effect::Allow);
  }
  return Ok();
}

void DecisionSet::Prepare() {
  for (const std::optional<module::DecodedRequest>& decoded : requests_) {
    const module::Request nothing(schema::Action::Egress);
    const module::Request& request = decoded ? decoded->request : nothing;
    module::PreparedRequest& prepared = prepared_.emplace_back(engine_->Prepare(request));
    constexpr schema::Slot slot = schema::slot::EgressHost;
    if (!request.is_present(slot)) continue;
    hosts_.push_back(engine_->Intern(request.value(slot).text()));
    prepared.Set(slot, hosts_.back().value());
  }
}

std::vector<std::size_t> DecisionSet::WrongAnswers() const {
  std::vector<std::size_t> wrong;
  module::VerdictRoom room;
  for (std::size_t i = 0; i < size(); ++i) {
    if (Allows(i, room.verdict) != workload_.allowed[i]) wrong.push_back(i);
  }
  return wrong;
}

std::string DecisionSet::Explain(std::size_t index) const {
  module::VerdictRoom room;
  const bool allowed = Allows(index, room.verdict);
  std::string text =
      fmt::format("expected {}, and got {} by", workload_.allowed[index] ? "allow" : "deny",
                  allowed ? "allow" : "deny");
  if (!requests_[index]) text += " request.invalid";
  const module::RuleList& rules = allowed ? room.verdict.allows : room.verdict.denials;
  for (const module::RuleIndex rule : rules.written()) {
    text += fmt::format(" {}", engine_->module().rule(rule).id);
  }
  return fmt::format("{}: {}", text, workload_.requests[index]);
}

}  // namespace curfew::bench
