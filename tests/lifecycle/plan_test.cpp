// What an allowed create means on a host, and what no host can do yet.
#include "runtime/plan/plan.h"

#include "compiler/base/limits.h"
#include "compiler/module/policy_module.h"
#include "compiler/tool/compile_set.h"
#include "runtime/gate/gate.h"
#include "tests/fakes/places.h"

#include <fstream>

#include <catch2/catch.hpp>

namespace curfew::plan {
namespace {

using schema::Action;
namespace slot = schema::slot;

constexpr const char* Policy = R"(language 1
package tests.plan
image python311 {
  digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
}
sandbox work when task.kind == "work" {
  image {
    allow     python311
    exec      any
    size      cpu 1 at most 4, memory 256MiB at most 1GiB
    isolation any
  }
  identity { token audience "bridge" lives 15m }
  filesystem { scratch "/work" 64MiB }
  lifetime {
    ttl   10m at most 20m
    grace 5s
  }
}
)";

// Allows everything, so that the plan is what is tested.
class Generous final : public module::DecisionEngine {
 public:
  explicit Generous(module::PolicyModule policy) : policy_(std::move(policy)) {}
  void Decide(const module::Request&, module::Verdict& verdict) const override {
    verdict.effect = module::Effect::Allow;
    verdict.class_index = 0;
    verdict.allows.Add(0);
  }
  [[nodiscard]] const module::PolicyModule& module() const override { return policy_; }
  [[nodiscard]] std::string_view kind() const override { return "generous"; }

 private:
  module::PolicyModule policy_;
};

struct Fixture {
  fakes::TemporaryDirectory directory;
  Bytes bytes;
  std::unique_ptr<Generous> engine;
  module::PlanTemplate granted;
  module::Request request{Action::Create};
  Circumstances here{.sandbox = {.id = "cf-abcdefghij234567", .nonce = std::string(32, 'a')},
                     .wall_ms = 1'000'000,
                     .monotonic_ms = 5'000,
                     .capabilities = {"emulation"}};

  Fixture() {
    const std::string path = directory.path() + "/plan.curfew";
    std::ofstream(path) << Policy;
    const std::vector<std::string> paths = {path};
    bytes = *tool::CompileModule(paths);
    engine = std::make_unique<Generous>(*module::PolicyModule::Load(bytes, 1));
    granted = engine->module().plan(0);
    request.SetDigest(slot::CreateImage, granted.images.front().digest);
  }

  Result<Plan> Drafted() {
    struct Sink final : gate::DecisionSink {
      Outcome Record(const gate::Answer&, const module::Request*) override { return Ok(); }
    } sink;
    const gate::PolicyInForce policy(*engine);
    const auto decision = gate::Gate(policy, sink).Decide<Action::Create>(request);
    return Draft(*decision.permit, granted, here);
  }

  void Denied(std::string_view word) {
    const Result<Plan> plan = Drafted();
    REQUIRE_FALSE(plan);
    INFO(plan.error().message);
    CHECK(plan.error().code == FailureCode::Denied);
    CHECK(plan.error().message.find(word) != std::string::npos);
  }
};

TEST_CASE_METHOD(Fixture, "a plan has the class's defaults, in the order of the end reversed") {
  const Plan plan = *Drafted();
  std::string names;
  for (const Step& step : plan.steps) names += std::string(NameOf(step)) + " ";
  CHECK(names == "image cgroups scratch machine agent token identity ");
  CHECK(plan.vcpus == 1);
  CHECK(plan.memory_bytes == 256u << 20);
  CHECK(plan.isolation == Isolation::Emulated);
  CHECK(plan.lifetime.deadline_ms == 5'000 + 600'000);
  CHECK(plan.deadline_wall_ms == 1'000'000 + 600'000);
  CHECK(plan.lifetime.grace_ms == 5'000);
  // The token asks for more time than there is, and ends with the sandbox.
  CHECK(std::get<MintToken>(plan.steps[5]).expires_ms == plan.deadline_wall_ms);
  CHECK(Describe(plan).find("an encrypted disk of 64MiB at /work") != std::string::npos);
}

TEST_CASE_METHOD(
    Fixture,
    "a class that lets something out has its wire before its machine and its gateway after") {
  granted.network = true;
  here.capabilities.insert("egress");
  const Plan plan = *Drafted();
  std::string names;
  for (const Step& step : plan.steps) names += std::string(NameOf(step)) + " ";
  CHECK(names == "image cgroups scratch network machine agent gateway token identity ");
}

TEST_CASE_METHOD(Fixture, "wishes count, and memory is whole mebibytes") {
  request.SetInteger(slot::CreateCpu, 4);
  request.SetInteger(slot::CreateMemory, (512ll << 20) + 4097);
  request.SetInteger(slot::CreateTtl, 1'200'000);
  here.capabilities.insert("kvm");
  const Plan plan = *Drafted();
  CHECK(plan.vcpus == 4);
  CHECK(plan.memory_bytes == 512u << 20);
  CHECK(plan.lifetime.deadline_ms == 5'000 + 1'200'000);
  CHECK(plan.isolation == Isolation::Kvm);
}

TEST_CASE_METHOD(Fixture, "what the template does not grant is no plan, whatever was allowed") {
  SECTION("more processors") {
    request.SetInteger(slot::CreateCpu, 5);
    Denied("cpu");
  }
  SECTION("no time at all") {
    request.SetAbsent(slot::CreateTtl);
    granted.ttl_ms.standard = 0;
    Denied("ttl");
  }
  SECTION("another image") {
    const Digest other{};
    request.SetDigest(slot::CreateImage, other);
    Denied("image");
  }
  SECTION("a token that lives longer than any may") {
    granted.token->lives_ms = limits::TokenLifeMsMax + 1;
    Denied("no token lives longer than 7d");
  }
  SECTION("time past its end") {
    granted.ttl_ms.most = INT64_MAX;
    request.SetInteger(slot::CreateTtl, INT64_MAX);
    Denied("ttl");
  }
}

TEST_CASE_METHOD(Fixture, "a step that nothing here can do is denied by its name") {
  SECTION("hardware isolation, by the class") {
    granted.isolation = module::Isolation::Kvm;
    Denied("builtin.unsupported");
  }
  SECTION("hardware isolation, by the wish") {
    request.SetInteger(slot::CreateIsolation, 0);
    Denied("builtin.unsupported");
  }
  SECTION("any machine") {
    here.capabilities.clear();
    Denied("builtin.unsupported");
  }
  SECTION("egress") {
    granted.network = true;
    Denied("builtin.unsupported");
  }
  SECTION("reading inside TLS") {
    granted.inspects_tls = true;
    Denied("`inspect`");
  }
  SECTION("WebSockets") {
    granted.opens_websockets = true;
    Denied("`websocket`");
  }
  SECTION("secrets that rules send") {
    granted.secret_uses = {{"c.network.a", "token"}};
    Denied("`secrets`");
  }
  SECTION("allows that stay off the record") {
    granted.evidence.unrecorded_allows.set(0);
    Denied("`omit`");
  }
  SECTION("freezing") {
    granted.idle_ms = 1'000;
    granted.idle_end = module::IdleEnd::Freeze;
    Denied("builtin.unsupported");
  }
  SECTION("a guest too small to boot") {
    request.SetInteger(slot::CreateMemory, 64ll << 20);
    Denied("builtin.unsupported");
  }
  SECTION("scratch beyond the disk") {
    granted.disk_is_bounded = true;
    granted.disk_bytes = {.standard = 32ll << 20, .most = 32ll << 20};
    Denied("builtin.unsupported");
  }
}

}  // namespace
}  // namespace curfew::plan
