#include "compiler/base/limits.h"
#include "compiler/ir/decision_ir.h"
#include "compiler/ir/encode.h"
#include "compiler/ir/print.h"
#include "compiler/module/layout.h"
#include "compiler/module/plan_codec.h"

#include <cstring>
#include <functional>

#include <catch2/catch.hpp>

namespace curfew::ir {
namespace {

using module::Effect;
using module::TermKind;
using module::ValueClass;
using schema::Action;
namespace slot = schema::slot;

// A small module with one of everything that the verifier looks at.
DecisionIr Whole() {
  Builder b;
  const auto deny = [&](const char* id) { return b.Rule({id, Effect::Deny, "no", "", 0, 0}); };
  const auto allow = [&](const char* id) { return b.Rule({id, Effect::Allow, "", "a", 3, 4}); };
  const auto never = b.Rule({"set.y", Effect::Deny, "no", "a", 5, 1, true});
  b.SetSelection({deny("class.none"), deny("class.ambiguous"), deny("class.not_selected"),
                  deny("class.gone"), deny("request.invalid")});
  const NodeId when =
      b.Compare(NodeOp::Equal, b.SlotTerm(slot::TaskKind, ValueClass::Text), b.TextTerm("coding"));
  b.AddClass("coding", allow("coding"), when, false, {});

  const TermId groups = b.SlotTerm(slot::CallerGroups, ValueClass::TextItems);
  const NodeId any_group = b.Quantify(
      NodeOp::AnyOf, groups,
      b.PatternsIn(NodeOp::TextIn, b.ElementTerm(ValueClass::Text), std::array{Pattern{"g*", 0}}));
  const std::vector<std::string> listed = {"user:b", "user:a"};
  const NodeId few = b.Compare(NodeOp::Less, b.CountTerm(groups), b.IntegerTerm(3));
  const NodeId known =
      b.Compare(NodeOp::In, b.SlotTerm(slot::CallerId, ValueClass::Text), b.TextSetTerm(listed));
  for (std::size_t place = 0; place < module::BlockCount(1); ++place) {
    Block block;
    const auto action = static_cast<Action>(place % schema::ActionCount);
    const bool of_set = place / schema::ActionCount == 1;
    if (of_set) {
      block.denials.push_back({deny("set.x"), b.And(any_group, b.Not(known))});
      block.denials.push_back({never, known});
    } else {
      block.groups.push_back(
          {{{allow("coding.all"), few}}, deny("coding.none"), deny("coding.none")});
    }
    if (action == Action::Create && place == 0) {
      block.defaults.push_back({.slot = slot::CreateCpu, .integer = 2});
      block.defaults.push_back({.slot = slot::CreateImageRef,
                                .kind = module::DefaultRecord::Kind::Text,
                                .text = b.Text("")});
    }
    if (action == Action::Egress && place == schema::ActionCount - 7) {
      block.denials.push_back(
          {deny("builtin.address"), b.AddressIn(b.SlotTerm(slot::EgressIp, ValueClass::Text),
                                                std::array{module::BlockOfAddresses{{}, 96}})});
      block.denials.push_back(
          {deny("coding.host"),
           b.PatternsIn(NodeOp::HostIn, b.SlotTerm(slot::EgressHost, ValueClass::Text),
                        std::array{Pattern{"example.com", 1}})});
    }
    b.SetBlock(place, block);
  }
  DecisionIr ir = std::move(b).Finish();
  ir.compiler = "test";
  ir.plans.emplace_back().class_name = "coding";
  ir.declared.push_back(
      {.path = "task.risk", .kind = schema::TypeKind::Enum, .enum_values = {"low", "high"}});
  return ir;
}

TEST_CASE("equal decision code has equal bytes and text, and both say what is in it") {
  CHECK(Encode(Whole()) == Encode(Whole()));
  const std::string text = Print(Whole());
  CHECK(text == Print(Whole()));
  CHECK(text.find("class coding when equal(task.kind, \"coding\")") != std::string::npos);
  CHECK(text.find("deny coding.host host_in(egress.host, [1:\"example.com\"])") !=
        std::string::npos);
  CHECK(text.find("rule never set.y \"no\"") != std::string::npos);
  CHECK(text.find("in(caller.id, {\"user:a\", \"user:b\"})") != std::string::npos);
}

TEST_CASE("a module names its rules, classes, plans and declared attributes") {
  const Bytes bytes = Encode(Whole());
  const auto loaded = module::PolicyModule::Load(bytes, 42);
  REQUIRE(loaded);
  CHECK(loaded->manifest().generation == 42);
  CHECK(loaded->manifest().compiler == "test");
  CHECK(loaded->manifest().language == 1);
  CHECK(loaded->manifest().operations_max > 0);
  CHECK(loaded->class_count() == 1);
  CHECK(loaded->FindClass("coding") == 0u);
  CHECK_FALSE(loaded->FindClass("codin"));
  CHECK(loaded->plan(0).class_name == "coding");
  REQUIRE(loaded->declared().size() == 1);
  CHECK(loaded->declared()[0].enum_values == std::vector<std::string>{"low", "high"});
  const auto rule = loaded->FindRule("coding.all");
  REQUIRE(rule);
  CHECK(loaded->rule(*rule).file == "a");
  CHECK(loaded->rule(*rule).line == 3);
  CHECK(loaded->rule(*rule).effect == Effect::Allow);
  CHECK_FALSE(loaded->rule(*rule).never);
  const auto never = loaded->FindRule("set.y");
  REQUIRE(never);
  CHECK(loaded->rule(*never).never);
  CHECK_FALSE(loaded->FindRule("coding.al"));
}

TEST_CASE("conditions fold, flatten and share") {
  Builder b;
  const NodeId a = b.Has(1);
  const NodeId c = b.Has(2);
  CHECK(b.And(a, b.Constant(true)) == a);
  CHECK(b.And(a, b.Constant(false)) == b.Constant(false));
  CHECK(b.Or(a, b.Constant(true)) == b.Constant(true));
  CHECK(b.Not(b.Not(a)) == a);
  CHECK(b.And(a, a) == a);
  CHECK(b.And(a, c) == b.And(a, c));
  CHECK(b.And(b.And(a, c), b.Has(3)) == b.And(std::array{a, c, b.Has(3)}));
  CHECK(b.And(std::span<const NodeId>()) == b.Constant(true));
  CHECK(b.Or(std::span<const NodeId>()) == b.Constant(false));
}

// ---- What the verifier refuses ------------------------------------------------------------------

std::uint32_t FirstTerm(const DecisionIr& ir, TermKind kind) {
  for (std::uint32_t i = 0; i < ir.terms.size(); ++i) {
    if (ir.terms[i].kind == kind) return i;
  }
  FAIL("no such term");
  return 0;
}
std::uint32_t FirstNode(const DecisionIr& ir, NodeOp op) {
  for (std::uint32_t i = 0; i < ir.nodes.size(); ++i) {
    if (ir.nodes[i].op == op) return i;
  }
  FAIL("no such node");
  return 0;
}

TEST_CASE("the verifier refuses every way to be wrong") {
  struct Fault {
    const char* what;
    std::function<void(DecisionIr&)> make;
  };
  const std::vector<Fault> faults = {
      {"a rule's name out of range", [](auto& ir) { ir.rules[0].id.offset = 1u << 30; }},
      {"a rule with a mark that is none", [](auto& ir) { ir.rules[0].never = 2; }},
      {"an allow that is marked never",
       [](auto& ir) { ir.rules[ir.entries[ir.groups[0].entries.first].rule].never = 1; }},
      {"a built-in that is marked never", [](auto& ir) { ir.rules[ir.selection.none].never = 1; }},
      {"a never that silence stands for",
       [](auto& ir) { ir.rules[ir.groups[0].default_denial].never = 1; }},
      {"a never on trial",
       [](auto& ir) {
         for (module::BlockRecord& block : ir.blocks) {
           if (block.groups.count == 0) std::swap(block.trials, block.denials);
         }
       }},
      {"a rule without an id", [](auto& ir) { ir.rules[0].id.size = 0; }},
      {"rules out of order", [](auto& ir) { std::swap(ir.rules[0], ir.rules.back()); }},
      {"a name that is not UTF-8", [](auto& ir) { ir.names[0] = '\xff'; }},
      {"texts out of order", [](auto& ir) { ir.data[ir.texts.back().offset] = '\0'; }},
      {"a text out of place", [](auto& ir) { ir.texts[1].offset += 1; }},
      {"bytes without a text", [](auto& ir) { ir.data += "x"; }},
      {"a term of another type than its slot",
       [](auto& ir) { ir.terms[FirstTerm(ir, TermKind::Slot)].value = ValueClass::Integer; }},
      {"a term beyond the slots",
       [](auto& ir) { ir.terms[FirstTerm(ir, TermKind::Slot)].slot = 99; }},
      {"a term of no kind", [](auto& ir) { ir.terms[0].kind = static_cast<TermKind>(99); }},
      {"a set out of order",
       [](auto& ir) {
         const auto& set = ir.terms[FirstTerm(ir, TermKind::TextSet)];
         std::swap(ir.text_items[set.a], ir.text_items[set.a + 1]);
       }},
      {"a set out of range", [](auto& ir) { ir.terms[FirstTerm(ir, TermKind::TextSet)].b = 1000; }},
      {"a count of no set",
       [](auto& ir) {
         ir.terms[FirstTerm(ir, TermKind::Count)].a = FirstTerm(ir, TermKind::Integer);
       }},
      {"a node of no kind", [](auto& ir) { ir.nodes[0].op = static_cast<NodeOp>(77); }},
      {"a node that is its own child",
       [](auto& ir) {
         const auto node = FirstNode(ir, NodeOp::Not);
         ir.nodes[node].a = node;
       }},
      {"a child that comes later",
       [](auto& ir) { ir.children[0] = static_cast<std::uint32_t>(ir.nodes.size() - 1); }},
      {"children that two nodes share",
       [](auto& ir) { ir.nodes.push_back(ir.nodes[FirstNode(ir, NodeOp::And)]); }},
      {"a comparison of a number with text",
       [](auto& ir) { ir.nodes[FirstNode(ir, NodeOp::Less)].b = FirstTerm(ir, TermKind::Text); }},
      {"an element outside of a quantifier",
       [](auto& ir) { ir.classes[0].when = ir.nodes[FirstNode(ir, NodeOp::AnyOf)].b; }},
      {"a pattern that is not canonical",
       [](auto& ir) { ir.nodes[FirstNode(ir, NodeOp::HostIn)].op = NodeOp::PathIn; }},
      {"a block that is too long", [](auto& ir) { ir.addresses[0].prefix = 129; }},
      {"an allow that denies",
       [](auto& ir) { ir.entries[ir.groups[0].entries.first].rule = ir.groups[0].default_denial; }},
      {"a group without a denial",
       [](auto& ir) { ir.groups[0].default_denial = ir.entries[ir.groups[0].entries.first].rule; }},
      {"a block that grants by silence", [](auto& ir) { ir.blocks[0].groups.count = 0; }},
      {"a missing block", [](auto& ir) { ir.blocks.pop_back(); }},
      {"a default that rests on no number",
       [](auto& ir) { ir.defaults[0].when_slot = slot::CallerId; }},
      {"a default that rests on no fact", [](auto& ir) { ir.defaults[0].when_slot = 200; }},
      {"a default of another type", [](auto& ir) { ir.defaults[0].slot = slot::CallerId; }},
      {"a class without a plan", [](auto& ir) { ir.plans.clear(); }},
      {"a class's link to nowhere",
       [](auto& ir) {
         ir.class_links.push_back(7);
         ir.classes[0].narrowed_by = {0, 1};
       }},
      {"a missing built-in", [](auto& ir) { ir.selection.none = 1000; }},
  };
  REQUIRE(Verify(Whole()));
  for (const Fault& fault : faults) {
    DecisionIr ir = Whole();
    fault.make(ir);
    INFO(fault.what);
    const Outcome outcome = Verify(ir);
    CHECK_FALSE(outcome);
    // Nor is it let in as bytes.
    CHECK_FALSE(module::PolicyModule::Load(Encode(ir), 1));
  }
}

// Ten allows of one block by host, and one by port.
DecisionIr Indexed() {
  Builder b;
  const auto deny = [&](const char* id) { return b.Rule({id, Effect::Deny, "no", "", 0, 0}); };
  b.SetSelection({deny("class.none"), deny("class.ambiguous"), deny("class.not_selected"),
                  deny("class.gone"), deny("request.invalid")});
  Group group{{}, deny("default"), deny("default")};
  const RuleIndex rule = b.Rule({"allow", Effect::Allow, "", "", 0, 0});
  for (const char* host : {"a.b", "b.b", "c.b", "d.b", "e.b", "f.b", "g.b", "h.b", "i.b", "j.b"}) {
    const NodeId says = b.PatternsIn(NodeOp::HostIn, b.SlotTerm(slot::EgressHost, ValueClass::Text),
                                     std::array{Pattern{host, 0}, Pattern{host, 2}});
    group.entries.push_back({rule, says});
  }
  group.entries.push_back(
      {rule, b.Compare(NodeOp::Equal, b.SlotTerm(slot::EgressPort, ValueClass::Integer),
                       b.IntegerTerm(1))});
  for (std::size_t place = 0; place < module::BlockCount(0); ++place) {
    Block block;
    const bool of_set = place < schema::ActionCount;
    const bool is_egress = static_cast<Action>(place % schema::ActionCount) == Action::Egress;
    if (!of_set && is_egress) block.groups.push_back(group);
    if (!of_set && !is_egress) block.denials.push_back({deny("class.gone")});
    b.SetBlock(place, block);
  }
  return std::move(b).Finish();
}

TEST_CASE("an index that leaves out, adds or misplaces anything is refused") {
  using Fault = std::function<void(module::EntryIndex&)>;
  const std::vector<Fault> faults = {
      [](auto& index) { index.group_indexes[0] = NoIndex; },
      [](auto& index) { index.group_indexes[0] = 1; },
      [](auto& index) { index.group_indexes.clear(); },
      [](auto& index) { index.block_indexes[0] = 0; },
      [](auto& index) { index.block_indexes.push_back(NoIndex); },
      [](auto& index) { index.listed.pop_back(); },
      [](auto& index) { index.listed[0] = 1u << 30; },
      [](auto& index) { index.indexes[0].slot += 1; },
      [](auto& index) { index.indexes[0].lengths[0] = 0; },
      [](auto& index) { index.indexes[0].unkeyed.count = 0; },
      [](auto& index) { index.indexes[0].keyed.count = 0; },
      [](auto& index) { index.indexes[0].kind = module::IndexKind::Path; },
      [](auto& index) { index.indexes[0].beside = 1; },
      [](auto& index) { index.marks.resize(2); },
      [](auto& index) { index.indexes[0].entries.count -= 1; },
      [](auto& index) { index.indexes.clear(); },
      [](auto& index) { index.keys.clear(); },
      [](auto& index) { index.keys.resize(3); },
      [](auto& index) {
        for (auto& key : index.keys) key.text.offset = 0;  // a search without an end
      },
      [](auto& index) {
        for (auto& key : index.keys) key.tag ^= 1;
      },
      [](auto& index) {
        for (auto& key : index.keys) key.postings.count = 0;
      },
      [](auto& index) {
        for (auto& key : index.keys) key.postings.first = 1u << 30;
      },
      [](auto& index) {
        for (auto& key : index.keys) key.text.size += 1;
      },
      [](auto& index) {
        for (auto& key : index.keys) key.only.entry += 1;
      },
      [](auto& index) { std::swap(index.keys[0], index.keys[1]), index.keys[0].tag ^= 1; },
      [](auto& index) { index.postings[3].reach = 0, index.postings[2].reach = 0; },
      [](auto& index) { index.postings[0].entry += 1; },
      [](auto& index) { index.postings.pop_back(); },
      [](auto& index) { index.postings[0].index = 9; },
  };
  const DecisionIr whole = Indexed();
  REQUIRE(Verify(whole));
  REQUIRE(whole.index.indexes.size() == 1);
  REQUIRE(whole.index.postings.size() == 20);
  REQUIRE(whole.index.listed.size() == 11);
  for (std::size_t i = 0; i < faults.size(); ++i) {
    CAPTURE(i);
    DecisionIr ir = Indexed();
    faults[i](ir.index);
    const Outcome outcome = Verify(ir);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().message.find("index") != std::string::npos);
  }
  // Tables that no longer are what the index says.
  DecisionIr ir = Indexed();
  std::swap(ir.patterns[0], ir.patterns[1]);
  CHECK_FALSE(Verify(ir));
  ir = Indexed();
  std::swap(ir.entries[ir.groups[0].entries.first], ir.entries[ir.groups[0].entries.first + 1]);
  CHECK_FALSE(Verify(ir));
}

TEST_CASE("depth and steps are bounded") {
  DecisionIr deep = Whole();
  for (std::size_t i = 0; i <= limits::ConditionDepthMax; ++i) {
    deep.nodes.push_back(
        {.op = NodeOp::Not, .a = static_cast<std::uint32_t>(deep.nodes.size() - 1)});
  }
  const Outcome too_deep = Verify(deep);
  REQUIRE_FALSE(too_deep);
  CHECK(too_deep.error().code == FailureCode::TooLarge);

  // Nodes that share children stand for exponentially many steps.
  DecisionIr wide = Whole();
  for (int i = 0; i < 40; ++i) {
    const auto last = static_cast<std::uint32_t>(wide.nodes.size() - 1);
    const auto first = static_cast<std::uint32_t>(wide.children.size());
    wide.children.insert(wide.children.end(), {last, last});
    wide.nodes.push_back({.op = NodeOp::And, .a = first, .b = 2});
  }
  wide.classes[0].when = static_cast<std::uint32_t>(wide.nodes.size() - 1);
  const Outcome too_much = Verify(wide);
  REQUIRE_FALSE(too_much);
  CHECK(too_much.error().code == FailureCode::TooLarge);
}

// ---- Bytes --------------------------------------------------------------------------------------

TEST_CASE("bytes that are no module are refused with what is wrong") {
  const Bytes good = Encode(Whole());
  const auto code_of = [](const Bytes& bytes) {
    const auto loaded = module::PolicyModule::Load(bytes, 1);
    REQUIRE_FALSE(loaded);
    CHECK_FALSE(loaded.error().message.empty());
    return loaded.error().code;
  };
  CHECK(code_of({}) == FailureCode::Malformed);
  for (std::size_t size = 0; size < good.size(); size += 7) {
    CHECK(code_of(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))) ==
          FailureCode::Malformed);
  }
  Bytes longer = good;
  longer.push_back(0);
  CHECK(code_of(longer) == FailureCode::Malformed);
  Bytes other_version = good;
  ++other_version[8];
  CHECK(code_of(other_version) == FailureCode::Malformed);
  for (std::size_t i = sizeof(module::layout::FileHeader); i < good.size(); i += 3) {
    Bytes flipped = good;
    flipped[i] ^= 1;
    CHECK(code_of(flipped) == FailureCode::Tampered);
  }
  // Not where records can be read in place.
  Bytes shifted(good.size() + 1);
  std::memcpy(shifted.data() + 1, good.data(), good.size());
  CHECK_FALSE(module::PolicyModule::Load(ByteView(shifted).subspan(1), 1));
}

TEST_CASE("plan templates and declared attributes come back as they went") {
  module::PlanTemplate plan;
  plan.class_name = "coding";
  plan.images = {{"python", "registry.example/python", Sha256(AsBytes("x"))}, {"other", "", {}}};
  plan.cpu = {2, 4};
  plan.memory_bytes = {std::nullopt, 1 << 30};
  plan.disk_bytes = {1, 2};
  plan.disk_is_bounded = true;
  plan.isolation = module::Isolation::Any;
  plan.token = module::TokenGrant{"bridge", 1000};
  plan.access = {"group:sre"};
  plan.access_any = true;
  plan.secrets = {
      {"token", true, "/etc/token", module::SecretForm::Header, "x-key", {{"api.example", 8443}}}};
  plan.secret_uses = {{"c.network.a", "token"}};
  plan.env = {"LANG"};
  plan.scratch = {{"/work", 5}};
  plan.exports = {{{"/work/out/**", "/x"}, true, 7}};
  plan.network = true;
  plan.inspects_tls = true;
  plan.opens_websockets = true;
  plan.limits = {100, 1000, std::nullopt, 3};
  plan.exposes = {{80, 90, "task.owner", {1, 2}}};
  plan.ttl_ms = {1, 2};
  plan.idle_ms = 3;
  plan.idle_end = module::IdleEnd::Freeze;
  plan.grace_ms = 4;
  plan.evidence = {2, {"x-api-key"}, 5};
  const std::vector<module::PlanTemplate> plans = {plan, module::PlanTemplate()};
  const Bytes bytes = module::EncodePlans(plans);
  const auto decoded = module::DecodePlans(bytes);
  REQUIRE(decoded);
  CHECK(*decoded == plans);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(module::DecodePlans(ByteView(bytes).first(size)));
  }
  Bytes longer = bytes;
  longer.push_back(0);
  CHECK_FALSE(module::DecodePlans(longer));
}

}  // namespace
}  // namespace curfew::ir
