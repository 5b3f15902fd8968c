#include "compiler/inspect/search_cost.h"

#include "compiler/ir/decision_ir.h"
#include "compiler/ir/encode.h"
#include "compiler/module/index_cost.h"

#include <array>
#include <string>

#include <catch2/catch.hpp>

namespace curfew::inspect {
namespace {

using module::Effect;
using module::ValueClass;
using schema::Action;
namespace slot = schema::slot;

// A class with `hosts` allows by host, as many denials by port, and denials that no index finds.
Bytes Module(int hosts, int others) {
  ir::Builder b;
  const auto deny = [&](std::string id) { return b.Rule({id, Effect::Deny, "no", "", 0, 0}); };
  const auto allow = [&](std::string id) { return b.Rule({id, Effect::Allow, "", "", 0, 0}); };
  b.SetSelection({deny("class.none"), deny("class.ambiguous"), deny("class.not_selected"),
                  deny("class.gone"), deny("request.invalid")});
  b.AddClass("c", allow("c"), b.Constant(true), false, {});
  ir::Block egress;
  ir::Group group{{}, deny("c.default"), deny("c.beyond")};
  const auto port = b.SlotTerm(slot::EgressPort, ValueClass::Integer);
  for (int i = 0; i < hosts; ++i) {
    const std::array host = {ir::Pattern{"h" + std::to_string(i) + ".example", 0}};
    group.entries.push_back(
        {allow("c.a" + std::to_string(i)),
         b.PatternsIn(ir::NodeOp::HostIn, b.SlotTerm(slot::EgressHost, ValueClass::Text), host)});
    egress.denials.push_back(
        {deny("c.d" + std::to_string(i)), b.Compare(ir::NodeOp::Equal, port, b.IntegerTerm(i))});
  }
  for (int i = 0; i < others; ++i) {
    egress.denials.push_back(
        {deny("c.o" + std::to_string(i)), b.Compare(ir::NodeOp::NotEqual, port, b.IntegerTerm(i))});
  }
  egress.groups.push_back(std::move(group));
  for (std::size_t place = 0; place < module::BlockCount(1); ++place) {
    if (place / schema::ActionCount == 1) continue;
    ir::Block closed;
    closed.denials.push_back({deny("c.closed")});
    b.SetBlock(place, place == module::BlockOf(0, Action::Egress) ? egress : closed);
  }
  ir::DecisionIr ir = std::move(b).Finish();
  ir.plans.emplace_back().class_name = "c";
  return ir::Encode(ir);
}

TEST_CASE("what finds the rules of an action is told, and how many nothing finds") {
  const Bytes bytes = Module(20, 3);
  const auto policy = module::PolicyModule::Load(bytes, 1);
  REQUIRE(policy);
  const auto costs = SearchCostsOf(*policy);
  REQUIRE(costs.size() == schema::ActionCount);
  const SearchCost& egress = costs[static_cast<std::size_t>(Action::Egress)];
  CHECK(egress.action == "egress");
  CHECK(egress.class_name == "c");
  REQUIRE(egress.found.size() == 2);
  CHECK(egress.found[0].fact == "egress.port");
  CHECK(egress.found[0].rules == 20);
  CHECK(egress.found[1].fact == "egress.host");
  CHECK(egress.found[1].rules == 20);
  CHECK(egress.always == 3);
  CHECK(costs[static_cast<std::size_t>(Action::Create)].classes_always == 1);
  const std::string text = RenderText(costs);
  CHECK(text.find("egress    in c: rules 20 by egress.port, 20 by egress.host, 3 on every request"
                  "\n") != text.npos);
  CHECK(text.find("create    in c: rules 1 on every request; classes 1 on every request\n") !=
        text.npos);
}

TEST_CASE("the bytes of an index grow with the rules that it finds") {
  const auto bytes_of = [](int hosts) {
    const Bytes bytes = Module(hosts, 0);
    const auto policy = module::PolicyModule::Load(bytes, 1);
    REQUIRE(policy);
    return module::IndexBytes(policy->tables());
  };
  const std::size_t few = bytes_of(256);
  const std::size_t many = bytes_of(1024);
  CHECK(many > 2 * few);
  CHECK(many < 6 * few);
  CHECK(many < 1024 * 2 * 128);
}

}  // namespace
}  // namespace curfew::inspect
