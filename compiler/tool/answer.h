// The answer to a request with every reason named, as people and machines read it.
#pragma once

#include "compiler/base/json.h"
#include "compiler/module/create_plan.h"
#include "compiler/module/engine.h"
#include "compiler/module/policy_module.h"
#include "compiler/module/request_json.h"

#include <optional>
#include <string>
#include <vector>

namespace curfew::tool {

struct Reason {
  std::string id;
  std::string message;
  std::string file;  // empty for a built-in
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct Answer {
  enum class Decision { Allow, Deny, Undecided };
  Decision decision = Decision::Deny;
  std::string action;
  std::string stage;
  std::string class_name;  // empty where none was selected
  std::vector<Reason> denials;
  std::vector<Reason> allows;
  std::vector<Reason> trials;
  bool is_cut = false;         // more reasons hold than a verdict has room for
  std::string missing;         // the fact that an undecided answer depends on
  std::string fault;           // a sentence, where the decision contradicts a proof
  std::string policy;          // digest of the set
  std::string engine;          // what decided: a kind of module::DecisionEngine
  std::string why_not_native;  // where native code was wanted and there is none
  std::optional<module::PlanTemplate> granted;  // of an allowed create
  std::optional<module::CreatePlan> plan;
};

Answer AnswerOf(const module::DecisionEngine& engine, const module::Request& request);
// The answer to a document that does not fit the schema: denied as a whole.
Answer AnswerOf(const module::PolicyModule& policy,
                const std::vector<module::RequestProblem>& problems);

// 0 allowed, 2 denied, 4 undecided.
int ExitStatusOf(const Answer& answer);

std::string RenderText(const Answer& answer, bool color);
// One line of JSON, version 1; README.md says what stands in it.
std::string RenderJson(const Answer& answer);

// Of a line that could not be asked, counted from 1.
std::string RenderText(std::size_t line, const Failure& failure);
std::string RenderJson(std::size_t line, const Failure& failure);

}  // namespace curfew::tool
