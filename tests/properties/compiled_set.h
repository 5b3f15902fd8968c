// A policy set through the whole line, from text to an engine over its bytes, and answers in a form
// that tests can compare.
#pragma once

#include "compiler/diagnostics/sink.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/model/policy_model.h"
#include "compiler/module/request.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace curfew::properties {

struct Answer {
  bool allow = false;
  bool undecided = false;
  bool only_nevers = false;
  std::string class_name;
  std::set<std::string> denials;
  std::set<std::string> allows;
  std::set<std::string> trials;
  friend bool operator==(const Answer&, const Answer&) = default;
};
std::string Text(const Answer& answer);

// A set that compiled: its model, and an engine over bytes of its own.
struct Compiled {
  model::PolicyModel model;
  Bytes bytes;
  std::optional<interpret::Interpreter> engine;

  [[nodiscard]] Answer Decide(const module::Request& request) const;
};

// Null where the sink has errors. What the checker passes and the rest of the line does not is a
// failure of the test.
std::unique_ptr<Compiled> CompileSet(const std::vector<std::string>& files,
                                     diagnostics::Sink& sink);

}  // namespace curfew::properties
