// A PolicyModel as text: for goldens and `--dump=model`, and, in parts, the canonical text from
// which ids and the set's digest are made. Deterministic and injective; no spans, no ids of nodes.
#pragma once

#include "compiler/model/policy_model.h"

#include <string>

namespace curfew::model {

// All of it.
std::string Print(const PolicyModel& model);
// What the digest is over: neither packages, tests nor docs.
std::string PrintDeclarations(const PolicyModel& model);

std::string Print(const PolicyModel& model, ExprId expression);
std::string Print(const PolicyModel& model, const Constant& constant);
std::string Print(const PolicyModel& model, const Type& type);

// What a rule says, without its id: two rules of one place that say the same are one.
std::string RuleText(const PolicyModel& model, const Rule& rule);
std::string RuleText(const PolicyModel& model, const TransferRule& rule);
std::string RuleText(const PolicyModel& model, const EgressRule& rule);
std::string RuleText(const PolicyModel& model, const ExposeRule& rule);
std::string Print(const Audience& audience);

}  // namespace curfew::model
