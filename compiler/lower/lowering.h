// What every part of the lowering shares: the model it reads, the builder it fills, and how a rule
// gets its row. Private to the room.
#pragma once

#include "compiler/ir/decision_ir.h"
#include "compiler/lower/lower.h"
#include "compiler/model/chain.h"
#include "compiler/model/policy_model.h"
#include "compiler/source/source.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace curfew::lower {

using ir::Block;
using ir::Entry;
using ir::NodeId;
using ir::NodeOp;
using ir::RuleIndex;
using ir::TermId;
using module::ValueClass;
using schema::Action;
using schema::Slot;

struct Lowering {
  const model::PolicyModel& model;
  const source::SourceMap& sources;
  ir::Builder& builder;
  // The rules of each class, of the floor, and without a class those of the whole set.
  std::map<std::optional<model::ClassId>, std::vector<const model::Rule*>> rules;
  std::map<std::optional<model::ClassId>, std::vector<const model::Rule*>> trials;

  // What a rule of the network plane says: lowered for the first class that has it.
  struct Said {
    NodeId says = ir::NoIndex;
    NodeId within = ir::NoIndex;
  };
  std::unordered_map<const model::EgressRule*, Said> said = {};
  // The same of a rule of a class or the set, action by action.
  std::map<std::pair<const model::Rule*, Action>, NodeId> conditions = {};

  // The row of a reason: where `span` points to, or nowhere for what nobody wrote.
  RuleIndex Row(std::string_view id, module::Effect effect, std::string_view message,
                source::Span span = {}, bool never = false);
  RuleIndex Deny(std::string_view id, std::string_view message, source::Span span = {}) {
    return Row(id, module::Effect::Deny, message, span);
  }
  RuleIndex Never(std::string_view id, std::string_view message, source::Span span) {
    return Row(id, module::Effect::Deny, message, span, true);
  }
  RuleIndex Allow(std::string_view id, std::string_view message, source::Span span = {}) {
    return Row(id, module::Effect::Allow, message, span);
  }

  // The same condition; an author wrote it, and a test may see it both ways.
  NodeId Written(RuleIndex rule, NodeId condition) {
    builder.Written(rule, condition);
    return condition;
  }

  TermId Integer(Slot slot) { return builder.SlotTerm(slot, ValueClass::Integer); }
  TermId Text(Slot slot) { return builder.SlotTerm(slot, ValueClass::Text); }
  TermId TextItems(Slot slot) { return builder.SlotTerm(slot, ValueClass::TextItems); }
  // A comparison of an integer fact with a number.
  NodeId Test(NodeOp op, Slot slot, std::int64_t value) {
    return builder.Compare(op, Integer(slot), builder.IntegerTerm(value));
  }
};

// expression.cpp: a condition of the model in requests of `action`. NoExpr is true.
NodeId LowerCondition(Lowering& lowering, model::ExprId expression, Action action);

// rule.cpp: a condition while the trial lasts; the condition itself where there is none.
NodeId WhileOnTrial(Lowering& lowering, const std::optional<model::Trial>& trial, NodeId condition);

// builtin.cpp: what stands in no plane.
// Who may ask: creator, owner, operator.
NodeId LowerOwnAccess(Lowering& lowering);
// Who is named by `access`.
NodeId LowerListedAccess(Lowering& lowering, const model::AccessGrant& grant);
// Of such a grant what a caller can be: no caller is a group, and only groups have members.
void TellWrittenAccess(Lowering& lowering, RuleIndex row, const model::AccessGrant& grant);
// Who is named by every `access` of the class's chain; nobody where there is none.
NodeId LowerAccessOf(Lowering& lowering, const model::Class& of);
// The blocks of the whole set and of a sandbox whose class is gone.
Block LowerSetBlock(Lowering& lowering, Action action);
Block LowerGoneBlock(Lowering& lowering, Action action);
void LowerSelection(Lowering& lowering);

// class_block.cpp, network.cpp: a class, action by action.
Block LowerClassBlock(Lowering& lowering, const model::Class& of, Action action);
void LowerNetwork(Lowering& lowering, const model::Class& of, Block& block);
// lifetime.cpp: time, and how it may grow.
void LowerTime(Lowering& lowering, const model::Class& of, Action action, Block& block);
void LowerExtend(Lowering& lowering, const model::Class& of, Block& block);
// filesystem.cpp: `import` and `export`; the volumes of a create, behind its groups of images.
void LowerTransfer(Lowering& lowering, const model::Class& of, Action action, Block& block);
void LowerPersist(Lowering& lowering, const model::Class& of, NodeId image_is_allowed,
                  Block& block);
// snapshot.cpp: what is kept of a sandbox, and what runs again, also of what was frozen.
void LowerSnapshot(Lowering& lowering, const model::Class& of, Block& block);
void LowerResume(Lowering& lowering, const model::Class& of, Block& block);
void LowerResumeAccess(Lowering& lowering, const model::Class& of, Block& block);
const model::SnapshotRule* RuleOf(const model::Class& link, module::SnapshotKind kind);
// How long a snapshot of the kind is kept, as the links that grant it say together.
std::optional<model::Bound> SnapshotExpiresOf(const model::PolicyModel& model,
                                              const model::Class& of, module::SnapshotKind kind);
// identity.cpp: secrets and variables; the grants that an allowed create bears, in its images'
// group.
void LowerIdentityWishes(Lowering& lowering, const model::Class& of, Block& block);
void NameIdentityGrants(Lowering& lowering, const model::Class& of, NodeId image_is_allowed,
                        ir::Group& images);
void LowerIdentityNeeds(Lowering& lowering, const model::Class& of, Block& block);
void PlanIdentity(const model::PolicyModel& model, const model::Class& of,
                  module::PlanTemplate& plan);
// exposure.cpp: bounds of what leaves, and the ports inside that may be reached.
void LowerLimits(Lowering& lowering, const model::Class& of, Block& block);
void LowerExpose(Lowering& lowering, const model::Class& of, Block& block);
// The denials of a class, or of the whole set, that are about `action`, and those on trial.
void LowerRules(Lowering& lowering, std::optional<model::ClassId> of_class, Action action,
                Block& block);

// plan.cpp: what is bounded where nothing is written, and the plan template of a class.
struct SizeBounds {
  model::Bound cpu;
  model::Bound memory;
  model::Bound disk;
  bool disk_is_bounded = false;
};
SizeBounds SizesOf(const model::PolicyModel& model, const model::Class& of);
model::Bound TtlOf(const model::PolicyModel& model, const model::Class& of);
module::Isolation IsolationOf(const model::PolicyModel& model, const model::Class& of);
// Whether idleness freezes it, which a host must be able to do.
bool CanFreeze(const model::PolicyModel& model, const model::Class& of);
void PlanSnapshots(const model::PolicyModel& model, const model::Class& of,
                   module::PlanTemplate& plan);
// What goes in, out and is kept.
void PlanKept(const model::PolicyModel& model, const model::Class& of, module::PlanTemplate& plan);
bool HasNetwork(const model::PolicyModel& model, const model::Class& of);
// Whether some allow of the chain is one that `is_it` means.
template <typename Is>
bool SomeAllow(const model::PolicyModel& model, const model::Class& of, const Is& is_it) {
  if (!HasNetwork(model, of)) return false;
  for (const model::Class* link : ChainOf(model, of)) {
    for (const model::EgressRule& rule : link->network.rules) {
      if (rule.effect == model::EgressRule::Effect::Allow && is_it(rule)) return true;
    }
  }
  return false;
}
// Whether a gateway must read inside TLS: the chain wants it, and some allow needs it.
bool InspectsTls(const model::PolicyModel& model, const model::Class& of);
bool OpensWebsockets(const model::PolicyModel& model, const model::Class& of);
module::Evidence EvidenceOf(const model::PolicyModel& model, const model::Class& of);

}  // namespace curfew::lower
