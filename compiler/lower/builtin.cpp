#include "compiler/lower/lowering.h"
#include "compiler/module/request_axioms.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

namespace curfew::lower {
namespace {

namespace slot = schema::slot;

constexpr std::string_view kInvalid = "request.invalid";

// What the decoder of requests sees to, judged again, for a request may come from elsewhere: the
// numbers that every request of the action brings. A wish may be left out; what must be there and
// is not cannot be read, and so it is denied as well. Of what the runtime verifies only the gate
// asks, since a fact that nobody knows yet is no mistake.
void LowerChecks(Lowering& lowering, Action action, Block& block) {
  ir::Builder& b = lowering.builder;
  for (const schema::Axiom& axiom : schema::AxiomsOf(action)) {
    const bool at_least = axiom.kind == schema::Axiom::Kind::AtLeast;
    if (!at_least && axiom.kind != schema::Axiom::Kind::AtMost) continue;
    const schema::Attribute& attribute = schema::AttributesOf(action)[axiom.slot];
    const bool is_wish = attribute.origin == schema::Origin::Wish;
    const bool is_brought = is_wish || attribute.origin == schema::Origin::Stated ||
                            (action == Action::Egress && axiom.slot == slot::EgressPort);
    if (!is_brought) continue;
    NodeId wrong =
        lowering.Test(at_least ? NodeOp::Less : NodeOp::Greater, axiom.slot, axiom.number);
    if (is_wish || attribute.type.optional) wrong = b.And(b.Has(axiom.slot), wrong);
    const std::string message = fmt::format("`{}` must be {}", attribute.path,
                                            module::RangeText(axiom, attribute.type.kind));
    block.checks.push_back({lowering.Deny(kInvalid, message), wrong});
  }
}

}  // namespace

RuleIndex Lowering::Row(std::string_view id, module::Effect effect, std::string_view message,
                        source::Span span, bool never) {
  ir::RuleText text{std::string(id), effect, std::string(message), {}, 0, 0, never};
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

namespace {

NodeId IsListed(Lowering& lowering, const model::AccessGrant& grant) {
  ir::Builder& b = lowering.builder;
  return b.Compare(NodeOp::In, lowering.Text(slot::CallerId), b.TextSetTerm(grant.principals));
}
NodeId HasListedGroup(Lowering& lowering, const model::AccessGrant& grant) {
  ir::Builder& b = lowering.builder;
  return b.Compare(NodeOp::Intersects, lowering.TextItems(slot::CallerGroups),
                   b.TextSetTerm(grant.principals));
}

}  // namespace

NodeId LowerListedAccess(Lowering& lowering, const model::AccessGrant& grant) {
  if (grant.any) return lowering.builder.Constant(true);
  if (grant.principals.empty()) return lowering.builder.Constant(false);
  return lowering.builder.Or(IsListed(lowering, grant), HasListedGroup(lowering, grant));
}

void TellWrittenAccess(Lowering& lowering, RuleIndex row, const model::AccessGrant& grant) {
  const auto is_group = [](const std::string& who) { return who.starts_with("group:"); };
  const auto groups = std::ranges::count_if(grant.principals, is_group);
  if (groups > 0) lowering.builder.Written(row, HasListedGroup(lowering, grant));
  if (groups < std::ssize(grant.principals)) {
    lowering.builder.Written(row, IsListed(lowering, grant));
  }
}

NodeId LowerAccessOf(Lowering& lowering, const model::Class& of) {
  ir::Builder& b = lowering.builder;
  const auto writers = WritersOf(lowering.model, of, model::Grant::Access);
  if (writers.empty()) return b.Constant(false);
  std::vector<NodeId> each;
  for (const model::Class* link : writers) {
    each.push_back(LowerListedAccess(lowering, *link->identity.access));
  }
  return b.And(each);
}

Block LowerSetBlock(Lowering& lowering, Action action) {
  Block block;
  LowerChecks(lowering, action, block);
  LowerRules(lowering, std::nullopt, action, block);
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
        {{{lowering.Allow("builtin.access", "the caller is its creator, its owner or an operator"),
           LowerOwnAccess(lowering)}},
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
