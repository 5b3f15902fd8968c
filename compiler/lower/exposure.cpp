// How much may leave, and what of the inside may be reached.
#include "compiler/lower/lowering.h"
#include "compiler/model/chain.h"
#include "compiler/module/capability.h"
#include "compiler/values/quantity.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::lower {
namespace {

namespace slot = schema::slot;

NodeId IsFor(Lowering& lowering, const model::Audience& audience) {
  ir::Builder& b = lowering.builder;
  const TermId asked = lowering.Text(slot::ExposeTo);
  switch (audience.kind) {
    case model::Audience::Kind::Any:
      return b.Constant(true);
    case model::Audience::Kind::TaskOwner:
      return b.Compare(NodeOp::Equal, asked, lowering.Text(slot::TaskOwner));
    case model::Audience::Kind::Principal:
      return b.Compare(NodeOp::Equal, asked, b.TextTerm(audience.principal));
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

}  // namespace

void LowerLimits(Lowering& lowering, const model::Class& of, Block& block) {
  const model::NetworkPlane limits = BoundsOf(lowering.model, of).network;
  if (const auto& rate = limits.request_rate) {
    const std::string message = fmt::format("there are at most {} requests in {}", rate->most,
                                            values::DurationText(rate->per_ms));
    const RuleIndex row = lowering.Deny(rate->id, message, rate->span);
    const NodeId is_more = lowering.Test(NodeOp::Greater, slot::EgressRequests, rate->most);
    block.denials.push_back({row, lowering.Written(row, is_more)});
  }
  const auto bound = [&](const std::optional<model::Bound>& most, Slot measured,
                         std::string_view what) {
    if (!most) return;
    const std::string message =
        fmt::format("{} at most {}", what, values::SizeText(most->value.most));
    const RuleIndex row = lowering.Deny(most->id, message, most->span);
    const NodeId is_more = lowering.Test(NodeOp::Greater, measured, most->value.most);
    block.denials.push_back({row, lowering.Written(row, is_more)});
  };
  bound(limits.request_bytes, slot::EgressBytes, "a request has");
  bound(limits.total_bytes, slot::EgressTotal, "all requests of a sandbox together have");
}

// The default of a wish is one for the whole class: the smallest that a rule of it has.
void LowerExpose(Lowering& lowering, const model::Class& of, Block& block) {
  ir::Builder& b = lowering.builder;
  block.denials.push_back(
      {lowering.Deny("builtin.unsupported",
                     "this host has nothing that makes a port inside reachable (`expose`)"),
       b.Not(b.Compare(NodeOp::In, b.TextTerm(module::capability::Expose),
                       lowering.TextItems(slot::HostCapabilities)))});
  const RuleIndex none = lowering.Deny(model::DefaultIdOf(of.name, Action::Expose),
                                       "no `expose` of the class covers the port and who asks for "
                                       "it",
                                       of.span);
  std::optional<std::int64_t> standard;
  for (const model::Class* link : WritersOf(lowering.model, of, model::Grant::Expose)) {
    ir::Group group{{}, none, none};
    for (const model::ExposeRule& rule : link->network.exposes) {
      const NodeId says = b.And(std::array{
          lowering.Test(NodeOp::GreaterEqual, slot::ExposePort, rule.ports.first),
          lowering.Test(NodeOp::LessEqual, slot::ExposePort, rule.ports.last),
          IsFor(lowering, rule.to), LowerCondition(lowering, rule.condition, Action::Expose)});
      const RuleIndex row = lowering.Allow(rule.id, rule.message, rule.span);
      const NodeId lasts =
          lowering.Test(NodeOp::LessEqual, slot::ExposeLasts, rule.lasts.value.most);
      group.entries.push_back({row, lowering.Written(row, says),
                               b.And(b.Has(slot::ExposeLasts), lowering.Written(row, lasts))});
      group.beyond_denial = lowering.Deny(
          rule.lasts.id, "it would last longer than `expose` lets it, or nobody says how long",
          rule.lasts.span);
      const auto& own = rule.lasts.value.standard;
      if (own && (!standard || *own < *standard)) standard = own;
    }
    block.groups.push_back(std::move(group));
  }
  if (standard) {
    block.defaults.push_back({.slot = slot::ExposeLasts,
                              .kind = module::DefaultRecord::Kind::Integer,
                              .integer = *standard});
  }
  if (block.groups.empty()) block.groups.push_back({{}, none, none});
}

bool InspectsTls(const model::PolicyModel& model, const model::Class& of) {
  const bool wants = BoundsOf(model, of).network.tls == model::Tls::Inspect;
  return wants && SomeAllow(model, of, [](const model::EgressRule& rule) {
           return model::ReadsInsideTls(rule);
         });
}

bool OpensWebsockets(const model::PolicyModel& model, const model::Class& of) {
  return SomeAllow(model, of, [](const model::EgressRule& rule) { return rule.websocket; });
}

}  // namespace curfew::lower
