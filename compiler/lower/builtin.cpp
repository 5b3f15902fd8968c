#include "compiler/base/check.h"
#include "compiler/lower/lowering.h"

#include <array>

namespace curfew::lower {
namespace {

namespace slot = schema::slot;

constexpr std::string_view kInvalid = "request.invalid";

// A request that carries a number which none of its kind can be. A wish may be left out; what must
// be there and is not cannot be read, and so it is denied as well.
void Check(Lowering& lowering, Action action, Block& block, NodeOp op, Slot slot,
           std::int64_t value, std::string_view message) {
  ir::Builder& b = lowering.builder;
  const schema::Attribute& attribute = schema::AttributesOf(action)[slot];
  const bool may_be_absent = attribute.type.optional || attribute.origin == schema::Origin::Wish;
  NodeId wrong = lowering.Test(op, slot, value);
  if (may_be_absent) wrong = b.And(b.Has(slot), wrong);
  block.checks.push_back({lowering.Deny(kInvalid, message), wrong});
}

void CheckPort(Lowering& lowering, Action action, Block& block, Slot slot) {
  Check(lowering, action, block, NodeOp::Less, slot, 1, "a port is 1 to 65535");
  Check(lowering, action, block, NodeOp::Greater, slot, 65535, "a port is 1 to 65535");
}

// What the decoder of requests sees to, judged again: a request may come from elsewhere.
void LowerChecks(Lowering& lowering, Action action, Block& block) {
  switch (action) {
    case Action::Create:
      Check(lowering, action, block, NodeOp::Less, slot::CreateCpu, 1, "`cpu` must be at least 1");
      Check(lowering, action, block, NodeOp::Less, slot::CreateMemory, 1,
            "`memory` must be at least 1B");
      Check(lowering, action, block, NodeOp::Less, slot::CreateDisk, 1,
            "`disk` must be at least 1B");
      Check(lowering, action, block, NodeOp::Less, slot::CreateTtl, 1,
            "`ttl` must be longer than nothing");
      return;
    case Action::Egress:
      CheckPort(lowering, action, block, slot::EgressPort);
      return;
    case Action::Resume:
      Check(lowering, action, block, NodeOp::Less, slot::ResumeTtl, 1,
            "`ttl` must be longer than nothing");
      return;
    case Action::Expose:
      CheckPort(lowering, action, block, slot::ExposePort);
      Check(lowering, action, block, NodeOp::Less, slot::ExposeLasts, 1,
            "`lasts` must be longer than nothing");
      return;
    case Action::Snapshot:
      Check(lowering, action, block, NodeOp::Less, slot::SnapshotExpiresIn, 1,
            "`expires_in` must be longer than nothing");
      return;
    case Action::Import:
      Check(lowering, action, block, NodeOp::Less, slot::ImportSize, 0,
            "`size` cannot be negative");
      return;
    case Action::Export:
      Check(lowering, action, block, NodeOp::Less, slot::ExportSize, 0,
            "`size` cannot be negative");
      return;
    case Action::Extend:
      Check(lowering, action, block, NodeOp::Less, slot::ExtendBy, 1,
            "`by` must be longer than nothing");
      return;
    case Action::Exec:
    case Action::Observe:
      return;
  }
  CURFEW_UNREACHABLE("the switch names every action");
}

}  // namespace

RuleIndex Lowering::Row(std::string_view id, module::Effect effect, std::string_view message,
                        source::Span span) {
  ir::RuleText text{std::string(id), effect, std::string(message), {}, 0, 0};
  if (!span.is_nowhere() && span.file < sources.size()) {
    const source::Position position = sources.PositionOf(span.file, span.begin);
    text.file = std::string(sources.name(span.file));
    text.line = position.line;
    text.column = position.column;
  }
  return builder.Rule(text);
}

NodeId LowerOwnAccess(Lowering& lowering) {
  ir::Builder& b = lowering.builder;
  const TermId caller = lowering.Text(slot::CallerId);
  const TermId owner = lowering.Text(slot::TaskOwner);
  return b.Or(std::array{b.Compare(NodeOp::Equal, caller, lowering.Text(slot::SandboxCreator)),
                         b.Compare(NodeOp::Equal, caller, owner),
                         b.Compare(NodeOp::In, owner, lowering.TextItems(slot::CallerGroups)),
                         lowering.Test(NodeOp::Equal, slot::CallerOperator, 1)});
}

NodeId LowerListedAccess(Lowering& lowering, const std::vector<std::string>& principals) {
  ir::Builder& b = lowering.builder;
  if (principals.empty()) return b.Constant(false);
  const TermId listed = b.TextSetTerm(principals);
  return b.Or(b.Compare(NodeOp::In, lowering.Text(slot::CallerId), listed),
              b.Compare(NodeOp::Intersects, lowering.TextItems(slot::CallerGroups), listed));
}

Block LowerSetBlock(Lowering& lowering, Action action) {
  Block block;
  LowerChecks(lowering, action, block);
  LowerRules(lowering, lowering.rules.back(), action, block);
  return block;
}

// A class that a reload removed denies everything; what was recorded stays readable for those who
// need no class to be allowed it.
Block LowerGoneBlock(Lowering& lowering, Action action) {
  Block block;
  if (action == Action::Observe) {
    const RuleIndex denial =
        lowering.Deny("builtin.access", "only its creator, its owner or an operator may read it");
    block.groups.push_back(
        {{{lowering.Allow("builtin.access", "the caller may read it"), LowerOwnAccess(lowering)}},
         denial,
         denial});
    return block;
  }
  block.denials.push_back({lowering.Deny("class.gone",
                                         "the policy set has no class of the sandbox's name any "
                                         "more, so nothing is granted to it")});
  return block;
}

void LowerSelection(Lowering& lowering) {
  module::SelectionRules rules;
  rules.none = lowering.Deny("class.none", "no class of the policy set takes such a task");
  rules.ambiguous = lowering.Deny("class.ambiguous",
                                  "more than one class takes such a task, and none narrows the "
                                  "other");
  rules.not_selected = lowering.Deny("class.not_selected",
                                     "the class that was named is not the one that is selected");
  rules.gone = lowering.Deny("class.gone",
                             "the policy set has no class of the sandbox's name any more, so "
                             "nothing is granted to it");
  rules.invalid = lowering.Deny(kInvalid, "the request does not fit the schema");
  lowering.builder.SetSelection(rules);
}

}  // namespace curfew::lower
