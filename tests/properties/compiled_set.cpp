#include "tests/properties/compiled_set.h"

#include "compiler/check/check.h"
#include "compiler/ir/encode.h"
#include "compiler/lower/lower.h"
#include "compiler/syntax/parse.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::properties {

std::string Text(const Answer& answer) {
  return fmt::format("{}{}{} class {} denials [{}] allows [{}] trials [{}]",
                     answer.allow ? "allow" : "deny", answer.undecided ? " (undecided)" : "",
                     answer.only_nevers ? " (by nevers only)" : "", answer.class_name,
                     fmt::join(answer.denials, " "), fmt::join(answer.allows, " "),
                     fmt::join(answer.trials, " "));
}

Answer Compiled::Decide(const module::Request& request) const {
  module::VerdictRoom room;
  engine->Decide(request, room.verdict);
  const module::Verdict& verdict = room.verdict;
  const module::PolicyModule& policy = engine->module();
  Answer answer;
  answer.allow = verdict.effect == module::Effect::Allow;
  answer.undecided = verdict.undecided;
  answer.only_nevers = module::OnlyNeversDeny(policy, verdict);
  if (verdict.class_index != module::NoClass) {
    answer.class_name = policy.class_name(verdict.class_index);
  }
  for (const auto rule : verdict.denials.written()) answer.denials.emplace(policy.rule(rule).id);
  for (const auto rule : verdict.allows.written()) answer.allows.emplace(policy.rule(rule).id);
  for (const auto rule : verdict.trials.written()) answer.trials.emplace(policy.rule(rule).id);
  return answer;
}

std::unique_ptr<Compiled> CompileSet(const std::vector<std::string>& files,
                                     diagnostics::Sink& sink) {
  source::SourceMap sources;
  for (std::size_t i = 0; i < files.size(); ++i) {
    sources.Add({fmt::format("set{}.curfew", i), files[i]});
  }
  const auto trees = syntax::ParseAll(sources, sink);
  auto made = std::make_unique<Compiled>();
  made->model = check::Check(trees, sources, sink);
  if (sink.has_errors()) return nullptr;
  auto code = lower::Lower(made->model, sources);
  if (!code) {
    UNSCOPED_INFO(files.front());
    FAIL(code.error().message);
  }
  made->bytes = ir::Encode(*code);
  auto loaded = module::PolicyModule::Load(made->bytes, 1);
  REQUIRE(loaded);
  made->engine.emplace(*std::move(loaded));
  return made;
}

}  // namespace curfew::properties
