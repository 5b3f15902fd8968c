#include "compiler/interpret/interpreter.h"
#include "compiler/ir/decision_ir.h"
#include "compiler/ir/encode.h"
#include "compiler/record/record_format.h"
#include "compiler/record/record_reader.h"
#include "compiler/record/record_writer.h"
#include "tests/fakes/counted_allocations.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::record {
namespace {

using ir::NodeId;
using ir::NodeOp;
using module::Effect;
using module::Request;
using module::Value;
using module::ValueClass;
using schema::Action;
using schema::Stage;
namespace slot = schema::slot;

// A set of one class, in which an egress is allowed by host, path and group, and `denials` more
// rules deny a port of their own.
class Fixture {
 public:
  explicit Fixture(int denials = 1) {
    const auto rule = [&](const std::string& id, Effect effect) {
      return b_.Rule({id, effect, "", "", 0, 0});
    };
    const auto deny = [&](const std::string& id) { return rule(id, Effect::Deny); };
    b_.SetSelection({deny("class.none"), deny("class.ambiguous"), deny("class.not_selected"),
                     deny("class.gone"), deny("request.invalid")});
    const auto text = [&](schema::Slot which, const char* value) {
      return b_.Compare(NodeOp::Equal, b_.SlotTerm(which, ValueClass::Text), b_.TextTerm(value));
    };
    const NodeId in_group = b_.Compare(NodeOp::In, b_.TextTerm("group:sre"),
                                       b_.SlotTerm(slot::CallerGroups, ValueClass::TextItems));
    const NodeId condition =
        b_.And(std::array{text(slot::EgressHost, "api.example.com"), in_group,
                          b_.Or(b_.Not(b_.Has(slot::EgressPath)), text(slot::EgressPath, "/a"))});
    b_.AddClass("c", rule("c", Effect::Allow), b_.Constant(true), false, {});
    ir::Block allowed;
    allowed.groups.push_back(
        {{{rule("c.allow", Effect::Allow), condition}}, deny("c.default"), deny("c.beyond")});
    for (int i = 0; i < denials; ++i) {
      const auto port = b_.SlotTerm(slot::EgressPort, ValueClass::Integer);
      allowed.denials.push_back({deny(fmt::format("c.deny_{:03}", i)),
                                 b_.Compare(NodeOp::Equal, port, b_.IntegerTerm(22))});
    }
    ir::Block nothing;
    nothing.groups.push_back({{}, deny("c.nothing"), deny("c.beyond")});
    for (std::size_t place = 0; place < module::BlockCount(1); ++place) {
      const bool is_of_set = place / schema::ActionCount == 1;
      const auto action = static_cast<Action>(place % schema::ActionCount);
      if (!is_of_set) b_.SetBlock(place, action == Action::Egress ? allowed : nothing);
    }
    ir::DecisionIr made = std::move(b_).Finish();
    made.plans.emplace_back().class_name = "c";
    const Outcome verified = ir::Verify(made);
    INFO((verified ? "" : verified.error().message));
    REQUIRE(verified);
    bytes_ = ir::Encode(made);
    auto loaded = module::PolicyModule::Load(bytes_, 7);
    REQUIRE(loaded);
    engine_.emplace(*std::move(loaded));
    facts_.emplace(engine_->module());
  }

  bool Decide(const Request& request) {
    engine_->Decide(request, room_.verdict);
    return writer_.Write(*facts_, request, room_.verdict);
  }
  // The one record that was written last.
  Record Decided(const Request& request) {
    REQUIRE(Decide(request));
    ByteView bytes = ring_.Next();
    auto record = reader_.Read(bytes);
    ring_.Release();
    INFO((record ? "" : record.error().message));
    REQUIRE(record);
    REQUIRE(bytes.empty());
    return *std::move(record);
  }
  std::vector<std::string_view> Ids(const Record& record, const RecordedRules& rules) const {
    auto ids = IdsOf(record, rules, engine_->module());
    REQUIRE(ids);
    return *std::move(ids);
  }
  [[nodiscard]] const RecordedFacts& facts() const { return *facts_; }
  [[nodiscard]] const module::PolicyModule& policy() const { return engine_->module(); }
  [[nodiscard]] const module::Verdict& verdict() const { return room_.verdict; }
  [[nodiscard]] RecordWriter& writer() { return writer_; }
  [[nodiscard]] ByteRing& ring() { return ring_; }

 private:
  ir::Builder b_;
  Bytes bytes_;
  std::optional<interpret::Interpreter> engine_;
  std::optional<RecordedFacts> facts_;
  module::VerdictRoom room_;
  ByteRing ring_{ByteRing::BytesMin, WhenFull::Count};
  RecordWriter writer_{ring_};
  RecordReader reader_;
};

// Allowed by the set above.
Request Allowed() {
  static const std::array kGroups = {Value::OfText("group:dev"), Value::OfText("group:sre")};
  Request request(Action::Egress);
  request.SetNow(1'780'000'000'123);
  request.SetText(slot::SandboxClass, "c");
  request.Set(slot::CallerGroups, Value::OfItems(kGroups));
  request.SetText(slot::EgressHost, "api.example.com");
  request.SetInteger(slot::EgressPort, 443);
  request.SetAbsent(slot::EgressPath);
  request.SetText(slot::TaskKind, "never read");
  return request;
}

TEST_CASE("a record says what was decided, by what, and what was asked") {
  Fixture f;
  const Record record = f.Decided(Allowed());
  CHECK(record.sequence == 0);
  CHECK(record.lost == 0);
  CHECK(record.generation == 7);
  CHECK(record.policy == f.policy().manifest().policy);
  CHECK(record.effect == Effect::Allow);
  CHECK(record.class_index == 0);
  CHECK_FALSE(record.undecided);
  CHECK(f.Ids(record, record.allows) == std::vector<std::string_view>{"c.allow"});
  CHECK(record.denials.rules.empty());
  CHECK(record.time_ms() == 1'780'000'000'123);
  CHECK(record.request.action() == Action::Egress);
  CHECK(record.request.value(slot::EgressHost).text() == "api.example.com");
  CHECK(record.request.value(slot::EgressPort).integer == 443);
  REQUIRE(record.request.value(slot::CallerGroups).size == 2);
  CHECK(record.request.value(slot::CallerGroups).elements()[1].text() == "group:sre");
  // Absent is known, unknown is not, and what no rule reads is not on record.
  CHECK(record.request.is_known(slot::EgressPath));
  CHECK_FALSE(record.request.is_present(slot::EgressPath));
  CHECK_FALSE(record.request.is_known(slot::TaskKind));
  CHECK_FALSE(record.is_cut);

  Request unknown = Allowed();
  unknown.SetUnknown(slot::EgressHost);
  const Record denied = f.Decided(unknown);
  CHECK(denied.sequence == 1);
  CHECK(denied.effect == Effect::Deny);
  CHECK(denied.undecided);
  CHECK(denied.undecided_slot == slot::EgressHost);
  CHECK(f.Ids(denied, denied.denials) == std::vector<std::string_view>{"c.default"});
  CHECK_FALSE(denied.request.is_known(slot::EgressHost));
}

TEST_CASE("texts of every length are on record as they were, and asked again") {
  Fixture f;
  for (std::size_t size = 0; size <= format::TextBytesMax; size += size < 80 ? 1 : 97) {
    std::string host;
    for (std::size_t i = 0; i < size; ++i) host += static_cast<char>('a' + i * 7 % 26);
    Request request = Allowed();
    request.SetText(slot::EgressHost, host);
    const Record record = f.Decided(request);
    REQUIRE(record.request.value(slot::EgressHost).text() == host);
    REQUIRE(record.request.value(slot::EgressPort).integer == 443);
    REQUIRE(CheckAskable(record, f.facts()));
  }
}

TEST_CASE("what is too long is cut, and nobody asks it again") {
  Fixture f;
  const std::string host(format::TextBytesMax + 1, 'h');
  Request long_text = Allowed();
  long_text.SetText(slot::EgressHost, host);
  const Record cut = f.Decided(long_text);
  CHECK(cut.is_cut);
  CHECK(cut.request.value(slot::EgressHost).size == format::TextBytesMax);
  CHECK(CheckAskable(cut, f.facts()).error().code == FailureCode::TooLarge);

  // More than a record has room for, and what comes behind it finds none either.
  std::vector<Value> groups;
  const std::string group = "group:" + std::string(58, 'g');
  for (std::size_t i = 0; i < limits::SetElementsMax; ++i) groups.push_back(Value::OfText(group));
  Request long_list = Allowed();
  long_list.Set(slot::CallerGroups, Value::OfItems(groups));
  const Record full = f.Decided(long_list);
  CHECK(full.is_cut);
  CHECK(full.request.value(slot::CallerGroups).size > 100);
  CHECK(full.request.value(slot::CallerGroups).size < limits::SetElementsMax);
  CHECK(full.request.is_present(slot::EgressHost));
  CHECK(full.request.value(slot::EgressPort).integer == 443);
}

TEST_CASE("the longest request fits, whatever it says") {
  Fixture f;
  const std::string text(format::TextBytesMax, 't');
  std::vector<Value> items(limits::SetElementsMax, Value::OfText(text));
  Request request = Allowed();
  request.Set(slot::CallerGroups, Value::OfItems(items));
  request.SetText(slot::EgressHost, text);
  request.SetText(slot::EgressPath, text);
  request.SetText(slot::SandboxClass, text);
  for (int i = 0; i < 20; ++i) CHECK(f.Decided(request).is_cut);
}

TEST_CASE("more rules than a record names are marked") {
  Fixture f(100);
  Request request = Allowed();
  request.SetInteger(slot::EgressPort, 22);
  const Record record = f.Decided(request);
  CHECK(record.denials.is_cut);
  CHECK(record.denials.rules.size() == format::RulesMax);
  CHECK(f.Ids(record, record.denials).front() == "c.deny_000");
  CHECK_FALSE(record.allows.is_cut);
}

TEST_CASE("what was dropped is told by the record that follows it") {
  Fixture f;
  std::uint64_t written = 0;
  while (f.Decide(Allowed())) ++written;
  CHECK_FALSE(f.Decide(Allowed()));
  RecordReader reader;
  for (std::uint64_t number = 0; number < written; ++number) {
    ByteView bytes = f.ring().Next();
    const auto record = reader.Read(bytes);
    REQUIRE(record);
    CHECK(record->sequence == number);
    CHECK(record->lost == 0);
  }
  f.ring().Release();
  REQUIRE(f.Decide(Allowed()));
  ByteView bytes = f.ring().Next();
  const auto next = reader.Read(bytes);
  REQUIRE(next);
  CHECK(next->lost == 2);
  CHECK(f.ring().dropped() == 2);
  CHECK(f.writer().sequence() == written + 3);
}

TEST_CASE("the records of another module are not taken for one's own") {
  Fixture f;
  Fixture other(2);
  const Record record = f.Decided(Allowed());
  CHECK(CheckAskable(record, f.facts()));
  CHECK(CheckAskable(record, other.facts()).error().code == FailureCode::Usage);
  CHECK_FALSE(IdsOf(record, record.allows, other.policy()));
}

TEST_CASE("bytes that are no record are refused, whole or in part") {
  Fixture f;
  REQUIRE(f.Decide(Allowed()));
  const ByteView record = f.ring().Next();
  const Bytes good(record.begin(), record.end());
  for (std::size_t size = 0; size < good.size(); ++size) {
    ByteView bytes = ByteView(good).first(size);
    CHECK_FALSE(RecordReader().Read(bytes));
    // Also where its length says so.
    Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    if (size < 4) continue;
    cut[0] = static_cast<std::uint8_t>(size);
    cut[1] = static_cast<std::uint8_t>(size >> 8);
    bytes = cut;
    CHECK_FALSE(RecordReader().Read(bytes));
  }
  const auto refuses = [&](std::size_t at, std::uint8_t value) {
    Bytes changed = good;
    changed[at] = value;
    ByteView bytes = changed;
    return !RecordReader().Read(bytes);
  };
  CHECK(refuses(4, 2));                    // a version
  CHECK(refuses(5, schema::ActionCount));  // an action
  CHECK(refuses(6, 3));                    // a stage
  CHECK(refuses(7, 64));                   // a flag
  CHECK(refuses(7, format::Allowed | format::Undecided));
  CHECK(refuses(7, format::Allowed | format::FactsCut));  // and nothing is cut
  CHECK(refuses(offsetof(format::Header, denials), 1));   // of an allow
  CHECK(refuses(offsetof(format::Header, reserved), 1));
  CHECK(refuses(offsetof(format::Header, missing), 1));
  CHECK(refuses(offsetof(format::Header, known), 0));  // of what is there
  CHECK(refuses(good.size() - 1, 1));
  // Of any other change it may be that it makes another record; it is read or refused.
  std::size_t read = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int value : {0, 1, 0x7f, 0xff}) {
      read += refuses(at, static_cast<std::uint8_t>(value)) ? 0 : 1;
    }
  }
  CHECK(read > 0);
}

TEST_CASE("records are read in their order and no other") {
  Fixture f;
  REQUIRE(f.Decide(Allowed()));
  REQUIRE(f.Decide(Allowed()));
  const ByteView first = f.ring().Next();
  const ByteView second = f.ring().Next();
  RecordReader reader;
  ByteView bytes = second;
  REQUIRE(reader.Read(bytes));
  bytes = first;
  CHECK_FALSE(reader.Read(bytes));
  // One that begins in the middle has missed nothing.
  bytes = second;
  CHECK(RecordReader(1).Read(bytes)->lost == 0);
}

TEST_CASE("to put a decision on record allocates nothing") {
  Fixture f;
  const Request request = Allowed();
  const std::size_t before = allocations;
  std::size_t written = 0;
  for (int i = 0; i < 1000; ++i) {
    written += f.Decide(request) ? 1 : 0;
    if (i % 50 != 0) continue;
    while (!f.ring().Next().empty()) continue;
    f.ring().Release();
  }
  CHECK(allocations == before);
  CHECK(written == 1000);
}

}  // namespace
}  // namespace curfew::record
