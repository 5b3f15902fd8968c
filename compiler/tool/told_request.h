// A request that a proof came upon, as people read it: what decided it, and the facts that the
// deciding rules read.
#pragma once

#include "compiler/module/engine.h"
#include "compiler/tool/answer.h"

#include <string>
#include <string_view>
#include <vector>

namespace curfew::tool {

struct ToldRequest {
  Answer answer;
  std::vector<std::string> facts;  // `egress.host is "a.example"`
};

// `request` is JSON as `eval` reads it. Malformed where the set's schema does not take it.
Result<ToldRequest> Tell(const module::DecisionEngine& engine, std::string_view request);

// The facts one a line, each line behind `indent`.
std::string FactLines(const ToldRequest& told, std::string_view indent);

}  // namespace curfew::tool
