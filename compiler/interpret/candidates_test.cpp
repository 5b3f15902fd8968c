#include "compiler/interpret/candidates.h"

#include "compiler/base/limits.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/ir/decision_ir.h"
#include "compiler/ir/encode.h"
#include "compiler/module/entry_index.h"
#include "compiler/values/host.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace curfew::interpret {
namespace {

using ir::NodeId;
using ir::NodeOp;
using module::Effect;
using module::Request;
using module::ValueClass;
using schema::Action;
using schema::Stage;
namespace slot = schema::slot;

// What a host of the wire, and what no decoder would let in.
std::vector<std::string> Hosts() {
  std::vector<std::string> hosts = {
      "",        ".",       "..",        "a",         "a.b",    "b",           "x.b",
      "x.y.b",   ".b",      "..b",       "x..b",      "xb",     "b.",          "x.b.",
      "a.b.c",   "x.a.b.c", "h0.zone.b", "h7.zone.b", "zone.b", "x.h3.zone.b", "H0.zone.b",
      "nowhere", "c",       "long.b.c",  "q.long.b.c"};
  hosts.push_back(std::string(300, 'x') + ".b");
  hosts.push_back(std::string(limits::HostBytesMax, '.') + "b");
  hosts.push_back("x." + std::string(62, 'l') + ".b");
  hosts.push_back(std::string(limits::RequestStringBytesMax - 2, 'x') + ".b");
  hosts.push_back(std::string(limits::RequestStringBytesMax, 'x') + ".b");
  std::string deep;
  for (int i = 0; i < 126; ++i) deep += "a.";
  hosts.push_back(deep + "b");
  return hosts;
}

// Hosts of a rule: exact, of one label, of any depth, and several.
std::vector<std::vector<ir::Pattern>> Rules() {
  const auto exact = static_cast<std::uint32_t>(values::HostReach::Exact);
  const auto one = static_cast<std::uint32_t>(values::HostReach::OneLabel);
  const auto any = static_cast<std::uint32_t>(values::HostReach::AnyDepth);
  std::vector<std::vector<ir::Pattern>> rules = {
      {{"a.b", exact}},   {{"b", one}},
      {{"b", any}},       {{"b", exact}},
      {{"c", any}},       {{"a.b", one}},
      {{"a.b.c", exact}}, {{"b", any}, {"b", one}},
      {{"c", exact}},     {{"long.b.c", exact}, {"zone.b", one}}};
  std::vector<ir::Pattern> many;
  for (int i = 0; i < 20; ++i) {
    many.push_back({"h" + std::to_string(i) + ".zone.b", i % 3 == 0 ? any : exact});
  }
  rules.push_back(many);
  return rules;
}

struct Sample {
  std::optional<Interpreter> plain;
  std::optional<Interpreter> indexed;
  Bytes bytes;
};

// An allow and a denial for each rule, each with a port of its own beside the host, and some that
// no host rules out.
void Make(Sample& sample) {
  ir::Builder b;
  const auto deny = [&](std::string id) { return b.Rule({id, Effect::Deny, "no", "", 0, 0}); };
  const auto allow = [&](std::string id) { return b.Rule({id, Effect::Allow, "", "", 0, 0}); };
  b.SetSelection({deny("class.none"), deny("class.ambiguous"), deny("class.not_selected"),
                  deny("class.gone"), deny("request.invalid")});
  b.AddClass("c", allow("c"), b.Constant(true), false, {});
  const auto host = b.SlotTerm(slot::EgressHost, ValueClass::Text);
  const auto port = [&](NodeOp op, std::int64_t value) {
    return b.Compare(op, b.SlotTerm(slot::EgressPort, ValueClass::Integer), b.IntegerTerm(value));
  };
  ir::Block egress;
  ir::Group group{{}, deny("c.default"), deny("c.beyond")};
  const auto rules = Rules();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string number = std::to_string(i);
    const NodeId meets = b.PatternsIn(NodeOp::HostIn, host, rules[i]);
    const NodeId says = b.And(port(NodeOp::Less, 100), meets);
    group.entries.push_back({allow("c.allow" + number), says});
    egress.denials.push_back({deny("c.deny" + number), b.And(meets, port(NodeOp::Greater, 80))});
    if (i % 4 == 0) {
      group.entries.push_back({allow("c.free" + number), port(NodeOp::Equal, 7)});
      egress.denials.push_back({deny("c.shut" + number), b.Or(meets, port(NodeOp::Equal, 9))});
    }
  }
  egress.groups.push_back(std::move(group));
  for (std::size_t place = 0; place < module::BlockCount(1); ++place) {
    const auto action = static_cast<Action>(place % schema::ActionCount);
    if (place / schema::ActionCount == 1) continue;
    ir::Block closed;
    closed.denials.push_back({deny("c.closed")});
    b.SetBlock(place, action == Action::Egress && place < schema::ActionCount ? egress : closed);
  }
  ir::DecisionIr ir = std::move(b).Finish();
  ir.plans.emplace_back().class_name = "c";
  sample.bytes = ir::Encode(ir);
  auto one = module::PolicyModule::Load(sample.bytes, 1);
  auto other = module::PolicyModule::Load(sample.bytes, 1);
  REQUIRE(one);
  sample.plain.emplace(*std::move(one), UseIndex::No);
  sample.indexed.emplace(*std::move(other));
}

std::string Said(const module::Verdict& verdict) {
  std::string text = verdict.effect == Effect::Allow ? "allow" : "deny";
  if (verdict.undecided) text += " undecided " + std::to_string(verdict.undecided_slot);
  for (const auto rule : verdict.denials.written()) text += " -" + std::to_string(rule);
  for (const auto rule : verdict.allows.written()) text += " +" + std::to_string(rule);
  return text;
}

TEST_CASE("a decision by the index is the decision without it") {
  Sample sample;
  Make(sample);
  const auto& tables = sample.indexed->module().tables();
  REQUIRE(tables.indexes.size() == 2);
  CHECK(tables.indexes[0].slot == slot::EgressHost);
  CHECK(tables.indexes[0].depths != 0);
  CHECK(tables.indexes[0].unkeyed.count == 3);
  std::size_t different = 0;
  std::string before;
  for (const std::string& host : Hosts()) {
    for (const std::int64_t port : {7, 9, 79, 90, 443}) {
      for (const Stage stage : {Stage::Name, Stage::Address, Stage::Request}) {
        for (const int state : {0, 1, 2, 3}) {
          Request request(Action::Egress, stage);
          request.SetText(slot::SandboxClass, "c");
          request.SetText(slot::EgressHost, host);
          request.SetInteger(slot::EgressPort, port);
          if (state == 1) request.SetUnknown(slot::EgressHost);
          if (state == 2) request.SetAbsent(slot::EgressHost);
          if (state == 3) request.SetUnknown(slot::EgressPort);
          module::VerdictRoom with;
          module::VerdictRoom without;
          sample.indexed->Decide(request, with.verdict);
          sample.plain->Decide(request, without.verdict);
          CAPTURE(host.substr(0, 80), port, static_cast<int>(stage), state);
          REQUIRE(Said(with.verdict) == Said(without.verdict));
          different += Said(with.verdict) == before ? 0 : 1;
          before = Said(with.verdict);
        }
      }
    }
  }
  CHECK(different > 100);
}

TEST_CASE("the index passes over what cannot hold") {
  Sample sample;
  Make(sample);
  const auto& tables = sample.indexed->module().tables();
  Candidates candidates(sample.indexed->module());
  const auto visited = [&](const Request& request) {
    std::vector<std::uint32_t> entries;
    candidates.Forget();
    candidates.ForEach(request, tables.indexes[1].entries, 1, false,
                       [&](std::uint32_t entry, bool) { entries.push_back(entry); });
    CHECK(std::is_sorted(entries.begin(), entries.end()));
    return entries.size();
  };
  Request request(Action::Egress);
  CHECK(visited(request) == tables.indexes[1].entries.count);
  request.SetText(slot::EgressHost, "nowhere.example");
  CHECK(visited(request) == 3);
  request.SetText(slot::EgressHost, "a.b");
  CHECK(visited(request) == 3 + 4);
  request.SetText(slot::EgressHost, "x.h3.zone.b");
  CHECK(visited(request) == 3 + 3);
}

TEST_CASE("a long list of hosts means what its patterns mean one by one") {
  ir::Builder b;
  const auto none = b.Rule({"class.none", Effect::Deny, "", "", 0, 0});
  b.SetSelection({none, none, none, none, none});
  const auto rules = Rules();
  std::vector<ir::Pattern> all;
  for (const auto& rule : rules) all.insert(all.end(), rule.begin(), rule.end());
  b.PatternsIn(NodeOp::HostIn, b.SlotTerm(slot::EgressHost, ValueClass::Text), all);
  const ir::DecisionIr ir = std::move(b).Finish();
  const module::Tables tables = ir::View(ir);
  REQUIRE(tables.patterns.size() > 20);
  for (std::uint32_t first = 0; first < tables.patterns.size(); first += 3) {
    const auto count = static_cast<std::uint32_t>(tables.patterns.size()) - first;
    for (const std::string& host : Hosts()) {
      bool met = false;
      for (const auto& pattern : tables.patterns.subspan(first, count)) {
        met = met || values::MatchesHost(static_cast<values::HostReach>(pattern.mode),
                                         tables.TextOf(pattern.text), host);
      }
      CAPTURE(host.substr(0, 80), first);
      REQUIRE(MeetsHost(tables, {first, count}, host) == met);
    }
  }
}

TEST_CASE("the hash of a name is the same above a host and alone") {
  for (const std::string& host : Hosts()) {
    for (std::size_t size = 0; size <= host.size(); ++size) {
      const std::string alone = host.substr(host.size() - size);
      REQUIRE(module::HashOfEnd(host, size) == module::HashOf(alone));
    }
  }
  CHECK(module::HashOf("a") != module::HashOf("aa"));
  CHECK(module::HashOf(std::string_view("a\0", 2)) != module::HashOf("a"));
}

}  // namespace
}  // namespace curfew::interpret
