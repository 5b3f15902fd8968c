#include "compiler/interpret/interpreter.h"

#include "compiler/base/limits.h"
#include "compiler/ir/decision_ir.h"
#include "compiler/ir/encode.h"
#include "tests/fakes/counted_allocations.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace curfew::interpret {
namespace {

using ir::Builder;
using ir::NodeId;
using ir::NodeOp;
using ir::NoIndex;
using ir::TermId;
using module::Effect;
using module::Request;
using module::RuleIndex;
using module::Value;
using module::ValueClass;
using module::VerdictRoom;
using schema::Action;
using schema::Stage;
namespace slot = schema::slot;

using Names = std::vector<std::string>;

// A module that is put together by hand. Every action has one group, in every class.
class Fixture {
 public:
  explicit Fixture(std::vector<std::string> class_names = {"c"}) {
    b.SetSelection({Deny("class.none"), Deny("class.ambiguous"), Deny("class.not_selected"),
                    Deny("class.gone"), Deny("request.invalid")});
    for (const std::string& name : class_names) {
      classes.push_back({name, b.Constant(true), false, {}});
    }
  }

  RuleIndex Deny(const std::string& id) { return b.Rule({id, Effect::Deny, "", "", 0, 0}); }
  RuleIndex Allow(const std::string& id) { return b.Rule({id, Effect::Allow, "", "", 0, 0}); }

  TermId Text(schema::Slot which) { return b.SlotTerm(which, ValueClass::Text); }
  TermId Number(schema::Slot which) { return b.SlotTerm(which, ValueClass::Integer); }
  NodeId Is(schema::Slot which, std::string_view text) {
    return b.Compare(NodeOp::Equal, Text(which), b.TextTerm(text));
  }

  // The verdict of a module whose every block holds what was set here.
  void Finish() {
    for (const Class& of : classes) {
      b.AddClass(of.name, Allow(of.name), of.when, of.by_name, of.narrowed_by);
    }
    for (std::size_t place = 0; place < module::BlockCount(classes.size()); ++place) {
      const auto action = static_cast<Action>(place % schema::ActionCount);
      ir::Block block;
      if (place / schema::ActionCount == classes.size()) {
        block.denials = set_denials[action];
        block.checks = checks[action];
      } else {
        block.denials = denials[action];
        block.groups.push_back({allows[action], Deny("c.default"), Deny("c.beyond")});
        block.defaults = defaults[action];
      }
      b.SetBlock(place, block);
    }
    ir::DecisionIr made = std::move(b).Finish();
    for (const Class& of : classes) made.plans.emplace_back().class_name = of.name;
    const Outcome verified = ir::Verify(made);
    INFO((verified ? "" : verified.error().message));
    REQUIRE(verified);
    bytes = ir::Encode(made);
    auto loaded = module::PolicyModule::Load(bytes, 7);
    REQUIRE(loaded);
    engine.emplace(*std::move(loaded));
  }

  const module::Verdict& Decide(const Request& request) {
    engine->Decide(request, room.verdict);
    return room.verdict;
  }
  [[nodiscard]] Names NamesOf(const module::RuleList& list) const {
    Names names;
    for (const RuleIndex rule : list.written()) {
      names.emplace_back(engine->module().rule(rule).id);
    }
    return names;
  }
  Names Denials(const Request& request) { return NamesOf(Decide(request).denials); }
  Names Allows(const Request& request) { return NamesOf(Decide(request).allows); }
  // What one condition says, seen through a denial and through an allow at the last stage.
  std::string Says(const Request& request) {
    const bool denies = Decide(request).denials.count > 0;
    if (!denies) return "false";
    return room.verdict.undecided ? "unknown" : "true";
  }

  struct Class {
    std::string name;
    NodeId when;
    bool by_name;
    std::vector<module::ClassIndex> narrowed_by;
  };
  Builder b;
  std::vector<Class> classes;
  std::map<Action, std::vector<ir::Entry>> allows;
  std::map<Action, std::vector<ir::Entry>> denials;
  std::map<Action, std::vector<ir::Entry>> set_denials;
  std::map<Action, std::vector<ir::Entry>> checks;
  std::map<Action, std::vector<module::DefaultRecord>> defaults;
  Bytes bytes;
  std::optional<Interpreter> engine;
  VerdictRoom room;
};

Request InClass(Action action, Stage stage = Stage::Request) {
  Request request(action, stage);
  request.SetText(slot::SandboxClass, "c");
  return request;
}

// ---- Conditions ---------------------------------------------------------------------------------

// One condition as the only denial of an action that is else allowed.
class ConditionFixture : public Fixture {
 public:
  void Use(Action action, NodeId condition) {
    allows[action] = {{Allow("c.all"), NoIndex}};
    denials[action] = {{Deny("c.denied"), condition}};
    Finish();
  }
};

TEST_CASE("a comparison of a fact is unknown while the fact cannot be read") {
  ConditionFixture f;
  f.Use(Action::Exec, f.Is(slot::ExecUser, "agent"));
  Request request = InClass(Action::Exec);
  CHECK(f.Says(request) == "unknown");
  CHECK(f.room.verdict.undecided_slot == slot::ExecUser);
  request.SetAbsent(slot::ExecUser);
  CHECK(f.Says(request) == "unknown");
  request.SetText(slot::ExecUser, "agent");
  CHECK(f.Says(request) == "true");
  request.SetText(slot::ExecUser, "Agent");
  CHECK(f.Says(request) == "false");
}

TEST_CASE("has is false of what is known to be absent") {
  ConditionFixture f;
  f.Use(Action::Exec, f.b.Has(slot::ExecUser));
  Request request = InClass(Action::Exec);
  CHECK(f.Says(request) == "unknown");
  request.SetAbsent(slot::ExecUser);
  CHECK(f.Says(request) == "false");
  request.SetText(slot::ExecUser, "");
  CHECK(f.Says(request) == "true");
}

TEST_CASE("and, or and not keep unknown apart from true and false") {
  const auto value = [](Fixture& f, int truth) {
    return truth == 0   ? f.Is(slot::ExecUser, "someone else")
           : truth == 1 ? f.Is(slot::ExecUser, "agent")
                        : f.Is(slot::ExecCwd, "/");
  };
  const std::string words[] = {"false", "true", "unknown"};
  for (int left = 0; left < 3; ++left) {
    for (int right = 0; right < 3; ++right) {
      for (const NodeOp op : {NodeOp::And, NodeOp::Or}) {
        ConditionFixture f;
        const NodeId a = value(f, left);
        const NodeId c = value(f, right);
        f.Use(Action::Exec, op == NodeOp::And ? f.b.And(a, c) : f.b.Or(a, c));
        Request request = InClass(Action::Exec);
        request.SetText(slot::ExecUser, "agent");
        const int deciding = op == NodeOp::And ? 0 : 1;
        const int other = 1 - deciding;
        const int expected = left == deciding || right == deciding ? deciding
                             : left == other && right == other     ? other
                                                                   : 2;
        INFO(words[left] << " and/or " << words[right]);
        CHECK(f.Says(request) == words[expected]);
      }
    }
    ConditionFixture f;
    f.Use(Action::Exec, f.b.Not(value(f, left)));
    Request request = InClass(Action::Exec);
    request.SetText(slot::ExecUser, "agent");
    CHECK(f.Says(request) == words[left == 2 ? 2 : 1 - left]);
  }
}

TEST_CASE("numbers compare exactly at the ends of their range") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  struct Row {
    NodeOp op;
    std::int64_t left;
    std::int64_t right;
    bool holds;
  };
  const Row rows[] = {
      {NodeOp::Equal, kMost, kMost, true},    {NodeOp::Equal, kLeast, kMost, false},
      {NodeOp::NotEqual, 0, 1, true},         {NodeOp::NotEqual, 1, 1, false},
      {NodeOp::Less, kLeast, kMost, true},    {NodeOp::Less, 1, 1, false},
      {NodeOp::LessEqual, 1, 1, true},        {NodeOp::LessEqual, kMost, kLeast, false},
      {NodeOp::Greater, kMost, kLeast, true}, {NodeOp::Greater, 1, 1, false},
      {NodeOp::GreaterEqual, -1, -1, true},   {NodeOp::GreaterEqual, kLeast, -1, false},
  };
  for (const Row& row : rows) {
    ConditionFixture f;
    f.Use(Action::Export,
          f.b.Compare(row.op, f.Number(slot::ExportSize), f.b.IntegerTerm(row.right)));
    Request request = InClass(Action::Export);
    request.SetInteger(slot::ExportSize, row.left);
    INFO(static_cast<int>(row.op) << " " << row.left << " " << row.right);
    CHECK(f.Says(request) == (row.holds ? "true" : "false"));
  }
}

TEST_CASE("a sum does not wrap") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  ConditionFixture f;
  const TermId size = f.Number(slot::ExportSize);
  const TermId sum =
      f.b.SumTerm(std::array{module::AddendRecord{1, size}, module::AddendRecord{1, size},
                             module::AddendRecord{-1, f.b.IntegerTerm(1)}});
  f.Use(Action::Export, f.b.Compare(NodeOp::Greater, sum, f.b.IntegerTerm(kMost)));
  Request request = InClass(Action::Export);
  CHECK(f.Says(request) == "unknown");
  request.SetInteger(slot::ExportSize, kMost);
  CHECK(f.Says(request) == "true");
  request.SetInteger(slot::ExportSize, 1);
  CHECK(f.Says(request) == "false");
}

TEST_CASE("sets and lists") {
  const std::vector<std::string> texts = {"group:a", "group:b"};
  const Value groups[] = {Value::OfText("group:b"), Value::OfText("group:c")};
  const Value both[] = {Value::OfText("group:a"), Value::OfText("group:b")};
  struct Row {
    NodeOp op;
    bool groups_hold;
    bool both_hold;
    bool none_hold;
  };
  const Row rows[] = {{NodeOp::SubsetOf, false, true, true},
                      {NodeOp::Intersects, true, true, false},
                      {NodeOp::SameItems, false, true, false},
                      {NodeOp::Starts, false, true, false}};
  for (const Row& row : rows) {
    ConditionFixture f;
    f.Use(Action::Exec, f.b.Compare(row.op, f.b.SlotTerm(slot::CallerGroups, ValueClass::TextItems),
                                    f.b.TextSetTerm(texts)));
    Request request = InClass(Action::Exec);
    INFO(static_cast<int>(row.op));
    CHECK(f.Says(request) == "unknown");
    request.Set(slot::CallerGroups, Value::OfItems(groups));
    CHECK(f.Says(request) == (row.groups_hold ? "true" : "false"));
    request.Set(slot::CallerGroups, Value::OfItems(both));
    CHECK(f.Says(request) == (row.both_hold ? "true" : "false"));
    request.Set(slot::CallerGroups, Value::OfItems({}));
    CHECK(f.Says(request) == (row.none_hold ? "true" : "false"));
  }
}

TEST_CASE("a set larger than any that is let in cannot be read") {
  ConditionFixture f;
  f.Use(Action::Exec, f.b.Compare(NodeOp::In, f.b.TextTerm("group:z"),
                                  f.b.SlotTerm(slot::CallerGroups, ValueClass::TextItems)));
  const std::vector<Value> many(limits::SetElementsMax + 1, Value::OfText("group:a"));
  Request request = InClass(Action::Exec);
  request.Set(slot::CallerGroups, Value::OfItems(many));
  CHECK(f.Says(request) == "unknown");
  request.Set(slot::CallerGroups, Value::OfItems(std::span(many).first(limits::SetElementsMax)));
  CHECK(f.Says(request) == "false");
}

TEST_CASE("quantifiers over elements, and over none") {
  struct Row {
    NodeOp op;
    bool some;
    bool empty;
  };
  const Row rows[] = {
      {NodeOp::AnyOf, true, false}, {NodeOp::AllOf, false, true}, {NodeOp::NoneOf, false, true}};
  const Value args[] = {Value::OfText("-c"), Value::OfText("ls")};
  for (const Row& row : rows) {
    ConditionFixture f;
    const NodeId is_flag = f.b.PatternsIn(NodeOp::TextIn, f.b.ElementTerm(ValueClass::Text),
                                          std::array{ir::Pattern{"-*", 0}});
    f.Use(Action::Exec,
          f.b.Quantify(row.op, f.b.SlotTerm(slot::ExecArgs, ValueClass::TextItems), is_flag));
    Request request = InClass(Action::Exec);
    CHECK(f.Says(request) == "unknown");
    request.Set(slot::ExecArgs, Value::OfItems(args));
    CHECK(f.Says(request) == (row.some ? "true" : "false"));
    request.Set(slot::ExecArgs, Value::OfItems({}));
    CHECK(f.Says(request) == (row.empty ? "true" : "false"));
  }
}

TEST_CASE("an address lies in a block or not, and what is no address cannot be judged") {
  ConditionFixture f;
  module::BlockOfAddresses block;
  block.base[10] = block.base[11] = 0xff;
  block.base[12] = 10;
  block.prefix = 96 + 8;
  f.Use(Action::Egress, f.b.AddressIn(f.Text(slot::EgressIp), std::array{block}));
  Request request = InClass(Action::Egress);
  std::string address(16, '\0');
  address[10] = address[11] = static_cast<char>(0xff);
  address[12] = 10;
  request.SetText(slot::EgressIp, address);
  CHECK(f.Says(request) == "true");
  address[12] = 11;
  CHECK(f.Says(request) == "false");
  request.SetText(slot::EgressIp, "10.0.0.1");
  CHECK(f.Says(request) == "unknown");
}

// ---- Stages and groups --------------------------------------------------------------------------

TEST_CASE("before the last stage an unknown allow counts and an unknown deny does not") {
  Fixture f;
  f.allows[Action::Egress] = {{f.Allow("c.allow"), f.Is(slot::EgressMethod, "GET")}};
  f.denials[Action::Egress] = {{f.Deny("c.deny"), f.Is(slot::EgressPath, "/secret")}};
  f.Finish();
  for (const Stage stage : {Stage::Name, Stage::Address}) {
    const auto& verdict = f.Decide(InClass(Action::Egress, stage));
    CHECK(verdict.effect == Effect::Allow);
    CHECK(verdict.stage == stage);
    CHECK_FALSE(verdict.undecided);
    CHECK(f.NamesOf(verdict.allows) == Names{"c.allow"});
  }
  Request request = InClass(Action::Egress);
  CHECK(f.Denials(request) == Names{"c.default", "c.deny"});
  CHECK(f.room.verdict.undecided);
  request.SetText(slot::EgressMethod, "GET");
  CHECK(f.Denials(request) == Names{"c.deny"});
  CHECK(f.room.verdict.undecided_slot == slot::EgressPath);
  request.SetText(slot::EgressPath, "/open");
  CHECK(f.Decide(request).effect == Effect::Allow);
  request.SetText(slot::EgressMethod, "POST");
  CHECK(f.Denials(request) == Names{"c.default"});
  CHECK_FALSE(f.room.verdict.undecided);
}

TEST_CASE("only an egress has stages") {
  Fixture f;
  f.allows[Action::Exec] = {{f.Allow("c.allow"), f.Is(slot::ExecUser, "agent")}};
  f.Finish();
  CHECK(f.Decide(InClass(Action::Exec, Stage::Name)).effect == Effect::Deny);
}

TEST_CASE("an allow beyond its limits is another reason than none") {
  Fixture f;
  f.allows[Action::Exec] = {{f.Allow("c.a"), f.Is(slot::ExecUser, "a"), f.Is(slot::ExecCwd, "/")},
                            {f.Allow("c.b"), f.Is(slot::ExecUser, "b"), f.b.Constant(true)}};
  f.Finish();
  Request request = InClass(Action::Exec);
  request.SetText(slot::ExecCwd, "/tmp");
  request.SetText(slot::ExecUser, "a");
  CHECK(f.Denials(request) == Names{"c.beyond"});
  CHECK(f.Allows(request).empty());
  request.SetText(slot::ExecUser, "b");
  CHECK(f.Allows(request) == Names{"c.b"});
  request.SetText(slot::ExecUser, "x");
  CHECK(f.Denials(request) == Names{"c.default"});
}

TEST_CASE("a sure denial decides, whatever else is unknown") {
  Fixture f;
  f.allows[Action::Exec] = {{f.Allow("c.allow"), NoIndex}};
  f.denials[Action::Exec] = {{f.Deny("c.unknown"), f.Is(slot::ExecUser, "a")},
                             {f.Deny("c.sure"), f.b.Constant(true)}};
  f.Finish();
  CHECK(f.Denials(InClass(Action::Exec)) == Names{"c.sure", "c.unknown"});
  CHECK_FALSE(f.room.verdict.undecided);
  CHECK(f.NamesOf(f.room.verdict.allows) == Names{"c.allow"});
}

TEST_CASE("every verdict names its generation and class, and starts afresh") {
  Fixture f;
  f.allows[Action::Exec] = {{f.Allow("c.allow"), NoIndex}};
  f.Finish();
  Request gone(Action::Exec);
  CHECK(f.Denials(gone) == Names{"class.gone"});
  CHECK(f.room.verdict.undecided_slot == slot::SandboxClass);
  CHECK(f.room.verdict.class_index == module::NoClass);
  CHECK(f.room.verdict.generation == 7);
  CHECK(f.Decide(InClass(Action::Exec)).effect == Effect::Allow);
  CHECK(f.room.verdict.class_index == 0);
  CHECK(f.room.verdict.denials.count == 0);
  CHECK_FALSE(f.room.verdict.undecided);
}

TEST_CASE("more denials than room is said, and the smallest are named") {
  Fixture f;
  for (int i = 0; i < 100; ++i) {
    f.set_denials[Action::Exec].push_back({f.Deny("d" + std::to_string(1000 - i)), NoIndex});
  }
  f.Finish();
  const Names names = f.Denials(InClass(Action::Exec));
  CHECK(names.size() == limits::VerdictIdsMax);
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK(names.front() == "c.default");
  CHECK(f.room.verdict.denials.overflowed());
}

// ---- Class selection ----------------------------------------------------------------------------

class Selection : public Fixture {
 public:
  Selection() : Fixture({"a", "b", "n"}) {
    for (Class& of : classes) of.when = Is(slot::TaskKind, of.name);
    allows[Action::Create] = {{Allow("x.image"), NoIndex}};
  }
  Request Kind(std::string_view kind) {
    Request request(Action::Create);
    request.SetText(slot::TaskKind, kind);
    request.SetAbsent(slot::CreateClass);
    return request;
  }
};

TEST_CASE("one candidate is selected, and an allowed create bears its name") {
  Selection f;
  f.Finish();
  CHECK(f.Allows(f.Kind("b")) == Names{"b", "x.image"});
  CHECK(f.room.verdict.class_index == 1);
  CHECK(f.Denials(f.Kind("other")) == Names{"class.none"});
  CHECK(f.room.verdict.class_index == module::NoClass);
}

TEST_CASE("a class that is named must be the one that is selected") {
  Selection f;
  f.Finish();
  Request request = f.Kind("a");
  request.SetText(slot::CreateClass, "b");
  CHECK(f.Denials(request) == Names{"class.not_selected"});
  request.SetText(slot::CreateClass, "a");
  CHECK(f.Decide(request).effect == Effect::Allow);
  request.SetUnknown(slot::CreateClass);
  CHECK(f.Denials(request) == Names{"class.not_selected"});
  CHECK(f.room.verdict.undecided);
}

TEST_CASE("a class by name is a candidate only when it is named") {
  Selection f;
  f.classes[1].by_name = true;
  f.classes[1].when = f.b.Constant(true);
  f.Finish();
  CHECK(f.Denials(f.Kind("b")) == Names{"class.none"});
  Request request = f.Kind("b");
  request.SetText(slot::CreateClass, "b");
  CHECK(f.Decide(request).effect == Effect::Allow);
  // Named, it stands beside the other candidate.
  request = f.Kind("a");
  request.SetText(slot::CreateClass, "b");
  CHECK(f.Denials(request) == Names{"class.ambiguous"});
}

TEST_CASE("a narrower candidate puts the wider aside only when it surely is one") {
  Selection f;
  f.classes[0].when = f.b.Constant(true);
  f.classes[0].narrowed_by = {2};
  f.Finish();
  f.Decide(f.Kind("n"));
  CHECK(f.room.verdict.effect == Effect::Allow);
  CHECK(f.room.verdict.class_index == 2);
  f.Decide(f.Kind("other"));
  CHECK(f.room.verdict.class_index == 0);
  CHECK(f.Denials(f.Kind("b")) == Names{"class.ambiguous"});
  CHECK_FALSE(f.room.verdict.undecided);
  Request request = f.Kind("n");
  request.SetUnknown(slot::TaskKind);
  CHECK(f.Denials(request) == Names{"class.ambiguous"});
  CHECK(f.room.verdict.undecided_slot == slot::TaskKind);
}

TEST_CASE("a left-out wish is its default, after the checks saw the request as it came") {
  Fixture f;
  f.checks[Action::Create] = {
      {f.Deny("request.invalid"),
       f.b.And(f.b.Has(slot::CreateDisk),
               f.b.Compare(NodeOp::Less, f.Number(slot::CreateDisk), f.b.IntegerTerm(1)))}};
  f.defaults[Action::Create] = {{.slot = slot::CreateDisk, .integer = 0}};
  f.allows[Action::Create] = {
      {f.Allow("c.image"),
       f.b.Compare(NodeOp::Equal, f.Number(slot::CreateDisk), f.b.IntegerTerm(0))}};
  f.Finish();
  Request request(Action::Create);
  request.SetAbsent(slot::CreateClass);
  request.SetAbsent(slot::CreateDisk);
  CHECK(f.Decide(request).effect == Effect::Allow);
  request.SetInteger(slot::CreateDisk, 0);
  CHECK(f.Denials(request) == Names{"request.invalid"});
  request.SetUnknown(slot::CreateDisk);
  CHECK(f.Decide(request).undecided);
}

// ---- Cost ---------------------------------------------------------------------------------------

TEST_CASE("a decision allocates nothing and can be made by many at once") {
  Selection f;
  for (int i = 0; i < 200; ++i) {
    f.set_denials[Action::Create].push_back(
        {f.Deny("d" + std::to_string(i)), f.Is(slot::TaskTeam, "t" + std::to_string(i % 50))});
  }
  f.defaults[Action::Create] = {{.slot = slot::CreateCpu, .integer = 1}};
  f.Finish();
  Request request = f.Kind("a");
  request.SetAbsent(slot::CreateCpu);
  request.SetText(slot::TaskTeam, "t7");

  const std::size_t before = allocations;
  for (int i = 0; i < 100; ++i) f.engine->Decide(request, f.room.verdict);
  CHECK(allocations == before);
  CHECK(f.room.verdict.denials.count == 4);

  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      VerdictRoom own;
      for (int i = 0; i < 500; ++i) {
        f.engine->Decide(request, own.verdict);
        if (own.verdict.denials.count != 4) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace curfew::interpret
