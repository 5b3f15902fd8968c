#include "compiler/lower/lower.h"

#include "compiler/ir/encode.h"
#include "compiler/lower/lowering.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::lower {
namespace {

// For each class every class that narrows it, near or far.
std::vector<std::vector<module::ClassIndex>> NarrowersOf(const model::PolicyModel& model) {
  std::vector<std::vector<module::ClassIndex>> narrowers(model.classes.size());
  for (std::size_t i = 0; i < model.classes.size(); ++i) {
    for (const model::ClassId base : model.classes[i].chain) {
      const auto index = static_cast<std::size_t>(base);
      if (index != i) narrowers[index].push_back(static_cast<module::ClassIndex>(i));
    }
  }
  return narrowers;
}

void LowerClass(Lowering& lowering, std::size_t index,
                std::span<const module::ClassIndex> narrowers) {
  const model::Class& of = lowering.model.classes[index];
  ir::Builder& b = lowering.builder;
  const RuleIndex row = lowering.Allow(of.name, of.doc, of.span);
  std::vector<NodeId> conditions;
  for (const model::Class* link : ChainOf(lowering.model, of)) {
    conditions.push_back(LowerCondition(lowering, link->when, Action::Create));
    if (link == &of) lowering.Written(row, conditions.back());
  }
  b.AddClass(of.name, row, b.And(conditions), of.by_name, narrowers);
  for (const schema::ActionInfo& info : schema::Actions()) {
    b.SetBlock(module::BlockOf(static_cast<module::ClassIndex>(index), info.action),
               LowerClassBlock(lowering, of, info.action));
  }
}

module::DeclaredAttribute DeclaredOf(const model::PolicyModel& model,
                                     const model::DeclaredAttribute& attribute) {
  module::DeclaredAttribute declared;
  declared.path = attribute.path;
  declared.kind = attribute.type.kind;
  declared.collection = attribute.type.collection;
  declared.optional = attribute.type.optional;
  declared.restated = attribute.restated;
  declared.elements_most = attribute.type.elements_max;
  if (attribute.type.kind == schema::TypeKind::Enum) {
    declared.enum_values = model.enums[static_cast<std::size_t>(attribute.type.enumeration)].values;
  }
  return declared;
}

}  // namespace

Result<ir::DecisionIr> Lower(const model::PolicyModel& model, const source::SourceMap& sources) {
  if (model.rules.size() + model.classes.size() > limits::RulesMax) {
    return Failure(FailureCode::TooLarge,
                   fmt::format("the policy set has more than {} rules", limits::RulesMax));
  }
  ir::Builder builder;
  Lowering lowering{model, sources, builder, {}, {}};
  for (const model::Rule& rule : model.rules) lowering.rules[rule.of_class].push_back(&rule);
  for (const model::Rule& rule : model.trials) lowering.trials[rule.of_class].push_back(&rule);
  LowerSelection(lowering);
  const auto narrowers = NarrowersOf(model);
  for (std::size_t i = 0; i < model.classes.size(); ++i) LowerClass(lowering, i, narrowers[i]);
  for (const schema::ActionInfo& info : schema::Actions()) {
    builder.SetBlock(module::SetBlock(model.classes.size(), info.action),
                     LowerSetBlock(lowering, info.action));
    builder.SetBlock(module::GoneBlock(model.classes.size(), info.action),
                     LowerGoneBlock(lowering, info.action));
  }

  ir::DecisionIr ir = std::move(builder).Finish();
  ir.policy = model.digest;
  ir.language = static_cast<std::uint32_t>(model.language);
  ir.compiler = CURFEW_VERSION;
  for (const model::Class& of : model.classes) ir.plans.push_back(PlanOf(model, of));
  for (const model::DeclaredAttribute& attribute : model.declared) {
    ir.declared.push_back(DeclaredOf(model, attribute));
  }
  CURFEW_TRY_VOID(ir::Verify(ir));
  return ir;
}

}  // namespace curfew::lower
