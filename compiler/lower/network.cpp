#include "compiler/lower/lowering.h"
#include "compiler/values/address.h"
#include "compiler/values/query.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace curfew::lower {
namespace {

namespace slot = schema::slot;
using model::EgressRule;
using model::EgressTarget;

// The ordinals of schema::Enum::Scheme.
constexpr std::int64_t kHttp = 0;
constexpr std::int64_t kHttps = 1;
constexpr std::int64_t kTcp = 2;

std::vector<module::BlockOfAddresses> BlocksOf(const std::vector<values::Cidr>& cidrs) {
  std::vector<module::BlockOfAddresses> blocks;
  for (const values::Cidr& cidr : cidrs) {
    module::BlockOfAddresses block;
    std::ranges::copy(cidr.base.bytes, block.base);
    block.prefix = cidr.prefix;
    blocks.push_back(block);
  }
  return blocks;
}

// Blocks that no request reaches unless a rule pins them, or those that nothing can pin.
std::vector<module::BlockOfAddresses> Barred(bool pinnable_too) {
  std::vector<values::Cidr> cidrs;
  for (const values::SpecialBlock& special : values::SpecialBlocks()) {
    if (!values::IsBarred(special.range)) continue;
    if (pinnable_too || !values::CanBePinned(special.range)) cidrs.push_back(special.block);
  }
  return BlocksOf(cidrs);
}

class NetworkLowering {
 public:
  NetworkLowering(Lowering& lowering) : l_(lowering), b_(lowering.builder) {}

  // Tells what an author wrote of it: hosts, addresses, ports, paths, methods, parameters,
  // conditions and pins. A scheme is part of every place, and the port that it means is said by
  // nobody.
  const Lowering::Said& SaidBy(const EgressRule& rule, RuleIndex row);
  NodeId AddressIn(const std::vector<module::BlockOfAddresses>& blocks) {
    return b_.AddressIn(l_.Text(slot::EgressIp), blocks);
  }

 private:
  NodeId Says(const EgressRule& rule);
  NodeId Within(const EgressRule& rule);
  NodeId Schemes(const EgressTarget& target);
  NodeId Hosts(std::span<const ir::Pattern> patterns);
  NodeId Addresses(const values::Cidr& cidr, EgressRule::Effect effect);
  NodeId Ports(const std::vector<model::PortRange>& ports);
  NodeId BesidesPlace(const EgressTarget& target, EgressRule::Effect effect);
  NodeId Targets(const EgressRule& rule);
  NodeId Methods(const EgressRule& rule);
  NodeId Upgrade(const EgressRule& rule);
  NodeId Query(const EgressRule& rule);
  NodeId Slashes(const EgressRule& rule);
  // Unknown where HTTP cannot be seen, and false where it can: a method is there, or nobody knows.
  NodeId IsHidden() {
    return b_.Compare(NodeOp::Equal, l_.Text(slot::EgressMethod), b_.TextTerm(""));
  }

  NodeId Written(NodeId node) {
    written_.push_back(node);
    return node;
  }

  Lowering& l_;
  ir::Builder& b_;
  std::vector<NodeId> written_;  // by the last Says and Within
};

const Lowering::Said& NetworkLowering::SaidBy(const EgressRule& rule, RuleIndex row) {
  const auto [place, is_new] = l_.said.try_emplace(&rule);
  if (is_new) {
    place->second.says = Says(rule);
    if (rule.effect == EgressRule::Effect::Allow) place->second.within = Within(rule);
    for (const NodeId node : std::exchange(written_, {})) b_.Written(row, node);
  }
  return place->second;
}

// Whether the port follows from a target's scheme.
bool IsOfScheme(const EgressTarget& target) {
  if (target.ports.size() != 1 || target.ports.front().first != target.ports.front().last) {
    return false;
  }
  const auto port = target.ports.front().first;
  return (target.https && port == 443) || (target.http && port == 80);
}

NodeId NetworkLowering::Schemes(const EgressTarget& target) {
  std::vector<std::int64_t> schemes;
  if (target.http) schemes.push_back(kHttp);
  if (target.https) schemes.push_back(kHttps);
  if (target.tcp) schemes.push_back(kTcp);
  if (schemes.size() == 3) return b_.Constant(true);
  return b_.Compare(NodeOp::In, l_.Integer(slot::EgressScheme), b_.IntegerSetTerm(schemes));
}

// A name meets patterns of names. An address that was asked for meets only addresses of an allow;
// a deny of addresses judges whatever leads there.
NodeId NetworkLowering::Hosts(std::span<const ir::Pattern> patterns) {
  return b_.And(b_.Has(slot::EgressHost),
                Written(b_.PatternsIn(NodeOp::HostIn, l_.Text(slot::EgressHost), patterns)));
}
NodeId NetworkLowering::Addresses(const values::Cidr& cidr, EgressRule::Effect effect) {
  const NodeId in_block = Written(AddressIn(BlocksOf({cidr})));
  if (effect == EgressRule::Effect::Deny) return in_block;
  return b_.And(b_.Not(b_.Has(slot::EgressHost)), in_block);
}

NodeId NetworkLowering::Ports(const std::vector<model::PortRange>& ports) {
  if (ports.empty()) return b_.Constant(true);
  std::vector<std::int64_t> single;
  std::vector<NodeId> any;
  for (const model::PortRange& range : ports) {
    if (range.first == range.last) {
      single.push_back(range.first);
      continue;
    }
    any.push_back(b_.And(l_.Test(NodeOp::GreaterEqual, slot::EgressPort, range.first),
                         l_.Test(NodeOp::LessEqual, slot::EgressPort, range.last)));
  }
  if (single.size() == 1) {
    any.push_back(l_.Test(NodeOp::Equal, slot::EgressPort, single.front()));
  } else if (!single.empty()) {
    any.push_back(b_.Compare(NodeOp::In, l_.Integer(slot::EgressPort), b_.IntegerSetTerm(single)));
  }
  return b_.Or(any);
}

// What a target says of port, scheme and path.
NodeId NetworkLowering::BesidesPlace(const EgressTarget& target, EgressRule::Effect effect) {
  const NodeId ports = Ports(target.ports);
  if (!IsOfScheme(target)) Written(ports);
  std::vector<NodeId> parts{ports, Schemes(target)};
  if (target.path) {
    const auto reading =
        effect == EgressRule::Effect::Deny ? values::Reading::Wide : values::Reading::Exact;
    const ir::Pattern pattern{target.path->text, static_cast<std::uint32_t>(reading)};
    parts.push_back(
        Written(b_.PatternsIn(NodeOp::PathIn, l_.Text(slot::EgressPath), std::span(&pattern, 1))));
  }
  return b_.And(parts);
}

// Any of the targets. Hosts that are alike in all else are one list, which is searched and not
// walked: a rule may name thousands.
NodeId NetworkLowering::Targets(const EgressRule& rule) {
  std::vector<NodeId> any;
  std::vector<std::pair<NodeId, std::vector<ir::Pattern>>> lists;
  std::map<NodeId, std::size_t> list_of;
  for (const EgressTarget& target : rule.targets) {
    const NodeId besides = BesidesPlace(target, rule.effect);
    if (target.internet) {
      any.push_back(b_.And(b_.Has(slot::EgressHost), besides));
    } else if (!target.place) {
      any.push_back(besides);
    } else if (const auto* cidr = std::get_if<values::Cidr>(&*target.place)) {
      any.push_back(b_.And(Addresses(*cidr, rule.effect), besides));
    } else {
      const auto& host = std::get<values::HostPattern>(*target.place);
      const auto [place, is_new] = list_of.try_emplace(besides, lists.size());
      if (is_new) lists.push_back({besides, {}});
      lists[place->second].second.push_back({host.name, static_cast<std::uint32_t>(host.reach)});
    }
  }
  for (const auto& [besides, hosts] : lists) any.push_back(b_.And(Hosts(hosts), besides));
  return b_.Or(any);
}

// A byte stream has no method, so no rule with methods is about it. What speaks HTTP and shows no
// method may have any: an absent fact that is read is an unknown one.
NodeId NetworkLowering::Methods(const EgressRule& rule) {
  if (rule.methods.empty()) return b_.Constant(true);
  const NodeId is_one =
      b_.Compare(NodeOp::In, l_.Text(slot::EgressMethod), b_.TextSetTerm(rule.methods));
  return b_.And(l_.Test(NodeOp::NotEqual, slot::EgressScheme, kTcp), Written(is_one));
}

// An allow is about a WebSocket only where it says so. What hides inside a byte stream or TLS may
// be one: a deny of them then holds, and an allow of them does not.
NodeId NetworkLowering::Upgrade(const EgressRule& rule) {
  const NodeId some = b_.Has(slot::EgressUpgrade);
  if (!rule.websocket) {
    const bool of_http = rule.effect == EgressRule::Effect::Allow && !rule.targets.front().tcp;
    return of_http ? b_.Not(some) : b_.Constant(true);
  }
  const NodeId is_one = b_.And(some, Written(b_.Compare(NodeOp::Equal, l_.Text(slot::EgressUpgrade),
                                                        b_.TextTerm("websocket"))));
  return b_.Or(is_one, b_.And(b_.Not(some), IsHidden()));
}

NodeId NetworkLowering::Query(const EgressRule& rule) {
  if (rule.query.empty()) return b_.Constant(true);
  const auto reading = rule.effect == EgressRule::Effect::Allow ? values::QueryReading::Narrow
                                                                : values::QueryReading::Wide;
  const NodeId some = b_.Has(slot::EgressQuery);
  std::vector<NodeId> all{some};
  for (const model::QueryTerm& term : rule.query) {
    const ir::Pattern pattern{term.key + "=" + term.value, static_cast<std::uint32_t>(reading)};
    all.push_back(
        Written(b_.PatternsIn(NodeOp::QueryIn, l_.Text(slot::EgressQuery), std::array{pattern})));
  }
  return b_.Or(b_.And(all), b_.And(b_.Not(some), IsHidden()));
}

// An escaped slash stands only in a path that a rule says so of.
NodeId NetworkLowering::Slashes(const EgressRule& rule) {
  const bool is_about_it =
      rule.effect == EgressRule::Effect::Allow && !rule.encoded_slash && !rule.targets.front().tcp;
  if (!is_about_it) return b_.Constant(true);
  const ir::Pattern slash{fmt::format("*{}*", values::EscapedSlash), 0};
  return b_.Not(
      b_.And(b_.Has(slot::EgressPath),
             b_.PatternsIn(NodeOp::TextIn, l_.Text(slot::EgressPath), std::array{slash})));
}

NodeId NetworkLowering::Says(const EgressRule& rule) {
  return b_.And(std::array{Targets(rule), Methods(rule), Upgrade(rule), Query(rule), Slashes(rule),
                           Written(LowerCondition(l_, rule.condition, Action::Egress))});
}

// Where the address may lie: in the rule's own blocks, or wherever nothing is barred.
NodeId NetworkLowering::Within(const EgressRule& rule) {
  if (rule.pins.empty()) return b_.Not(AddressIn(Barred(true)));
  return b_.And(Written(AddressIn(BlocksOf(rule.pins))), b_.Not(AddressIn(Barred(false))));
}

std::string MessageOf(const EgressRule& rule, std::string_view otherwise) {
  return rule.message.empty() ? std::string(otherwise) : rule.message;
}

}  // namespace

void LowerNetwork(Lowering& lowering, const model::Class& of, Block& block) {
  const std::vector<const model::Class*> chain = ChainOf(lowering.model, of);
  NetworkLowering network(lowering);
  ir::Builder& b = lowering.builder;
  const RuleIndex address = lowering.Deny(
      "builtin.address",
      "the address is private, special, or not one that the rule which matches may reach; "
      "`at` pins an address that a rule means");
  const RuleIndex none = lowering.Deny(model::DefaultIdOf(of.name, Action::Egress),
                                       "no `allow` of the network plane covers it", of.span);

  std::vector<values::Cidr> pinned;
  for (const model::Class* link : chain) {
    ir::Group group{{}, none, address};
    for (const EgressRule& rule : link->network.rules) {
      if (rule.effect == EgressRule::Effect::Deny) {
        const RuleIndex row = lowering.Deny(
            rule.id, MessageOf(rule, "a `deny` of the network plane covers it"), rule.span);
        block.denials.push_back({row, network.SaidBy(rule, row).says});
        continue;
      }
      const RuleIndex row = lowering.Allow(rule.id, rule.message, rule.span);
      const Lowering::Said& said = network.SaidBy(rule, row);
      group.entries.push_back({row, said.says, said.within});
      pinned.insert(pinned.end(), rule.pins.begin(), rule.pins.end());
    }
    for (const EgressRule& rule : link->network.trials) {
      const RuleIndex row = lowering.Deny(
          rule.id, MessageOf(rule, "a `deny` of the network plane covers it"), rule.span);
      const NodeId says = network.SaidBy(rule, row).says;
      block.trials.push_back({row, WhileOnTrial(lowering, rule.trial, says)});
    }
    // A class that allows nothing of its own leaves its base as it is; a chain that allows nothing
    // anywhere has the strictest meaning.
    if (Writes(*link, model::Grant::Egress)) block.groups.push_back(std::move(group));
  }
  if (block.groups.empty()) block.groups.push_back({{}, none, address});

  // The bar says its own name also where no rule matches: `169.254.169.254` is no oversight.
  NodeId barred = network.AddressIn(Barred(true));
  if (!pinned.empty()) {
    barred = b.Or(network.AddressIn(Barred(false)),
                  b.And(barred, b.Not(network.AddressIn(BlocksOf(pinned)))));
  }
  block.denials.push_back({address, b.And(b.Has(slot::EgressIp), barred)});
  LowerLimits(lowering, of, block);
}

}  // namespace curfew::lower
