// The one door: what it adds to the decision code is only ever a denial.
#include "runtime/gate/gate.h"

#include "compiler/module/policy_module.h"
#include "compiler/tool/compile_set.h"
#include "runtime/keeper/protocol.h"
#include "tests/fakes/places.h"

#include <fstream>
#include <set>

#include <catch2/catch.hpp>

namespace curfew::gate {
namespace {

using schema::Action;

constexpr const char* Policy = R"(language 1
package tests.gate
image python311 {
  digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
}
sandbox work when task.kind == "work" {
  image {
    allow     python311
    exec      any
    size      cpu 1, memory 256MiB
    isolation any
  }
  lifetime { ttl 10m }
}
quiet: never export
)";

// Says what a test wants, about the rules of a real module.
class ScriptedEngine final : public module::DecisionEngine {
 public:
  explicit ScriptedEngine(module::PolicyModule policy) : policy_(std::move(policy)) {}
  std::function<void(module::Verdict&)> script;
  void Decide(const module::Request&, module::Verdict& verdict) const override { script(verdict); }
  [[nodiscard]] const module::PolicyModule& module() const override { return policy_; }
  [[nodiscard]] std::string_view kind() const override { return "scripted"; }

 private:
  module::PolicyModule policy_;
};

struct ListSink final : DecisionSink {
  std::vector<Answer> recorded;
  bool is_full = false;
  Outcome Record(const Answer& answer, const module::Request*) override {
    if (is_full) return Failure(FailureCode::OutOfSpace, "the disk is full");
    recorded.push_back(answer);
    return Ok();
  }
};

struct Fixture {
  fakes::TemporaryDirectory directory;
  Bytes bytes;
  std::unique_ptr<ScriptedEngine> engine;
  ListSink sink;
  std::unique_ptr<PolicyInForce> policy;
  std::unique_ptr<Gate> gate;

  Fixture() {
    const std::string path = directory.path() + "/gate.curfew";
    std::ofstream(path) << Policy;
    const std::vector<std::string> paths = {path};
    bytes = *tool::CompileModule(paths);
    engine = std::make_unique<ScriptedEngine>(*module::PolicyModule::Load(bytes, 3));
    policy = std::make_unique<PolicyInForce>(*engine);
    gate = std::make_unique<Gate>(*policy, sink);
  }

  static void Allow(module::Verdict& verdict) {
    verdict.effect = module::Effect::Allow;
    verdict.class_index = 0;
    verdict.allows.Add(0);
  }
};

TEST_CASE_METHOD(Fixture, "an allow makes a permit that carries what was judged") {
  engine->script = Allow;
  module::Request request(Action::Exec);
  request.SetText(schema::slot::ExecProgram, "/usr/bin/python3.11");
  Decision<Action::Exec> decision = gate->Decide<Action::Exec>(request);
  REQUIRE(decision.permit);
  CHECK(decision.answer.class_name == "work");
  CHECK(decision.answer.generation == 3);
  const Permit<Action::Exec> permit = *std::move(decision.permit);
  CHECK(permit.facts().Text(schema::slot::ExecProgram) == "/usr/bin/python3.11");
  CHECK_FALSE(permit.facts().Text(schema::slot::ExecUser));
  CHECK(sink.recorded.size() == 1);
}

TEST_CASE_METHOD(Fixture, "what is only considered is answered and leaves no record") {
  engine->script = Allow;
  const module::Request request(Action::Egress, schema::Stage::Name);
  const Answer answer = gate->Consider(request);
  CHECK(answer.allowed);
  CHECK(answer.stage == schema::Stage::Name);
  engine->script = [](module::Verdict& verdict) { verdict.denials.Add(0); };
  CHECK_FALSE(gate->Consider(request).allowed);
  CHECK(sink.recorded.empty());
}

TEST_CASE_METHOD(Fixture, "an answer that makes no sense is a denial with a reason") {
  const auto denies = [&](std::function<void(module::Verdict&)> script) {
    engine->script = std::move(script);
    const module::Request request(Action::Exec);
    const Decision<Action::Exec> decision = gate->Decide<Action::Exec>(request);
    CHECK_FALSE(decision.permit);
    CHECK_FALSE(decision.answer.allowed);
    CHECK_FALSE(decision.answer.reasons.empty());
    CHECK_FALSE(sink.recorded.back().allowed);
  };
  denies([](module::Verdict&) {});
  denies([](module::Verdict& verdict) {
    verdict.effect = module::Effect::Allow;  // by no rule
    verdict.class_index = 0;
  });
  denies([](module::Verdict& verdict) {
    Allow(verdict);
    verdict.denials.Add(0);
  });
  denies([](module::Verdict& verdict) {
    Allow(verdict);
    verdict.class_index = 77;
  });
  denies([](module::Verdict& verdict) {
    Allow(verdict);
    verdict.undecided = true;
  });
  denies([](module::Verdict& verdict) { verdict.denials.Add(1u << 30); });
}

TEST_CASE_METHOD(Fixture, "a denial that contradicts a proof stays one, and is reported with it") {
  const module::RuleIndex never = *engine->module().FindRule("set.quiet");
  const module::RuleIndex other = *engine->module().FindRule("work.filesystem.export");
  const module::Request request(Action::Export);
  const auto recorded = [&](std::function<void(module::Verdict&)> script) {
    engine->script = std::move(script);
    CHECK_FALSE(gate->Decide<Action::Export>(request).permit);
    std::vector<std::string> ids;
    for (const Reason& reason : sink.recorded.back().reasons) ids.push_back(reason.id);
    return ids;
  };
  using Ids = std::vector<std::string>;
  CHECK(recorded([&](module::Verdict& verdict) { verdict.denials.Add(never); }) ==
        Ids{"set.quiet", "gate.fault"});
  CHECK(recorded([&](module::Verdict& verdict) {
          verdict.denials.Add(never);
          verdict.denials.Add(other);
        }) == Ids{"set.quiet", "work.filesystem.export"});
  // What an unknown fact could turn contradicts nothing.
  CHECK(recorded([&](module::Verdict& verdict) {
          verdict.denials.Add(never);
          verdict.undecided = true;
        }) == Ids{"set.quiet"});
}

TEST_CASE_METHOD(Fixture, "what cannot be put on record does not take effect") {
  engine->script = Allow;
  sink.is_full = true;
  const module::Request request(Action::Export);
  const Decision<Action::Export> decision = gate->Decide<Action::Export>(request);
  CHECK_FALSE(decision.permit);
  REQUIRE(decision.answer.reasons.size() == 1);
  CHECK(decision.answer.reasons[0].id == "gate.unrecorded");
}

TEST_CASE_METHOD(Fixture,
                 "facts that no request can have are denied, whatever decision code says") {
  engine->script = [](module::Verdict& verdict) {
    verdict.effect = module::Effect::Allow;
    verdict.class_index = 0;
    verdict.allows.Add(0);
  };
  module::Request request(Action::Export);
  request.SetInteger(schema::slot::ExportSize, 2);
  request.SetInteger(schema::slot::ExportTotal, 2);
  CHECK(gate->Decide<Action::Export>(request).permit);
  request.SetInteger(schema::slot::ExportTotal, 1);
  const Decision<Action::Export> decision = gate->Decide<Action::Export>(request);
  CHECK_FALSE(decision.permit);
  REQUIRE(decision.answer.reasons.size() == 1);
  CHECK(decision.answer.reasons[0].id == "request.invalid");
  CHECK(decision.answer.reasons[0].message.find("/export/total: ") == 0);
  CHECK(sink.recorded.size() == 2);
}

TEST_CASE_METHOD(Fixture, "a request of another action opens nothing") {
  engine->script = Allow;
  const module::Request request(Action::Observe);
  CHECK_FALSE(gate->Decide<Action::Create>(request).permit);
}

TEST_CASE_METHOD(Fixture, "what makes no request is denied and on record") {
  const Answer answer = gate->Refuse(Action::Create, "/create/ttl: no unit");
  CHECK_FALSE(answer.allowed);
  CHECK(answer.reasons[0].id == "request.invalid");
  CHECK(sink.recorded.size() == 1);
}

TEST_CASE_METHOD(Fixture, "every action of the schema has its door") {
  engine->script = Allow;
  std::size_t doors = 0;
#define CURFEW_ACTION(name, word, asked, granted)      \
  {                                                    \
    const module::Request request(Action::name);       \
    CHECK(gate->Decide<Action::name>(request).permit); \
    ++doors;                                           \
  }
#include "compiler/schema/actions.def"
#undef CURFEW_ACTION
  CHECK(doors == schema::ActionCount);
  CHECK(doors == schema::Actions().size());
}

TEST_CASE("every verb that a keeper hears is judged, but for those named here") {
  std::set<int> judged;
  std::set<int> unjudged;
#define CURFEW_VERB(name, number, action) \
  judged.insert(number);                  \
  CHECK_FALSE(schema::WordOf(Action::action).empty());
#define CURFEW_UNJUDGED(name, number, reason) unjudged.insert(number);
#include "runtime/keeper/verbs.def"
  using keeper::Kind;
  CHECK(unjudged == std::set<int>{static_cast<int>(Kind::Input), static_cast<int>(Kind::InputEnd),
                                  static_cast<int>(Kind::Signal), static_cast<int>(Kind::Close),
                                  static_cast<int>(Kind::Reload)});
  for (int number = 0; number < 64; ++number) {
    const Bytes packet = {static_cast<std::uint8_t>(number), 0, 0, 0, 0};
    INFO("packet kind " << number);
    CHECK(keeper::DecodePacket(packet).has_value() ==
          (judged.contains(number) || unjudged.contains(number)));
  }
}

}  // namespace
}  // namespace curfew::gate
