// The language's meaning a second time, read off the PolicyModel with no tables, no sharing and no
// care for speed: what lowering, encoding and the interpreter together must agree with.
#pragma once

#include "compiler/model/policy_model.h"
#include "compiler/module/request.h"

#include <set>
#include <string>

namespace curfew::properties {

struct NaiveAnswer {
  bool allow = false;
  bool undecided = false;
  bool only_nevers = false;  // deny, at the last stage and for sure
  std::string class_name;    // empty without one
  std::set<std::string> denials;
  std::set<std::string> allows;
  std::set<std::string> trials;
};

NaiveAnswer DecideNaively(const model::PolicyModel& model, const module::Request& request);

}  // namespace curfew::properties
