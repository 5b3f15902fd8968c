// The keeper's question about a request out is put together once and used again: nothing of one
// request, or of the set that was in force before, is in the next.
#include "runtime/keeper/questions.h"

#include "compiler/module/engine.h"
#include "compiler/tool/compile_set.h"
#include "runtime/host/linux/linux_host.h"
#include "tests/fakes/places.h"

#include <fstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::keeper {
namespace {

using egress::EgressFacts;
using egress::Scheme;
using egress::Visible;
using schema::Stage;

constexpr const char* Policy = R"(language 1
package tests.questions
attributes task {{
{}
}}
image python311 {{
  digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
}}
sandbox work when task.kind == "work" {{
  image {{
    allow     python311
    exec      any
    size      cpu 1, memory 256MiB
    isolation any
  }}
  lifetime {{ ttl 10m }}
}}
)";

// Holds a set; nobody asks it here.
class Unasked final : public module::DecisionEngine {
 public:
  Unasked(const std::string& attributes, std::uint64_t generation) {
    const fakes::TemporaryDirectory directory;
    const std::string path = directory.path() + "/questions.curfew";
    std::ofstream(path) << fmt::format(fmt::runtime(Policy), attributes);
    const std::vector<std::string> paths = {path};
    Result<Bytes> compiled = tool::CompileModule(paths);
    INFO((compiled ? std::string() : compiled.error().message));
    REQUIRE(compiled);
    bytes_ = *std::move(compiled);
    policy_.emplace(*module::PolicyModule::Load(bytes_, generation));
  }
  void Decide(const module::Request&, module::Verdict&) const override {}
  [[nodiscard]] const module::PolicyModule& module() const override { return *policy_; }
  [[nodiscard]] std::string_view kind() const override { return "unasked"; }

 private:
  Bytes bytes_;
  std::optional<module::PolicyModule> policy_;
};

evidence::Json CreateRequest() {
  return {{"version", 1},
          {"action", "create"},
          {"task",
           {{"id", "t1"},
            {"owner", "user:ana"},
            {"team", "platform"},
            {"kind", "work"},
            {"trigger", "human"},
            {"level", 3},
            {"ticket", "T-1"}}},
          {"create", {{"image", "sha256:" + std::string(64, 'a')}}}};
}

struct Desk {
  host::LinuxHost host;
  Unasked first{"  level: int\n  ticket: string?", 1};
  gate::PolicyInForce policy{first};
  SandboxFacts sandbox{.id = "s1", .class_name = "work", .image = {}, .creator = "user:ana"};

  std::unique_ptr<Questions> Fresh() {
    auto questions = std::make_unique<Questions>(policy, *host.clock,
                                                 Caller{.id = "user:ana", .groups = {"group:x"}},
                                                 std::set<std::string, std::less<>>{});
    const Outcome stated = questions->StateCreate(CreateRequest());
    INFO((stated ? std::string() : stated.error().message));
    REQUIRE(stated);
    return questions;
  }
};

// All that a request says but the time, which goes on.
std::string Said(const module::Request& request, const module::PolicyModule& policy) {
  module::Request timeless = request;
  timeless.SetNow(0);
  std::string said = fmt::format("{} ", static_cast<int>(request.stage()));
  for (schema::Slot slot = 0; slot < limits::AttributesPerActionMax; ++slot) {
    said += request.is_present(slot) ? 'p' : request.is_known(slot) ? 'a' : '-';
  }
  return said + FactsOf(timeless, policy).dump();
}

TEST_CASE("a question about a request out holds nothing of the one before it") {
  Desk desk;
  const auto prepared = desk.Fresh();
  std::vector<EgressFacts> all(5);
  all[0].stage = Stage::Request;
  all[0].scheme = Scheme::Http;
  all[0].host = "files.example";
  all[0].ip = *values::ParseAddress("198.51.100.7");
  all[0].port = 80;
  all[0].http = Visible::Seen;
  all[0].method = "POST";
  all[0].path = "/in/x";
  all[0].query = "a=b";
  all[0].bytes = 77;
  all[0].requests = 5;
  all[0].total = 99;
  all[1].host = "db.example";  // of which nothing else is known
  all[1].port = 5432;
  all[2].stage = Stage::Address;  // by address, as a stream
  all[2].scheme = Scheme::Tcp;
  all[2].ip = *values::ParseAddress("203.0.113.9");
  all[2].http = Visible::Hidden;
  all[3] = all[0];
  all[3].ip.reset();
  all[3].query.reset();
  all[3].method = "GET";
  for (std::size_t before = 0; before < all.size(); ++before) {
    for (const EgressFacts& facts : all) {
      (void)prepared->AskEgress(all[before], desk.sandbox);
      desk.sandbox.age_ms += 1000;
      desk.sandbox.token_valid = !desk.sandbox.token_valid;
      const std::string again =
          Said(prepared->AskEgress(facts, desk.sandbox), desk.policy.module());
      CHECK(again == Said(desk.Fresh()->AskEgress(facts, desk.sandbox), desk.policy.module()));
    }
  }
}

TEST_CASE("after a reload a question means what the new set declares") {
  Desk desk;
  const auto questions = desk.Fresh();
  EgressFacts facts;
  facts.host = "files.example";
  const auto said = [&] {
    return FactsOf(questions->AskEgress(facts, desk.sandbox), desk.policy.module());
  };
  CHECK(said()["task.level"] == 3);
  CHECK(said()["task.ticket"] == "T-1");
  // Other places; and one that means something else now, so that nobody knows it.
  const Unasked second("  before: string?\n  level: string?\n  ticket: string?", 2);
  desk.policy.Adopt(second);
  CHECK(said()["task.ticket"] == "T-1");
  CHECK_FALSE(said().contains("task.level"));
  CHECK_FALSE(said().contains("task.before"));
  const Unasked third("  level: int", 3);
  desk.policy.Adopt(third);
  CHECK(said()["task.level"] == 3);
  CHECK_FALSE(said().contains("task.ticket"));
  desk.policy.Adopt(desk.first);
  CHECK(said()["task.ticket"] == "T-1");
}

}  // namespace
}  // namespace curfew::keeper
