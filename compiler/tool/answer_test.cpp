#include "compiler/tool/answer.h"

#include "compiler/interpret/interpreter.h"
#include "compiler/tool/compile_set.h"

#include <catch2/catch.hpp>

namespace curfew::tool {
namespace {

using Catch::Matchers::Contains;

// Nobody proved this set, and its never does not hold.
constexpr char kPolicy[] = R"(
image i { digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }
sandbox base {
  image    { allow i  exec any }
  lifetime { ttl 1h }
}
root: never exec when exec.user == "root"
)";

Answer AnswerTo(const std::string& user, bool has_time) {
  source::SourceMap sources;
  sources.Add({"set.curfew", kPolicy});
  const auto made = CompileTexts(std::move(sources), {.proofs = Proofs::LeftToCaller});
  REQUIRE(made);
  REQUIRE(made->is_valid());
  auto policy = module::PolicyModule::Load(made->module, 0);
  REQUIRE(policy);
  const interpret::Interpreter engine(*std::move(policy));
  module::Request request(schema::Action::Exec);
  request.SetText(schema::slot::SandboxClass, "base");
  request.SetText(schema::slot::SandboxCreator, "user:ana");
  request.SetText(schema::slot::CallerId, "user:ana");
  request.SetInteger(schema::slot::SandboxTtlLeft, has_time ? 1000 : 0);
  request.SetText(schema::slot::ExecUser, user);
  return AnswerOf(engine, request);
}

TEST_CASE("an answer that contradicts a proof is a deny that says so") {
  const Answer answer = AnswerTo("root", true);
  CHECK(answer.decision == Answer::Decision::Deny);
  CHECK_THAT(RenderText(answer, false), Contains("internal fault: only `never` denies this"));
  CHECK_THAT(RenderJson(answer), Contains(R"("fault":"internal fault)"));
}

TEST_CASE("a never beside another denial is a reason like any other") {
  const Answer answer = AnswerTo("root", false);
  CHECK(answer.decision == Answer::Decision::Deny);
  CHECK(answer.denials.size() == 2);
  CHECK_THAT(RenderText(answer, false), Contains("set.root") && !Contains("internal fault"));
  CHECK_THAT(RenderJson(answer), !Contains("fault"));
  CHECK(AnswerTo("agent", true).decision == Answer::Decision::Allow);
}

}  // namespace
}  // namespace curfew::tool
