#include "compiler/interpret/candidates.h"

#include "compiler/base/limits.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/ir/decision_ir.h"
#include "compiler/ir/encode.h"
#include "compiler/module/entry_index.h"
#include "compiler/values/host.h"
#include "compiler/values/path.h"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
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

// What a class says of egress, as its rules have it.
struct Egress {
  ir::Builder& b;
  ir::Block block;
  ir::Group group;

  std::uint32_t Deny(const std::string& id) {
    return b.Rule({"c.deny" + id, Effect::Deny, "no", "", 0, 0});
  }
  std::uint32_t Allow(const std::string& id) {
    return b.Rule({"c.allow" + id, Effect::Allow, "", "", 0, 0});
  }
  void AddDenial(const std::string& id, NodeId condition) {
    block.denials.push_back({Deny(id), condition});
  }
  void AddAllow(const std::string& id, NodeId condition) {
    group.entries.push_back({Allow(id), condition});
  }
  ir::TermId Text(schema::Slot slot) { return b.SlotTerm(slot, ValueClass::Text); }
  NodeId Port(NodeOp op, std::int64_t value) {
    return b.Compare(op, b.SlotTerm(slot::EgressPort, ValueClass::Integer), b.IntegerTerm(value));
  }
  NodeId Ports(std::int64_t first, std::int64_t last) {
    return b.And(Port(NodeOp::GreaterEqual, first), Port(NodeOp::LessEqual, last));
  }
};

template <typename AddRules>
void Make(Sample& sample, AddRules add_rules) {
  ir::Builder b;
  const auto deny = [&](std::string id) { return b.Rule({id, Effect::Deny, "no", "", 0, 0}); };
  b.SetSelection({deny("class.none"), deny("class.ambiguous"), deny("class.not_selected"),
                  deny("class.gone"), deny("request.invalid")});
  b.AddClass("c", b.Rule({"c", Effect::Allow, "", "", 0, 0}), b.Constant(true), false, {});
  Egress egress{b, {}, {{}, deny("c.default"), deny("c.beyond")}};
  add_rules(egress);
  egress.block.groups.push_back(std::move(egress.group));
  for (std::size_t place = 0; place < module::BlockCount(1); ++place) {
    const auto action = static_cast<Action>(place % schema::ActionCount);
    if (place / schema::ActionCount == 1) continue;
    ir::Block closed;
    closed.denials.push_back({deny("c.closed")});
    const bool is_egress = action == Action::Egress && place < schema::ActionCount;
    b.SetBlock(place, is_egress ? egress.block : closed);
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

// An allow and a denial for each rule, each with a port of its own beside the host, and some that
// no host rules out.
void AddHostRules(Egress& egress) {
  ir::Builder& b = egress.b;
  const auto rules = Rules();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string number = std::to_string(i);
    const NodeId meets = b.PatternsIn(NodeOp::HostIn, egress.Text(slot::EgressHost), rules[i]);
    egress.AddAllow(number, b.And(egress.Port(NodeOp::Less, 100), meets));
    egress.AddDenial(number, b.And(meets, egress.Port(NodeOp::Greater, 80)));
    if (i % 4 != 0) continue;
    egress.AddAllow(".free" + number, egress.Port(NodeOp::Equal, 7));
    egress.AddDenial(".shut" + number, b.Or(meets, egress.Port(NodeOp::Equal, 9)));
  }
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
  Make(sample, AddHostRules);
  const auto& tables = sample.indexed->module().tables();
  REQUIRE(tables.indexes.size() == 2);
  CHECK(tables.indexes[0].slot == slot::EgressHost);
  CHECK(tables.indexes[0].lengths[0] != 0);
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

// ---- Each kind of index -------------------------------------------------------------------------

std::string AddressText(std::initializer_list<int> last) {
  std::string bytes(10, '\0');
  bytes += "\xff\xff";
  for (const int byte : last) bytes.push_back(static_cast<char>(byte));
  return bytes;
}

module::BlockOfAddresses BlockAt(const std::string& address, std::uint32_t prefix) {
  module::BlockOfAddresses block;
  std::copy(address.begin(), address.end(), reinterpret_cast<char*>(block.base));
  block.prefix = prefix;
  return block;
}

NodeId PathIn(Egress& egress, std::vector<std::string> globs, values::Reading reading) {
  std::vector<ir::Pattern> patterns;
  for (std::string& glob : globs) {
    patterns.push_back({std::move(glob), static_cast<std::uint32_t>(reading)});
  }
  return egress.b.PatternsIn(NodeOp::PathIn, egress.Text(slot::EgressPath), patterns);
}
NodeId HostIs(Egress& egress, std::string host) {
  return egress.b.PatternsIn(NodeOp::HostIn, egress.Text(slot::EgressHost),
                             std::array{ir::Pattern{std::move(host), 0}});
}

// Globs whose literal beginnings lie in each other, end in the middle of a segment, or are none.
std::vector<std::string> GlobsOf(int i) {
  const std::string name = "/P" + std::to_string(i);
  switch (i % 6) {
    case 0:
      return {name};
    case 1:
      return {name + "/**"};
    case 2:
      return {name + "/x/**", name + "/y"};
    case 3:
      return {name + "/*/z"};
    case 4:
      return {"/a/b" + std::to_string(i % 4) + "/c*"};
    default:
      return {"/a/" + std::to_string(i) + name + "/"};
  }
}

void AddPathRules(Egress& egress, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string id = ".path" + std::to_string(i);
    const NodeId host = HostIs(egress, "one.example");
    egress.AddAllow(id, egress.b.And(host, PathIn(egress, GlobsOf(i), values::Reading::Exact)));
    egress.AddDenial(id, egress.b.And(PathIn(egress, GlobsOf(i + 1), values::Reading::Wide), host));
  }
}

void AddPortRules(Egress& egress, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string id = ".port" + std::to_string(i);
    const std::int64_t port = 7 * i;
    const NodeId one = egress.Port(NodeOp::Equal, port);
    const NodeId some = egress.b.Compare(
        NodeOp::In, egress.b.SlotTerm(slot::EgressPort, ValueClass::Integer),
        egress.b.IntegerSetTerm(std::array<std::int64_t, 3>{port, port + 1, port + 4000}));
    const NodeId range = egress.Ports(port, port + i % 9);
    egress.AddAllow(id, i % 3 == 0 ? one : i % 3 == 1 ? some : range);
    egress.AddDenial(id, i % 2 == 0 ? range : egress.b.Or(one, egress.Ports(port + 20, port + 20)));
  }
}

void AddAddressRules(Egress& egress, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string id = ".address" + std::to_string(i);
    const std::string address = AddressText({10, i / 256, i % 256, 77});
    std::string other = address;
    other[0] = static_cast<char>(i / 40);
    const std::array blocks = {BlockAt(address, i % 7 == 0 ? 120 : 128), BlockAt(other, 33)};
    const ir::TermId ip = egress.Text(slot::EgressIp);
    egress.AddAllow(id, egress.b.AddressIn(ip, std::span(blocks).first(1)));
    egress.AddDenial(id, egress.b.AddressIn(ip, std::span(blocks).first(i % 40 == 0 ? 2 : 1)));
  }
}

// What asks for one of few values, and what is known by what it is not.
void AddPlainRules(Egress& egress) {
  for (int i = 0; i < 12; ++i) {
    const std::string id = ".plain" + std::to_string(i);
    const NodeId day =
        egress.b.Compare(NodeOp::Equal, egress.b.SlotTerm(slot::NowWeekday, ValueClass::Integer),
                         egress.b.IntegerTerm(i % 7));
    const NodeId elsewhere = egress.b.Not(HostIs(egress, "h" + std::to_string(i) + ".example"));
    egress.AddAllow(id, egress.b.And(day, egress.Port(NodeOp::Less, 50)));
    egress.AddDenial(id, egress.b.And(elsewhere, egress.Port(NodeOp::Greater, 6000 + i)));
  }
}

// Requests that meet many rules, some and none, with every fact known, absent or unknown.
std::vector<Request> Requests() {
  static const std::vector<std::string> paths = {
      "/P0",        "/p0",   "/P1/a",    "/P1",      "/P1/",     "/P2/x/q",   "/P2/y",
      "/P3/q/z",    "/P3/z", "/a/b0/cc", "/a/B0/Cc", "/a/5/P5/", "/a/5/P5",   "/",
      "",           "x",     "//",       "/P7/;v",   "/P6;v",    "/a%2Fb0/c", "/P1%2Fx",
      "/P13/a/b/c", "/Q",    "/P25/",    "/P600/",   "/P601/a/b"};
  static const std::vector<std::string> hosts = {"one.example", "other.example", "h3.example"};
  static const std::vector<std::string> addresses = {AddressText({10, 0, 3, 77}),
                                                     AddressText({10, 0, 7, 9}),
                                                     AddressText({10, 2, 3, 77}),
                                                     AddressText({11, 0, 3, 77}),
                                                     std::string(16, '\1'),
                                                     std::string(16, '\0'),
                                                     "odd"};
  std::vector<Request> requests;
  for (std::size_t i = 0; i < 4000; ++i) {
    Request request(Action::Egress, static_cast<Stage>(i % 3));
    request.SetText(slot::SandboxClass, "c");
    const auto text = [&](schema::Slot slot, const auto& values, std::size_t state) {
      if (state % 5 == 0) return request.SetUnknown(slot);
      if (state % 11 == 0) return request.SetAbsent(slot);
      request.SetText(slot, values[state % values.size()]);
    };
    text(slot::EgressHost, hosts, i * 13 + i / 7);
    text(slot::EgressPath, paths, i * 7 + i / 26);
    text(slot::EgressIp, addresses, i * 3 + i / 5);
    request.SetInteger(slot::NowWeekday, static_cast<std::int64_t>(i % 7));
    if (i % 6 != 0) {
      request.SetInteger(slot::EgressPort, static_cast<std::int64_t>(i * 31 % 5000));
    }
    if (i % 17 == 1) request.SetInteger(slot::EgressPort, i % 2 == 0 ? -1 : 6011);
    requests.push_back(request);
  }
  return requests;
}

// How many entries of the range of an index a request is shown.
std::size_t Visited(const Sample& sample, const Request& request, std::uint32_t index) {
  const auto& tables = sample.indexed->module().tables();
  std::vector<std::uint32_t> entries;
  Candidates candidates(sample.indexed->module());
  candidates.ForEach(request, tables.indexes[index].entries, index, false,
                     [&](std::uint32_t entry, bool) { entries.push_back(entry); });
  CHECK(std::is_sorted(entries.begin(), entries.end(), std::less_equal{}));
  return entries.size();
}

TEST_CASE("a decision by any kind of index is the decision without it") {
  const int count = GENERATE(40, 700);
  const std::size_t kind = GENERATE(0, 1, 2, 3);
  Sample sample;
  Make(sample, [&](Egress& egress) {
    if (kind == 0 || kind == 3) AddPathRules(egress, count);
    if (kind == 1 || kind == 3) AddPortRules(egress, count);
    if (kind == 2 || kind == 3) AddAddressRules(egress, count);
    if (kind == 3) AddPlainRules(egress);
    if (kind == 3) AddHostRules(egress);
  });
  using module::IndexKind;
  std::vector<IndexKind> kinds;
  const auto& tables = sample.indexed->module().tables();
  for (const auto& index : tables.indexes) kinds.push_back(index.kind);
  const std::vector<IndexKind> expected =
      kind == 0   ? std::vector{IndexKind::WidePath, IndexKind::Path}
      : kind == 1 ? std::vector{IndexKind::Integer, IndexKind::Integer}
      : kind == 2 ? std::vector{IndexKind::Address, IndexKind::Address}
                  : std::vector<IndexKind>();
  if (kind < 3) {
    CHECK(kinds == expected);
  } else {
    CHECK(kinds.size() == 8);
  }
  std::size_t different = 0;
  std::string before;
  for (const Request& request : Requests()) {
    module::VerdictRoom with;
    module::VerdictRoom without;
    sample.indexed->Decide(request, with.verdict);
    sample.plain->Decide(request, without.verdict);
    REQUIRE(Said(with.verdict) == Said(without.verdict));
    different += Said(with.verdict) == before ? 0 : 1;
    before = Said(with.verdict);
  }
  CHECK(different > 300);
}

TEST_CASE("what shares all facts but one is found by that one") {
  Sample sample;
  const std::string address = AddressText({10, 0, 12, 77});
  Request request(Action::Egress);
  request.SetText(slot::SandboxClass, "c");
  request.SetText(slot::EgressHost, "one.example");
  request.SetText(slot::EgressPath, "/P12");
  request.SetText(slot::EgressIp, address);
  request.SetInteger(slot::EgressPort, 84);
  SECTION("a path") {
    Make(sample, [](Egress& egress) { AddPathRules(egress, 1000); });
  }
  SECTION("a host") {
    Make(sample, [](Egress& egress) {
      for (int i = 0; i < 1000; ++i) {
        const NodeId path = PathIn(egress, {"/P12"}, values::Reading::Exact);
        const NodeId host = HostIs(egress, i == 12 ? "one.example" : std::to_string(i) + ".b");
        egress.AddAllow(std::to_string(i), egress.b.And(host, path));
        egress.AddDenial(std::to_string(i), egress.b.And(path, host));
      }
    });
  }
  SECTION("a port") {
    Make(sample, [](Egress& egress) { AddPortRules(egress, 1000); });
  }
  SECTION("an address") {
    Make(sample, [](Egress& egress) { AddAddressRules(egress, 1000); });
  }
  const auto& tables = sample.indexed->module().tables();
  REQUIRE(tables.indexes.size() == 2);
  for (const std::uint32_t index : {0u, 1u}) {
    CHECK(tables.indexes[index].unkeyed.count == 0);
    CHECK(tables.indexes[index].keyed.count == 1000);
    CHECK(Visited(sample, request, index) >= 1);
    CHECK(Visited(sample, request, index) <= 12);
  }
}

TEST_CASE("the index passes over what cannot hold") {
  Sample sample;
  Make(sample, AddHostRules);
  const auto& tables = sample.indexed->module().tables();
  Request request(Action::Egress);
  CHECK(Visited(sample, request, 1) == tables.indexes[1].entries.count);
  request.SetText(slot::EgressHost, "nowhere.example");
  CHECK(Visited(sample, request, 1) == 3);
  request.SetText(slot::EgressHost, "a.b");
  CHECK(Visited(sample, request, 1) == 3 + 4);
  request.SetText(slot::EgressHost, "x.h3.zone.b");
  CHECK(Visited(sample, request, 1) == 3 + 3);
}

TEST_CASE("many rules of one key are all looked at, and no others") {
  Sample sample;
  Make(sample, [](Egress& egress) {
    for (int i = 0; i < 1000; ++i) {
      const std::string host = i % 2 == 0 ? "one.example" : std::to_string(i) + ".b";
      const NodeId small = egress.Port(NodeOp::Less, i);
      egress.AddAllow(std::to_string(i), egress.b.And(HostIs(egress, host), small));
      egress.AddDenial(std::to_string(i), egress.b.And(HostIs(egress, host), small));
    }
  });
  Request request(Action::Egress);
  request.SetText(slot::EgressHost, "one.example");
  CHECK(Visited(sample, request, 0) == 500);
  CHECK(Visited(sample, request, 1) == 500);
  request.SetText(slot::EgressHost, "7.b");
  CHECK(Visited(sample, request, 1) == 1);
}

TEST_CASE("an index whose fact cannot be read leaves the others what they rule out") {
  Sample sample;
  Make(sample, [](Egress& egress) {
    AddPathRules(egress, 100);
    AddAddressRules(egress, 100);
  });
  const std::string address = AddressText({10, 0, 12, 77});
  Request request(Action::Egress);
  request.SetText(slot::EgressHost, "one.example");
  CHECK(Visited(sample, request, 0) == 200);
  request.SetText(slot::EgressPath, "/nowhere");
  CHECK(Visited(sample, request, 0) == 100);
  request.SetText(slot::EgressIp, address);
  CHECK(Visited(sample, request, 0) == 2);
  request.SetText(slot::EgressPath, "/nowhere;");
  CHECK(Visited(sample, request, 0) == 102);  // a wide reading is looked up in one way only
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
