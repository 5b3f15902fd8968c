#include "compiler/interpret/interpreter.h"
#include "compiler/ir/decision_ir.h"
#include "compiler/ir/encode.h"
#include "compiler/jit/compile.h"
#include "compiler/native/native_compiler.h"
#include "compiler/native/native_engine.h"
#include "tests/fakes/counted_allocations.h"

#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <span>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::jit {
namespace {

using ir::Builder;
using ir::NodeId;
using ir::NodeOp;
using module::Effect;
using module::Request;
using module::ValueClass;
using schema::Action;
namespace slot = schema::slot;

// One class that allows `count` hosts, each at a port and below a path of its own, for some hours.
Bytes Module(std::size_t count) {
  Builder b;
  const auto deny = [&](std::string id) { return b.Rule({id, Effect::Deny, "no", "", 0, 0}); };
  b.SetSelection({deny("class.none"), deny("class.ambiguous"), deny("class.not_selected"),
                  deny("class.gone"), deny("request.invalid")});
  b.AddClass("c", b.Rule({"c", Effect::Allow, "", "", 0, 0}), b.Constant(true), false, {});
  const auto test = [&](NodeOp op, schema::Slot which, std::int64_t value) {
    return b.Compare(op, b.SlotTerm(which, ValueClass::Integer), b.IntegerTerm(value));
  };
  const auto patterns = [&](NodeOp op, schema::Slot which, ir::Pattern pattern) {
    return b.PatternsIn(op, b.SlotTerm(which, ValueClass::Text), std::span(&pattern, 1));
  };
  ir::Group group{{}, deny("c.default"), deny("c.beyond")};
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::int64_t>(i % 7);
    const std::vector<NodeId> parts = {
        b.Has(slot::EgressHost),
        patterns(NodeOp::HostIn, slot::EgressHost,
                 {fmt::format("h{}.example", i), i % 3 == 0 ? 2u : 0u}),
        test(NodeOp::Equal, slot::EgressPort, 80 + number),
        patterns(NodeOp::PathIn, slot::EgressPath, {fmt::format("/p{}/**", i), 0}),
        test(NodeOp::GreaterEqual, slot::NowTimeOfDay, number * 3'600'000),
        test(NodeOp::Less, slot::NowTimeOfDay, (number + 4) * 3'600'000)};
    group.entries.push_back(
        {b.Rule({fmt::format("c.r{}", i), Effect::Allow, "", "", 0, 0}), b.And(parts)});
  }
  for (std::size_t place = 0; place < module::BlockCount(1); ++place) {
    const bool of_class = place < schema::ActionCount;
    ir::Block block;
    if (of_class && static_cast<Action>(place) == Action::Egress) {
      block.groups.push_back(group);
    } else if (place / schema::ActionCount != 1) {
      block.denials.push_back({deny("c.closed")});
    }
    b.SetBlock(place, block);
  }
  ir::DecisionIr ir = std::move(b).Finish();
  ir.plans.emplace_back().class_name = "c";
  REQUIRE(ir::Verify(ir));
  return ir::Encode(ir);
}

module::PolicyModule Loaded(const Bytes& bytes) {
  auto loaded = module::PolicyModule::Load(bytes, 1);
  if (!loaded) FAIL(loaded.error().message);
  return *std::move(loaded);
}

OwnedFd Sealed(const Bytes& image) {
  auto sealed = native::SealImage(image);
  if (!sealed) FAIL(sealed.error().message);
  return *std::move(sealed);
}

std::string Asked(const module::DecisionEngine& engine, std::string_view host, std::int64_t port,
                  std::string_view path, std::int64_t hour) {
  Request request(Action::Egress);
  request.SetText(slot::SandboxClass, "c");
  request.SetText(slot::EgressHost, host);
  request.SetInteger(slot::EgressPort, port);
  request.SetText(slot::EgressPath, path);
  request.SetInteger(slot::NowTimeOfDay, hour * 3'600'000);
  module::VerdictRoom room;
  engine.Decide(request, room.verdict);
  const auto rules = room.verdict.effect == Effect::Allow ? room.verdict.allows.written()
                                                          : room.verdict.denials.written();
  return std::string(engine.module().rule(rules.front()).id);
}

TEST_CASE("native code answers, and as the interpreter does") {
  const Bytes bytes = Module(20);
  auto image = CompileImage(Loaded(bytes));
  if (!image) FAIL(image.error().message);
  const auto native = native::NativeEngine::Make(Loaded(bytes), Sealed(*image).get());
  if (!native) FAIL(native.error().message);
  const interpret::Interpreter interpreter(Loaded(bytes));
  CHECK((*native)->kind() == "native");
  CHECK(interpreter.kind() == "interpreter");
  CHECK(Asked(**native, "h1.example", 81, "/p1/x", 4) == "c.r1");
  CHECK(Asked(**native, "x.h3.example", 83, "/p3", 3) == "c.r3");
  CHECK(Asked(**native, "h3.example", 83, "/p3", 3) == "c.default");
  CHECK(Asked(**native, "h1.example", 81, "/p1x", 4) == "c.default");
  CHECK(Asked(**native, "h1.example", 82, "/p1/x", 4) == "c.default");
  CHECK(Asked(**native, "h1.example", 81, "/p1/x", 5) == "c.default");
  for (const char* host : {"h0.example", "h1.example", "a.b.h6.example", "h19.example", "x"}) {
    for (int hour = 0; hour < 12; ++hour) {
      for (const std::int64_t port : {80, 81, 85, 86}) {
        CHECK(Asked(**native, host, port, "/p1/x", hour) ==
              Asked(interpreter, host, port, "/p1/x", hour));
      }
    }
  }
}

std::string Said(const module::DecisionEngine& engine, const module::Verdict& verdict) {
  std::string text = verdict.effect == Effect::Allow ? "allow" : "deny";
  for (const auto rule : verdict.denials.written())
    text += fmt::format(" {}", engine.module().rule(rule).id);
  for (const auto rule : verdict.allows.written())
    text += fmt::format(" {}", engine.module().rule(rule).id);
  return text;
}

TEST_CASE("a sandbox that was prepared is answered as any, until what lasts changes after all") {
  const Bytes bytes = Module(20);
  const Bytes others = Module(21);
  const auto make = [](const Bytes& of) {
    const auto image = CompileImage(Loaded(of));
    if (!image) FAIL(image.error().message);
    auto made = native::NativeEngine::Make(Loaded(of), Sealed(*image).get());
    if (!made) FAIL(made.error().message);
    return *std::move(made);
  };
  const auto engine = make(bytes);
  const auto other = make(others);
  Request lasting(Action::Egress);
  lasting.SetText(slot::SandboxClass, "c");
  auto prepared = engine->Prepare(lasting);
  REQUIRE(prepared.FoldOf(engine->module().manifest().content) != nullptr);
  CHECK(prepared.FoldOf(other->module().manifest().content) == nullptr);
  const module::InternedText host = engine->Intern("h20.example");
  CHECK(host.value().text() == "h20.example");
  prepared.Set(slot::EgressHost, host.value());
  prepared.SetInteger(slot::EgressPort, 86);
  prepared.SetText(slot::EgressPath, "/p20/x");
  prepared.SetInteger(slot::NowTimeOfDay, 7 * 3'600'000);
  const auto asked = [&](const module::DecisionEngine& by) {
    module::VerdictRoom room;
    by.DecidePrepared(prepared, room.verdict);
    return Said(by, room.verdict);
  };
  // The host is one of the other set's only, whatever the text was found to be by this one.
  CHECK(asked(*engine) == "deny c.default");
  CHECK(asked(*other) == "allow c.r20");
  CHECK(asked(interpret::Interpreter(Loaded(others))) == "allow c.r20");

  prepared.SetText(slot::SandboxClass, "gone");
  CHECK(prepared.FoldOf(engine->module().manifest().content) == nullptr);
  CHECK(asked(*engine) == asked(interpret::Interpreter(Loaded(bytes))));
  CHECK(asked(*engine) == "deny c.closed");

  // A create has no sandbox yet, and a request that does not say its class has none known.
  const auto content = engine->module().manifest().content;
  CHECK(engine->Prepare(Request(Action::Create)).FoldOf(content) == nullptr);
  CHECK(engine->Prepare(Request(Action::Egress)).FoldOf(content) == nullptr);
}

TEST_CASE("a native decision allocates nothing, in any of its forms") {
  const Bytes bytes = Module(100);
  const auto image = CompileImage(Loaded(bytes));
  REQUIRE(image);
  const auto engine = native::NativeEngine::Make(Loaded(bytes), Sealed(*image).get());
  REQUIRE(engine);
  Request request(Action::Egress);
  request.SetText(slot::SandboxClass, "c");
  request.SetText(slot::EgressHost, "x.h3.example");
  request.SetInteger(slot::EgressPort, 83);
  request.SetText(slot::EgressPath, "/p3/x");
  request.SetInteger(slot::NowTimeOfDay, 4 * 3'600'000);
  auto prepared = (*engine)->Prepare(request);
  const module::InternedText host = (*engine)->Intern("x.h3.example");
  prepared.Set(slot::EgressHost, host.value());
  module::VerdictRoom room;
  const Request* const requests[] = {&request, &request};
  const std::size_t before = allocations;
  for (int i = 0; i < 100; ++i) {
    (*engine)->Decide(request, room.verdict);
    (*engine)->DecidePrepared(prepared, room.verdict);
    (*engine)->DecideAll(requests, std::span(&room.verdict, 1));
    prepared.SetInteger(slot::EgressPort, 83);
  }
  CHECK(allocations == before);
  CHECK(room.verdict.effect == Effect::Allow);
}

TEST_CASE("alike parts within a quantifier know their element") {
  Builder b;
  const auto deny = [&](std::string id) { return b.Rule({id, Effect::Deny, "no", "", 0, 0}); };
  b.SetSelection({deny("class.none"), deny("class.ambiguous"), deny("class.not_selected"),
                  deny("class.gone"), deny("request.invalid")});
  std::vector<NodeId> parts;
  for (const char* glob : {"a*", "b*", "c*", "d*", "e*"}) {
    const ir::Pattern pattern{glob, 0};
    parts.push_back(
        b.PatternsIn(NodeOp::TextIn, b.ElementTerm(ValueClass::Text), std::span(&pattern, 1)));
  }
  const NodeId any =
      b.Quantify(NodeOp::AnyOf, b.SlotTerm(slot::CallerGroups, ValueClass::TextItems), b.Or(parts));
  for (std::size_t place = 0; place < module::BlockCount(0); ++place) {
    ir::Block block;
    if (place >= schema::ActionCount) {
      block.denials.push_back({deny("grouped"), any});
      block.denials.push_back({deny("closed")});
    }
    b.SetBlock(place, block);
  }
  const Bytes bytes = ir::Encode(std::move(b).Finish());
  const auto image = CompileImage(Loaded(bytes));
  if (!image) FAIL(image.error().message);
  const auto engine = native::NativeEngine::Make(Loaded(bytes), Sealed(*image).get());
  REQUIRE(engine);
  for (const char* group : {"ab", "e", "fa", ""}) {
    const module::Value groups[] = {module::Value::OfText("x"), module::Value::OfText(group)};
    Request request(Action::Exec);
    request.SetText(slot::SandboxClass, "none");
    request.Set(slot::CallerGroups, module::Value::OfItems(groups));
    module::VerdictRoom room;
    (*engine)->Decide(request, room.verdict);
    module::VerdictRoom meant;
    interpret::Interpreter(Loaded(bytes)).Decide(request, meant.verdict);
    CAPTURE(group);
    CHECK(Said(**engine, room.verdict) == Said(**engine, meant.verdict));
    CHECK((Said(**engine, room.verdict).find("grouped") != std::string::npos) ==
          (group[0] == 'a' || group[0] == 'e'));
  }
}

TEST_CASE("equal modules have equal images, and a thousand rules have the code of one") {
  const Bytes bytes = Module(20);
  const auto one = CompileImage(Loaded(bytes));
  const auto other = CompileImage(Loaded(bytes));
  REQUIRE(one);
  REQUIRE(other);
  CHECK(*one == *other);
  const auto code_bytes = [](const Bytes& image) {
    native::ImageHeader header;
    std::memcpy(&header, image.data(), sizeof header);
    return header.code_bytes;
  };
  const auto large = CompileImage(Loaded(Module(1000)));
  REQUIRE(large);
  CHECK(code_bytes(*large) == code_bytes(*one));
}

TEST_CASE("ten thousand rules are compiled in well under a second") {
  const Bytes bytes = Module(10'000);
  const module::PolicyModule policy = Loaded(bytes);
  const auto begin = std::chrono::steady_clock::now();
  const auto image = CompileImage(policy);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  REQUIRE(image);
  WARN(fmt::format("{:.0f} ms for 10,000 rules, {} KiB of image", took.count() * 1000,
                   image->size() / 1024));
  // The tests' build is not optimised, and the machine may be busy.
  CHECK(took.count() < 20);
}

TEST_CASE("what is no image of this module, or not sealed, is refused") {
  const Bytes bytes = Module(3);
  const Bytes other = Module(4);
  const auto image = CompileImage(Loaded(bytes));
  REQUIRE(image);
  const auto refusal = [&](const Bytes& of, const Bytes& made) {
    const auto engine = native::NativeEngine::Make(Loaded(of), Sealed(made).get());
    return engine ? std::string() : engine.error().message;
  };
  CHECK(refusal(bytes, *image).empty());
  CHECK(refusal(other, *image).find("another module") != std::string::npos);
  const auto broken = [&](const std::function<void(native::ImageHeader&)>& fault) {
    Bytes made = *image;
    native::ImageHeader header;
    std::memcpy(&header, made.data(), sizeof header);
    fault(header);
    std::memcpy(made.data(), &header, sizeof header);
    return refusal(bytes, made);
  };
  CHECK_FALSE(broken([](auto& header) { header.magic[0] = 'c'; }).empty());
  CHECK_FALSE(broken([](auto& header) { ++header.version; }).empty());
  CHECK_FALSE(broken([](auto& header) { header.machine = 1; }).empty());
  CHECK_FALSE(broken([](auto& header) { ++header.entries; }).empty());
  CHECK_FALSE(broken([](auto& header) { ++header.classes; }).empty());
  CHECK_FALSE(broken([](auto& header) { header.words = ~0u; }).empty());
  CHECK_FALSE(broken([](auto& header) { header.code_offset = 0; }).empty());
  CHECK_FALSE(broken([](auto& header) { header.code_offset += 8; }).empty());
  CHECK_FALSE(broken([](auto& header) { header.code_bytes = 0; }).empty());
  CHECK_FALSE(broken([](auto& header) { header.code_bytes = 1; }).empty());
  CHECK_FALSE(refusal(bytes, Bytes()).empty());
  Bytes place = *image;
  std::memset(place.data() + sizeof(native::ImageHeader), 0x7f, 4);
  CHECK(refusal(bytes, place).find("out of range") != std::string::npos);

  // Whoever may still write to it could change what runs.
  const OwnedFd open(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(write(open.get(), image->data(), image->size()) == static_cast<ssize_t>(image->size()));
  const auto unsealed = native::NativeEngine::Make(Loaded(bytes), open.get());
  REQUIRE_FALSE(unsealed);
  CHECK(unsealed.error().message.find("sealed") != std::string::npos);
}

TEST_CASE("no page of code can be written, and a sealed image stays as it is") {
  const auto image = CompileImage(Loaded(Module(3)));
  REQUIRE(image);
  const OwnedFd sealed = Sealed(*image);
  CHECK(pwrite(sealed.get(), "x", 1, 0) < 0);
  CHECK(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, sealed.get(), 0) == MAP_FAILED);
}

TEST_CASE("a library that is not there, or is another, is said and harms nothing") {
  const Bytes bytes = Module(3);
  const auto missing = native::CompileNative("/nowhere/libcurfew_jit.so", bytes);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == FailureCode::Unsupported);
  CHECK(missing.error().message.find("/nowhere/") != std::string::npos);
  const auto foreign = native::CompileNative("libcrypto.so.3", bytes);
  REQUIRE_FALSE(foreign);
  CHECK(foreign.error().message.find("another version") != std::string::npos);
}

TEST_CASE("the library beside the program compiles what is a module, and refuses what is none") {
  const Bytes bytes = Module(3);
  const auto image = native::CompileNative(native::LibraryBesideProgram(), bytes);
  if (!image) FAIL(image.error().message);
  CHECK(native::NativeEngine::Make(Loaded(bytes), image->get()));
  Bytes broken = bytes;
  broken.back() ^= 1;
  const auto refused = native::CompileNative(native::LibraryBesideProgram(), broken);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("compile the policy set again") != std::string::npos);
}

}  // namespace
}  // namespace curfew::jit
