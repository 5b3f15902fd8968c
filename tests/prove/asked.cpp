#include "tests/prove/asked.h"

#include "compiler/module/capability.h"
#include "compiler/module/request_json.h"
#include "compiler/prove/prove_never.h"

#include <algorithm>

#include <catch2/catch.hpp>

namespace curfew::prove {

AskedSet Ask(const std::string& text, std::uint64_t steps) {
  diagnostics::Sink sink;
  AskedSet asked{properties::CompileSet({text}, sink), {}};
  for (const auto& diagnostic : sink.diagnostics()) UNSCOPED_INFO(diagnostic.message);
  INFO(text);
  REQUIRE(asked.set != nullptr);
  Solver solver;
  for (const module::RuleIndex never : NeversOf(asked.set->engine->module())) {
    asked.answers.push_back(ProveNever(*asked.set->engine, never, solver, steps));
  }
  return asked;
}

bool IsConfirmed(const properties::Compiled& set, const Answer& answer) {
  const module::PolicyModule& policy = set.engine->module();
  auto decoding =
      module::DecodeRequestText(answer.text, policy.declared(), module::StatedBy::Author);
  if (!decoding || !*decoding) return false;
  std::vector<module::Value> all;
  for (const std::string_view word : module::capability::All) {
    all.push_back(module::Value::OfText(word));
  }
  decoding->decoded->request.Set(schema::slot::HostCapabilities, module::Value::OfItems(all));
  module::VerdictRoom room;
  set.engine->Decide(decoding->decoded->request, room.verdict);
  const auto denials = room.verdict.denials.written();
  return module::OnlyNeversDeny(policy, room.verdict) &&
         std::ranges::find(denials, answer.never) != denials.end() &&
         std::ranges::equal(room.verdict.allows.written(), answer.allows);
}

}  // namespace curfew::prove
