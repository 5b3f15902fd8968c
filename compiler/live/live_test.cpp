// That no decision is lost, stalled, wrong or of two generations while sets are swapped under those
// who decide, and that what they look at stays for as long as they do.
#include "compiler/ir/decision_ir.h"
#include "compiler/ir/encode.h"
#include "compiler/live/live_policy.h"
#include "compiler/native/native_compiler.h"
#include "tests/fakes/counted_allocations.h"

#include <array>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::live {
namespace {

using namespace std::chrono_literals;
using module::Effect;
using schema::Action;
namespace slot = schema::slot;

// A set that tells by every answer which generation it is: an odd one allows a request to any host
// by the rule `g.N`, an even one denies it by that name.
Bytes Module(std::uint64_t generation) {
  ir::Builder b;
  const auto deny = [&](std::string id) { return b.Rule({id, Effect::Deny, "no", "", 0, 0}); };
  b.SetSelection({deny("class.none"), deny("class.ambiguous"), deny("class.not_selected"),
                  deny("class.gone"), deny("request.invalid")});
  b.AddClass("c", b.Rule({"c", Effect::Allow, "", "", 0, 0}), b.Constant(true), false, {});
  const bool allows = generation % 2 == 1;
  const std::string name = fmt::format("g.{}", generation);
  const auto told = b.Rule({name, allows ? Effect::Allow : Effect::Deny, "", "", 0, 0});
  for (std::size_t place = 0; place < module::BlockCount(1); ++place) {
    ir::Block block;
    const bool is_egress = static_cast<Action>(place % schema::ActionCount) == Action::Egress;
    if (place < schema::ActionCount && is_egress) {
      ir::Group group{{}, deny("c.default"), deny("c.beyond")};
      if (allows) group.entries.push_back({told, b.Has(slot::EgressHost)});
      if (!allows) block.denials.push_back({told, b.Has(slot::EgressHost)});
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

std::shared_ptr<Generation> Opened(std::uint64_t generation) {
  auto set = Generation::Open(Module(generation), generation);
  if (!set) FAIL(set.error().message);
  return *std::move(set);
}

module::Request Question() {
  module::Request request(Action::Egress);
  request.SetText(slot::SandboxClass, "c");
  request.SetText(slot::EgressHost, "h.example");
  return request;
}

// Whether the whole of the answer is of the generation that is held. Without Catch, which is of one
// thread.
bool IsOfOneGeneration(const Generation& held, const module::Request& request,
                       module::Verdict& verdict) {
  held.engine().Decide(request, verdict);
  const bool is_odd = held.number() % 2 == 1;
  if (verdict.generation != held.number()) return false;
  if (verdict.effect != (is_odd ? Effect::Allow : Effect::Deny)) return false;
  const auto& rules = is_odd ? verdict.allows : verdict.denials;
  const std::string name = fmt::format("g.{}", held.number());
  return std::ranges::any_of(rules.written(), [&](module::RuleIndex rule) {
    return held.engine().module().rule(rule).id == name;
  });
}

std::uint64_t InForce(LivePolicy& live) {
  Reader reader(live);
  module::VerdictRoom room;
  const Held held = reader.Hold();
  CHECK(IsOfOneGeneration(*held, Question(), room.verdict));
  return held->number();
}

constexpr std::array Barriers = {Barrier::Kernel, Barrier::Fence};
bool IsHere(Barrier barrier) { return barrier == Barrier::Fence || BarrierHere() == barrier; }

TEST_CASE("this machine has one of the two barriers, and says which") {
  const LivePolicy live(Opened(1));
  WARN(NameOf(live.barrier()));
  CHECK(live.barrier() == BarrierHere());
  CHECK(Cross(live.barrier()));
}

TEST_CASE("who is inside keeps one generation and nothing else, and it goes when they leave") {
  for (const Barrier barrier : Barriers) {
    if (!IsHere(barrier)) continue;
    auto opened = Opened(1);
    const std::weak_ptr<Generation> first = opened;
    LivePolicy live(std::move(opened), {}, barrier);
    Reader inside(live);
    Reader other(live);
    module::VerdictRoom room;
    {
      const Held held = inside.Hold();
      for (std::uint64_t generation = 2; generation < 12; ++generation) {
        REQUIRE(live.Adopt(Opened(generation)));
        CHECK(other.Hold()->number() == generation);
      }
      CHECK(live.standing().waiting == 1);
      CHECK_FALSE(first.expired());
      CHECK(held->number() == 1);
      CHECK(IsOfOneGeneration(*held, Question(), room.verdict));
    }
    CHECK(inside.Hold()->number() == 11);
    // Freed behind us, though nothing is swapped any more.
    for (int i = 0; i < 2'000 && !first.expired(); ++i) std::this_thread::sleep_for(5ms);
    CHECK(first.expired());
    CHECK(live.standing().waiting == 0);
  }
}

TEST_CASE("a set that does not open, or is not later, leaves the old one in force") {
  LivePolicy live(Opened(3));
  Bytes broken = Module(4);
  broken[broken.size() / 2] ^= 1;
  const Outcome damaged = live.Adopt(broken, 4);
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code == FailureCode::Tampered);
  CHECK_FALSE(live.Adopt(Bytes(), 4));
  for (const std::uint64_t old : {0, 2, 3}) {
    const Outcome refused = live.Adopt(Module(old), old);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == FailureCode::Usage);
    CHECK(refused.error().message.find("generation 3 is in force") == 0);
  }
  CHECK(InForce(live) == 3);
  CHECK(live.standing().waiting == 0);
  REQUIRE(live.Adopt(Module(4), 4));
  CHECK(InForce(live) == 4);
  CHECK(live.standing().policy == Opened(4)->policy().manifest().policy);
}

TEST_CASE("a set decides at once, and by native code when that is made") {
  const auto compile = [](ByteView module) {
    return native::CompileNative(native::LibraryBesideProgram(), module);
  };
  LivePolicy live(Opened(1), compile);
  CHECK(InForce(live) == 1);
  for (std::uint64_t generation = 2; generation < 5; ++generation) {
    REQUIRE(live.Adopt(Opened(generation)));
    CHECK(InForce(live) == generation);
    REQUIRE(live.AwaitNative(60s));
    CHECK(live.standing().engine == "native");
    CHECK(live.standing().why_not_native.empty());
    CHECK(InForce(live) == generation);
  }
}

TEST_CASE("where native code cannot be made the interpreter stays, and why is said") {
  LivePolicy live(Opened(1), [](ByteView) -> Result<OwnedFd> {
    return Failure(FailureCode::Unsupported, "not on this day");
  });
  REQUIRE(live.AwaitNative(60s));
  CHECK(live.standing().engine == "interpreter");
  CHECK(live.standing().why_not_native == "not on this day");
  CHECK(InForce(live) == 1);
}

TEST_CASE("what is compiled for a set that is in force no more is dropped") {
  std::promise<void> begun;
  std::promise<void> go_on;
  std::vector<std::uint64_t> compiled;  // of one thread, and read when it has ended
  const auto compile = [&](ByteView bytes) -> Result<OwnedFd> {
    const auto policy = module::PolicyModule::Load(bytes, 0);
    for (std::uint64_t g = 1; g < 6; ++g) {
      if (policy->FindRule(fmt::format("g.{}", g))) compiled.push_back(g);
    }
    if (compiled.back() == 2) {
      begun.set_value();
      go_on.get_future().wait();
    }
    return native::CompileNative(native::LibraryBesideProgram(), bytes);
  };
  LivePolicy live(Opened(1), compile);
  REQUIRE(live.AwaitNative(60s));
  REQUIRE(live.Adopt(Opened(2)));
  begun.get_future().wait();
  // The third waits behind the second, and the fourth takes its place.
  REQUIRE(live.Adopt(Opened(3)));
  REQUIRE(live.Adopt(Opened(4)));
  CHECK(live.standing().is_compiling);
  CHECK(live.standing().engine == "interpreter");
  go_on.set_value();
  REQUIRE(live.AwaitNative(60s));
  CHECK(compiled == std::vector<std::uint64_t>{1, 2, 4});
  CHECK(live.standing().engine == "native");
  CHECK(InForce(live) == 4);
}

TEST_CASE("to hold a generation and decide by it allocates nothing") {
  LivePolicy live(Opened(1));
  Reader reader(live);
  module::VerdictRoom room;
  const module::Request request = Question();
  const std::size_t before = allocations;
  for (int i = 0; i < 100; ++i) reader.Hold()->engine().Decide(request, room.verdict);
  CHECK(allocations == before);
  CHECK(reader.Enter() != nullptr);
  CHECK(reader.Enter() == nullptr);
  reader.Leave();
}

struct Watched {
  std::uint64_t decisions = 0;
  std::uint64_t wrong = 0;
  std::uint64_t backwards = 0;  // a generation that is older than one which was seen
  std::uint64_t generations = 0;
};

Watched Watch(LivePolicy& live, const std::atomic<bool>& ends) {
  Watched seen;
  module::VerdictRoom room;
  const module::Request request = Question();
  std::uint64_t last = 0;
  while (!ends.load(std::memory_order_relaxed)) {
    Reader reader(live);  // threads come and go
    for (int i = 0; i < 500; ++i) {
      const Held held = reader.Hold();
      seen.wrong += IsOfOneGeneration(*held, request, room.verdict) ? 0 : 1;
      // A long look, during which it may be swapped more than once.
      if (i % 100 == 0) std::this_thread::yield();
      seen.wrong += IsOfOneGeneration(*held, request, room.verdict) ? 0 : 1;
      seen.backwards += held->number() < last ? 1 : 0;
      seen.generations += held->number() != last ? 1 : 0;
      last = held->number();
      seen.decisions += 2;
    }
  }
  return seen;
}

TEST_CASE("many threads decide while sets are swapped: none is wrong and none of two generations") {
  constexpr std::size_t kThreads = 6;
  constexpr std::uint64_t kGenerations = 400;
  for (const Barrier barrier : Barriers) {
    if (!IsHere(barrier)) continue;
    std::vector<std::shared_ptr<Generation>> sets;
    for (std::uint64_t g = 1; g <= kGenerations; ++g) sets.push_back(Opened(g));
    LivePolicy live(std::move(sets.front()), {}, barrier);
    std::atomic<bool> ends = false;
    std::vector<std::future<Watched>> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.push_back(std::async(std::launch::async, [&] { return Watch(live, ends); }));
    }
    for (std::size_t i = 1; i < kGenerations; ++i) {
      // The set's last owner but for the policy, so that memory of the old is truly gone.
      REQUIRE(live.Adopt(std::exchange(sets[i], nullptr)));
      CHECK(live.standing().waiting <= kThreads);
      std::this_thread::sleep_for(500us);
    }
    ends = true;
    Watched all;
    for (auto& thread : threads) {
      const Watched one = thread.get();
      all.decisions += one.decisions;
      all.wrong += one.wrong;
      all.backwards += one.backwards;
      all.generations += one.generations;
    }
    WARN(fmt::format("{}: {} decisions, generations seen {} times", NameOf(barrier), all.decisions,
                     all.generations));
    CHECK(all.wrong == 0);
    CHECK(all.backwards == 0);
    CHECK(all.generations > kThreads);
    CHECK(InForce(live) == kGenerations);
  }
}

}  // namespace
}  // namespace curfew::live
