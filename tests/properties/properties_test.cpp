// What must hold of every policy set and every request, tried on thousands that nobody wrote.
// CURFEW_SEED repeats a run, CURFEW_EFFORT lengthens it.
#include "compiler/ir/encode.h"
#include "compiler/ir/print.h"
#include "compiler/module/layout.h"
#include "tests/properties/compiled_set.h"
#include "tests/properties/generated_policy.h"
#include "tests/properties/generated_request.h"
#include "tests/properties/naive_evaluator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::properties {
namespace {

using module::Request;
using schema::Action;
using schema::Slot;
using schema::Stage;

// Null where the checker refuses the set: a generator cannot know all that an author must.
std::unique_ptr<Compiled> Compile(const std::vector<std::string>& files) {
  diagnostics::Sink sink;
  auto made = CompileSet(files, sink);
  for (const auto& diagnostic : sink.diagnostics()) {
    if (diagnostic.code >= 3000) continue;
    for (const auto& file : files) UNSCOPED_INFO(file);
    FAIL("a generated set does not parse");
  }
  return made;
}

// A generated set that compiles.
struct Sample {
  PolicyText text;
  std::unique_ptr<Compiled> compiled;
};
Sample NextSample(Random& random) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    PolicyText text = GeneratePolicy(random);
    if (auto compiled = Compile({text.Text()})) return {std::move(text), std::move(compiled)};
  }
  FAIL("the generator makes no set that compiles");
  return {};
}

// Runs `property` on sets and requests and says how to repeat a failure.
template <typename Property>
void ForAll(std::string_view name, std::size_t sets, std::size_t requests, Property property) {
  const std::uint64_t seed = SeedFromEnvironment();
  UNSCOPED_INFO(name << " with CURFEW_SEED=" << seed);
  Random random(seed);
  for (std::size_t s = 0; s < sets * EffortFromEnvironment(); ++s) {
    const Sample sample = NextSample(random);
    RequestGenerator generator(random);
    for (std::size_t r = 0; r < requests; ++r) {
      const Request request = generator.Generate();
      if (property(sample, request)) continue;
      UNSCOPED_INFO(sample.text.Text());
      UNSCOPED_INFO(Describe(request));
      UNSCOPED_INFO("answered: " << Text(sample.compiled->Decide(request)));
      FAIL(name << " does not hold; CURFEW_SEED=" << seed);
    }
  }
}

bool IsTighter(const Answer& after, const Answer& before) { return before.allow || !after.allow; }

TEST_CASE("the interpreter agrees with a reading of the model without tables") {
  std::size_t allowed = 0;
  std::size_t asked = 0;
  std::size_t undecided = 0;
  std::size_t only_nevers = 0;
  std::map<std::string, std::size_t> reasons;
  ForAll("agreement", 250, 60, [&](const Sample& sample, const Request& request) {
    const Answer answer = sample.compiled->Decide(request);
    const NaiveAnswer naive = DecideNaively(sample.compiled->model, request);
    const Answer expected{naive.allow,   naive.undecided, naive.only_nevers, naive.class_name,
                          naive.denials, naive.allows,    naive.trials};
    only_nevers += answer.only_nevers ? 1 : 0;
    ++asked;
    allowed += answer.allow ? 1 : 0;
    undecided += answer.undecided ? 1 : 0;
    for (const std::string& id : answer.denials) ++reasons[id.substr(id.find('.') + 1)];
    if (answer == expected) return true;
    UNSCOPED_INFO("expected: " << Text(expected));
    return false;
  });
  // A run in which everything is denied, or by one reason, would prove nothing.
  WARN(fmt::format("{} asked, {} allowed, {} undecided, {} reasons", asked, allowed, undecided,
                   reasons.size()));
  CHECK(allowed * 20 > asked);
  CHECK(allowed * 10 < asked * 9);
  CHECK(undecided > 0);
  CHECK(only_nevers > 0);  // for nobody proved these sets
  for (const char* id : {"access",
                         "address",
                         "unsupported",
                         "none",
                         "gone",
                         "not_selected",
                         "invalid",
                         "lifetime.ttl",
                         "lifetime.idle",
                         "image.exec",
                         "image.allow",
                         "image.size.cpu",
                         "image.size.memory",
                         "image.size.disk",
                         "image.isolation",
                         "identity.env",
                         "lifetime.frozen",
                         "filesystem.import",
                         "filesystem.import.size",
                         "filesystem.persist",
                         "filesystem.snapshot",
                         "filesystem.snapshot.expires",
                         "filesystem.snapshot.size",
                         "filesystem.snapshot.keep",
                         "filesystem.snapshot.branches",
                         "filesystem.snapshot.from",
                         "filesystem.snapshot.reason",
                         "filesystem.snapshot.owner",
                         "filesystem.snapshot.lineage",
                         "lifetime.renew",
                         "network.default",
                         "filesystem.export",
                         "filesystem.export.size"}) {
    INFO(id);
    CHECK(reasons[id] > 0);
  }
}

TEST_CASE("order, files and repetition change no answer, id or digest") {
  const std::uint64_t seed = SeedFromEnvironment() + 1;
  INFO("CURFEW_SEED=" << seed - 1);
  Random random(seed);
  for (std::size_t s = 0; s < 80 * EffortFromEnvironment(); ++s) {
    const Sample sample = NextSample(random);
    const auto other = Compile(Rearranged(sample.text, random));
    INFO(sample.text.Text());
    REQUIRE(other != nullptr);
    REQUIRE(other->model.digest == sample.compiled->model.digest);
    RequestGenerator generator(random);
    for (std::size_t r = 0; r < 20; ++r) {
      const Request request = generator.Generate();
      INFO(Describe(request));
      REQUIRE(Text(other->Decide(request)) == Text(sample.compiled->Decide(request)));
    }
  }
}

TEST_CASE("one more deny never opens and hides no other reason") {
  const std::uint64_t seed = SeedFromEnvironment() + 2;
  INFO("CURFEW_SEED=" << seed - 2);
  Random random(seed);
  std::size_t closed = 0;
  for (std::size_t s = 0; s < 80 * EffortFromEnvironment(); ++s) {
    const Sample sample = NextSample(random);
    PolicyText more = sample.text;
    more.rules.push_back(GenerateDenial(random));
    const auto tighter = Compile({more.Text()});
    if (tighter == nullptr) continue;
    RequestGenerator generator(random);
    for (std::size_t r = 0; r < 40; ++r) {
      const Request request = generator.Generate();
      const Answer before = sample.compiled->Decide(request);
      const Answer after = tighter->Decide(request);
      INFO(more.Text() << Describe(request));
      REQUIRE(IsTighter(after, before));
      REQUIRE(std::includes(after.denials.begin(), after.denials.end(), before.denials.begin(),
                            before.denials.end()));
      closed += before.allow && !after.allow ? 1 : 0;
    }
  }
  CHECK(closed > 0);
}

TEST_CASE("a trial is told and changes nothing else") {
  const std::uint64_t seed = SeedFromEnvironment() + 6;
  INFO("CURFEW_SEED=" << seed - 6);
  Random random(seed);
  std::size_t told = 0;
  for (std::size_t s = 0; s < 80 * EffortFromEnvironment(); ++s) {
    const Sample sample = NextSample(random);
    PolicyText more = sample.text;
    const std::string denial = GenerateDenial(random);
    more.rules.push_back("added: trial " + denial.substr(denial.find("deny ")));
    const auto tried = Compile({more.Text()});
    if (tried == nullptr) continue;
    RequestGenerator generator(random);
    for (std::size_t r = 0; r < 40; ++r) {
      const Request request = generator.Generate();
      const Answer before = sample.compiled->Decide(request);
      Answer after = tried->Decide(request);
      INFO(more.Text() << Describe(request));
      told += after.trials.erase("set.added");
      REQUIRE(after == before);
    }
  }
  CHECK(told > 0);
}

// The request as the set without `extra` is asked: of a sandbox of `extra` it is of its base.
Request AskedOfBase(const Request& request, const std::string& base) {
  Request asked = request;
  asked.SetText(schema::slot::SandboxClass, base);
  return asked;
}

// Whether every wish that a class has a default for is stated: a rule may read what a default says.
bool StatesItsWishes(const Request& request) {
  namespace slot = schema::slot;
  const std::array wishes = {slot::CreateCpu, slot::CreateMemory, slot::CreateDisk, slot::CreateTtl,
                             slot::CreateIsolation};
  return std::all_of(wishes.begin(), wishes.end(),
                     [&](Slot wish) { return request.is_known(wish) && request.is_present(wish); });
}

TEST_CASE("a class that narrows another and writes limits only never allows more") {
  const std::uint64_t seed = SeedFromEnvironment() + 5;
  INFO("CURFEW_SEED=" << seed - 5);
  Random random(seed);
  std::size_t closed = 0;
  std::size_t still_open = 0;
  for (std::size_t s = 0; s < 120 * EffortFromEnvironment(); ++s) {
    const Sample sample = NextSample(random);
    const ClassText& base = random.Pick(sample.text.classes);
    if (base.head == "every sandbox") continue;
    PolicyText more = sample.text;
    more.classes.push_back(GenerateLimits(random, base, "extra"));
    const auto tighter = Compile({more.Text()});
    if (tighter == nullptr) continue;
    RequestGenerator generator(random);
    for (std::size_t r = 0; r < 40; ++r) {
      Request request = generator.Generate();
      const bool creates = request.action() == Action::Create;
      if (creates && !StatesItsWishes(request)) continue;
      if (!creates) request.SetText(schema::slot::SandboxClass, "extra");
      const Answer after = tighter->Decide(request);
      const Answer before =
          sample.compiled->Decide(creates ? request : AskedOfBase(request, base.name()));
      INFO(more.Text() << Describe(request) << Text(before) << Text(after));
      REQUIRE(IsTighter(after, before));
      closed += before.allow && !after.allow ? 1 : 0;
      still_open += after.allow && after.class_name == "extra" ? 1 : 0;
    }
  }
  CHECK(closed > 0);
  CHECK(still_open > 0);
}

TEST_CASE("every deny has a reason that says something, and every allow a rule") {
  ForAll("reasons", 80, 40, [](const Sample& sample, const Request& request) {
    module::VerdictRoom room;
    sample.compiled->engine->Decide(request, room.verdict);
    const auto& policy = sample.compiled->engine->module();
    const auto written = room.verdict.denials.written();
    const bool allow = room.verdict.effect == module::Effect::Allow;
    return allow == written.empty() &&
           std::all_of(written.begin(), written.end(),
                       [&](auto rule) { return !policy.rule(rule).message.empty(); }) &&
           (!allow || !room.verdict.allows.written().empty());
  });
}

TEST_CASE("making a fact unknown only tightens, and so does taking away one that must be there") {
  std::size_t tightened = 0;
  ForAll("blanking", 120, 20, [&](const Sample& sample, const Request& request) {
    if (request.action() == Action::Egress && request.stage() != Stage::Request) return true;
    const Answer before = sample.compiled->Decide(request);
    const auto attributes = schema::AttributesOf(request.action());
    for (std::size_t i = 0; i < RequestGenerator::SlotCount(request.action()); ++i) {
      const auto slot = static_cast<Slot>(i);
      if (!request.is_known(slot)) continue;
      Request blanked = request;
      blanked.SetUnknown(slot);
      const Answer after = sample.compiled->Decide(blanked);
      tightened += before.allow && !after.allow ? 1 : 0;
      if (!IsTighter(after, before)) return false;
      // An absent host says that an address was asked for; an absent wish is its default.
      const bool must_be_there = i < attributes.size() && !attributes[i].type.optional &&
                                 attributes[i].origin != schema::Origin::Wish &&
                                 attributes[i].path != "egress.host";
      if (!must_be_there) continue;
      blanked.SetAbsent(slot);
      if (!IsTighter(sample.compiled->Decide(blanked), before)) return false;
    }
    return true;
  });
  CHECK(tightened > 100);
}

TEST_CASE("a stage refuses nothing that a later one would allow") {
  const auto& attributes = schema::AttributesOf(Action::Egress);
  std::size_t allowed = 0;
  ForAll("stages", 300, 60, [&](const Sample& sample, const Request& request) {
    if (request.action() != Action::Egress || request.stage() != Stage::Request) return true;
    if (!sample.compiled->Decide(request).allow) return true;
    ++allowed;
    for (const Stage stage : {Stage::Address, Stage::Name}) {
      Request earlier(Action::Egress, stage);
      for (std::size_t i = 0; i < RequestGenerator::SlotCount(Action::Egress); ++i) {
        const auto slot = static_cast<Slot>(i);
        const std::string_view path = i < attributes.size() ? attributes[i].path : "";
        const bool later = path == "egress.method" || path == "egress.path" ||
                           path == "egress.query" || path == "egress.bytes" ||
                           path == "egress.upgrade" ||
                           (path == "egress.ip" && stage == Stage::Name);
        if (later || !request.is_known(slot)) continue;
        if (request.is_present(slot)) {
          earlier.Set(slot, request.value(slot));
        } else {
          earlier.SetAbsent(slot);
        }
      }
      if (!sample.compiled->Decide(earlier).allow) return false;
    }
    return true;
  });
  CHECK(allowed > 20);
}

TEST_CASE("bytes that were saved and loaded decide equally, wherever they lie") {
  ForAll("bytes", 60, 20, [](const Sample& sample, const Request& request) {
    const Bytes copy = sample.compiled->bytes;
    auto loaded = module::PolicyModule::Load(copy, 1);
    if (!loaded) return false;
    Compiled other;
    other.engine.emplace(*std::move(loaded));
    return other.Decide(request) == sample.compiled->Decide(request);
  });
}

TEST_CASE("every id that a verdict can name is an id that a test can name") {
  ForAll("ids", 60, 1, [](const Sample& sample, const Request&) {
    const auto known = model::KnownIds(sample.compiled->model);
    const auto& policy = sample.compiled->engine->module();
    for (module::RuleIndex i = 0; i < policy.rule_count(); ++i) {
      if (std::binary_search(known.begin(), known.end(), std::string(policy.rule(i).id))) continue;
      UNSCOPED_INFO("unknown to the model: " << policy.rule(i).id);
      return false;
    }
    return true;
  });
}

// ---- Hostile bytes ------------------------------------------------------------------------------

// The bytes with a digest that fits, as someone would make it who can write the file.
void Reseal(Bytes& bytes) {
  if (bytes.size() < sizeof(module::layout::FileHeader)) return;
  const Digest digest = Sha256(ByteView(bytes).subspan(sizeof(module::layout::FileHeader)));
  std::memcpy(bytes.data() + offsetof(module::layout::FileHeader, content), digest.bytes.data(),
              digest.bytes.size());
}

TEST_CASE("a changed byte is noticed, and with a forged digest it crashes nothing") {
  Random random(SeedFromEnvironment() + 3);
  std::size_t loaded_count = 0;
  std::size_t refused_count = 0;
  for (std::size_t s = 0; s < 12 * EffortFromEnvironment(); ++s) {
    const Sample sample = NextSample(random);
    RequestGenerator generator(random);
    std::vector<Request> requests;
    for (int i = 0; i < 8; ++i) requests.push_back(generator.Generate());
    for (int i = 0; i < 400; ++i) {
      Bytes bytes = sample.compiled->bytes;
      const std::size_t changes = 1 + random.Below(3);
      for (std::size_t c = 0; c < changes; ++c) {
        std::uint8_t& byte = bytes[random.Below(bytes.size())];
        byte = static_cast<std::uint8_t>(
            random.Pick<std::size_t>({byte ^ (std::size_t{1} << random.Below(8)), 0, 0xff,
                                      random.Below(256), byte + std::size_t{1}}));
      }
      if (random.OneIn(20)) bytes.resize(random.Below(bytes.size()));
      if (bytes != sample.compiled->bytes) CHECK_FALSE(module::PolicyModule::Load(bytes, 1));
      Reseal(bytes);
      auto loaded = module::PolicyModule::Load(bytes, 1);
      if (!loaded) {
        ++refused_count;
        CHECK_FALSE(loaded.error().message.empty());
        continue;
      }
      ++loaded_count;
      const interpret::Interpreter engine(*std::move(loaded));
      module::VerdictRoom room;
      for (const Request& request : requests) {
        engine.Decide(request, room.verdict);
        CHECK((room.verdict.effect == module::Effect::Deny) == (room.verdict.denials.count > 0));
      }
    }
  }
  CHECK(loaded_count > 100);
  CHECK(refused_count > 100);
}

TEST_CASE("the checker knows every id that a module can name") {
  Random random(SeedFromEnvironment() + 8);
  for (std::size_t s = 0; s < 20 * EffortFromEnvironment(); ++s) {
    const Sample sample = NextSample(random);
    const std::vector<std::string> ids = model::KnownIds(sample.compiled->model);
    const module::PolicyModule& policy = sample.compiled->engine->module();
    for (module::RuleIndex rule = 0; rule < policy.rule_count(); ++rule) {
      CAPTURE(policy.rule(rule).id);
      CHECK(std::binary_search(ids.begin(), ids.end(), policy.rule(rule).id));
    }
  }
}

}  // namespace
}  // namespace curfew::properties
