#include "compiler/codegen/emit.h"
#include "compiler/codegen/shape.h"
#include "compiler/ir/decision_ir.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace curfew::codegen {
namespace {

using ir::Builder;
using ir::NodeId;
using ir::NodeOp;
using module::Effect;
using module::ValueClass;
using schema::Action;
namespace slot = schema::slot;

// A module without classes, whose block for an egress of no class holds one denial for each
// condition.
ir::DecisionIr With(Builder b, const std::vector<NodeId>& conditions) {
  const auto deny = b.Rule({"deny", Effect::Deny, "no", "", 0, 0});
  b.SetSelection({deny, deny, deny, deny, deny});
  ir::Block block;
  for (const NodeId condition : conditions) block.denials.push_back({deny, condition});
  b.SetBlock(module::GoneBlock(0, Action::Egress), block);
  return std::move(b).Finish();
}

NodeId HostAndPort(Builder& b, const std::string& host, std::int64_t port) {
  const ir::Pattern pattern{host, 0};
  return b.And(b.PatternsIn(NodeOp::HostIn, b.SlotTerm(slot::EgressHost, ValueClass::Text),
                            std::span(&pattern, 1)),
               b.Compare(NodeOp::Equal, b.SlotTerm(slot::EgressPort, ValueClass::Integer),
                         b.IntegerTerm(port)));
}

TEST_CASE("conditions that differ in constants only are one shape") {
  Builder b;
  std::vector<NodeId> conditions;
  for (int i = 0; i < 1000; ++i) {
    conditions.push_back(HostAndPort(b, "h" + std::to_string(i) + ".example", 1 + i));
  }
  const ir::DecisionIr ir = With(std::move(b), conditions);
  const auto shaped = TakeShapes(ir::View(ir));
  // The whole, and what is left of it where the index led to it by its host; of the same words.
  REQUIRE(shaped.shapes.size() == 2);
  CHECK(shaped.entries[7].condition.shape != shaped.entries[7].keyed.shape);
  CHECK(shaped.entries[7].condition.words == shaped.entries[7].keyed.words);
  CHECK(shaped.shapes[0].words == 3);  // the node, the host, the port
  // Each has its own constants.
  CHECK(shaped.words.size() == 3000);
  const auto& first = shaped.entries[0].condition;
  const auto& last = shaped.entries[999].condition;
  CHECK(shaped.words[first.words + 2] == 1);
  CHECK(shaped.words[last.words + 2] == 1000);
}

TEST_CASE("alike parts of a condition are run in a loop") {
  Builder b;
  std::vector<NodeId> parts;
  for (int i = 0; i < 500; ++i) parts.push_back(HostAndPort(b, "h" + std::to_string(i), 1 + i));
  const std::vector<NodeId> few(parts.begin(), parts.begin() + 100);
  const NodeId all = b.Or(parts);
  const NodeId some = b.Or(few);
  const ir::DecisionIr ir = With(std::move(b), {all, some});
  const auto shaped = TakeShapes(ir::View(ir));
  // That of a part, and that of both junctions, however long they are.
  CHECK(shaped.shapes.size() == 2);
  CHECK(shaped.entries[0].condition.shape == shaped.entries[1].condition.shape);
  const auto run = native::RangeOf(shaped.words[shaped.entries[0].condition.words + 1]);
  CHECK(run.count == 500);
  CHECK(shaped.words[run.first + 2] == 1);
  CHECK(shaped.words[run.first + 3 * 499 + 2] == 500);
}

TEST_CASE("blocks of addresses are joined and in order") {
  Builder b;
  const auto block = [](std::uint8_t first, std::uint32_t prefix) {
    module::BlockOfAddresses of;
    of.base[0] = first;
    of.prefix = prefix;
    return of;
  };
  const std::vector blocks = {block(0x40, 8), block(0x20, 4), block(0x21, 8), block(0x20, 128)};
  const NodeId node = b.AddressIn(b.SlotTerm(slot::EgressIp, ValueClass::Text), blocks);
  const ir::DecisionIr ir = With(std::move(b), {node});
  const auto shaped = TakeShapes(ir::View(ir));
  const auto range = native::RangeOf(shaped.words[shaped.entries[0].condition.words + 1]);
  REQUIRE(range.count == 2);
  const std::vector<std::uint64_t> words(shaped.words.begin() + range.first,
                                         shaped.words.begin() + range.first + 8);
  constexpr std::uint64_t kByte = std::uint64_t{1} << 56;
  CHECK(words == std::vector<std::uint64_t>{0x20 * kByte, 0, 0x30 * kByte - 1, ~std::uint64_t{0},
                                            0x40 * kByte, 0, 0x41 * kByte - 1, ~std::uint64_t{0}});
}

TEST_CASE("of conditions of too many kinds the first are compiled, and the rest is interpreted") {
  Builder b;
  std::vector<NodeId> conditions;
  NodeId condition = b.Has(slot::EgressHost);
  for (int i = 0; i < 400; ++i) {
    condition = b.And(b.Has(i % 2 == 0 ? slot::EgressIp : slot::EgressHost),
                      b.Or(condition, b.Not(b.Has(static_cast<schema::Slot>(i % 9)))));
    conditions.push_back(condition);
  }
  const ir::DecisionIr ir = With(std::move(b), conditions);
  const auto shaped = TakeShapes(ir::View(ir));
  CHECK(shaped.entries.front().condition.has_shape());
  const ShapedCondition& last = shaped.entries.back().condition;
  CHECK(last.shape == ShapedCondition::Interpreted);
  CHECK(last.words == ir.entries.back().condition);
  CHECK(shaped.shapes.size() < 400);
}

TEST_CASE("what is emitted is sound to LLVM and refers to nothing outside") {
  Builder b;
  const auto text = [&](schema::Slot which) { return b.SlotTerm(which, ValueClass::Text); };
  const auto groups = b.SlotTerm(slot::CallerGroups, ValueClass::TextItems);
  const std::vector<std::string> listed = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  const ir::Pattern glob{"x*", 0};
  const std::vector<NodeId> conditions = {
      HostAndPort(b, "h.example", 80),
      b.Not(b.Compare(NodeOp::In, text(slot::CallerId), b.TextSetTerm(listed))),
      b.Quantify(
          NodeOp::NoneOf, groups,
          b.PatternsIn(NodeOp::TextIn, b.ElementTerm(ValueClass::Text), std::span(&glob, 1))),
      b.Quantify(NodeOp::AllOf, b.TextSetTerm(listed),
                 b.Compare(NodeOp::Less, b.ElementTerm(ValueClass::Text), text(slot::CallerId))),
      b.Compare(NodeOp::Greater, b.CountTerm(groups), b.IntegerTerm(3)),
      b.Compare(NodeOp::SubsetOf, groups, b.TextSetTerm(listed)),
  };
  const ir::DecisionIr ir = With(std::move(b), conditions);
  const auto shaped = TakeShapes(ir::View(ir));
  for (const Effort effort : {Effort::Full, Effort::Light}) {
    LlvmUnit unit = Emit(shaped, "", "");
    const std::string before = Print(unit);
    const Outcome made = Optimise(unit, effort);
    INFO((made ? "" : made.error().message));
    REQUIRE(made);
    const std::string after = Print(unit);
    CHECK(before.size() > after.size());
    CHECK(after.find("define internal i32 @shape0(ptr") != std::string::npos);
    CHECK(after.find("\n@") == std::string::npos);
    CHECK(after.find("declare i32") == std::string::npos);
  }
}

}  // namespace
}  // namespace curfew::codegen
