// Policy sets that the input draws, small ones: the prover answers within its steps whatever they
// say, what it proves of them no drawn request contradicts, and what it calls the same answers
// alike.
#include "compiler/base/check.h"
#include "compiler/check/check.h"
#include "compiler/ir/encode.h"
#include "compiler/lower/lower.h"
#include "compiler/module/capability.h"
#include "compiler/module/json_value.h"
#include "compiler/module/request_axioms.h"
#include "compiler/prove/diff_sets.h"
#include "compiler/prove/prove_never.h"
#include "compiler/prove/prover.h"
#include "compiler/syntax/parse.h"
#include "tests/properties/generated_policy.h"
#include "tests/properties/generated_request.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace curfew {
namespace {

using properties::Random;

constexpr std::uint64_t kSteps = 200'000;
constexpr int kRequests = 60;

std::uint64_t SeedOf(std::string_view bytes) {
  std::uint64_t seed = 14'695'981'039'346'656'037U;  // FNV-1a
  for (const char byte : bytes)
    seed = (seed ^ static_cast<std::uint8_t>(byte)) * 1'099'511'628'211U;
  return seed;
}

// An engine over bytes of its own; nothing where the checker refuses the text.
struct Compiled {
  Bytes bytes;
  std::optional<interpret::Interpreter> engine;

  explicit Compiled(const std::string& text) {
    source::SourceMap sources;
    sources.Add({"input", text});
    diagnostics::Sink sink;
    const auto trees = syntax::ParseAll(sources, sink);
    const model::PolicyModel model = check::Check(trees, sources, sink);
    if (sink.has_errors()) return;
    const auto code = lower::Lower(model, sources);
    CURFEW_CHECK(code.has_value(), "what the checker passes is lowered");
    bytes = ir::Encode(*code);
    auto policy = module::PolicyModule::Load(bytes, 1);
    CURFEW_CHECK(policy.has_value(), "what was just encoded loads");
    engine.emplace(*std::move(policy));
  }
};

// A request that proofs speak of: all is known, it keeps to the axioms, and the host can do
// everything.
bool IsSpokenOf(module::Request& request, module::ValueArena& arena) {
  if (request.action() == schema::Action::Egress && request.stage() != schema::Stage::Request) {
    return false;
  }
  std::vector<module::Value> all;
  for (const std::string_view word : module::capability::All) {
    all.push_back(module::Value::OfText(word));
  }
  request.Set(schema::slot::HostCapabilities, module::Value::OfItems(arena.Keep(std::move(all))));
  const std::size_t slots = properties::RequestGenerator::SlotCount(request.action());
  for (std::size_t i = 0; i < slots; ++i) {
    if (!request.is_known(static_cast<schema::Slot>(i))) return false;
  }
  return module::BrokenAxioms(request).empty();
}

void Compare(const interpret::Interpreter& before, const interpret::Interpreter& after,
             const prove::SetDifference& difference, const module::Request& request) {
  module::VerdictRoom one;
  module::VerdictRoom other;
  before.Decide(request, one.verdict);
  after.Decide(request, other.verdict);
  const bool was_allowed = one.verdict.effect == module::Effect::Allow;
  const bool is_allowed = other.verdict.effect == module::Effect::Allow;
  if (was_allowed == is_allowed) return;
  // Where the set that allows it has no such class, that of the other one is compared.
  const auto class_in = [](const interpret::Interpreter& set, module::ClassIndex index) {
    return index == module::NoClass ? std::string() : std::string(set.module().class_name(index));
  };
  const std::string old_name = class_in(before, one.verdict.class_index);
  const std::string new_name = class_in(after, other.verdict.class_index);
  const std::string& first = was_allowed ? old_name : new_name;
  const std::string& name = !first.empty() ? first : was_allowed ? new_name : old_name;
  const bool is_told = std::ranges::any_of(difference.actions, [&](const prove::Difference& told) {
    const prove::Direction& direction = was_allowed ? told.tightens : told.relaxes;
    return told.action == request.action() && told.class_name == name &&
           direction.differs != prove::Differs::No;
  });
  CURFEW_CHECK(is_told, "two sets that are called the same answer alike");
}

}  // namespace
}  // namespace curfew

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace curfew;
  Random random(SeedOf({reinterpret_cast<const char*>(data), size}));
  properties::PolicyText text = properties::GeneratePolicy(random);
  const Compiled one(text.Text());
  const auto& before = one.engine;
  text.rules.push_back(properties::GenerateDenial(random));
  if (text.classes.size() > 1 && random.Below(2) == 0) text.classes.pop_back();
  const Compiled other(text.Text());
  const auto& after = other.engine;
  if (!before || !after) return 0;
  prove::Solver solver;
  const prove::SetDifference difference = prove::Diff(*before, *after, solver, kSteps);
  const module::PolicyModule& policy = after->module();
  std::vector<prove::Answer> answers;
  for (const module::RuleIndex never : prove::NeversOf(policy)) {
    answers.push_back(prove::ProveNever(*after, never, solver, kSteps));
  }
  properties::RequestGenerator generator(random);
  for (int i = 0; i < kRequests; ++i) {
    module::Request request = generator.Generate();
    module::ValueArena arena;
    if (!IsSpokenOf(request, arena)) continue;
    Compare(*before, *after, difference, request);
    module::VerdictRoom room;
    after->Decide(request, room.verdict);
    if (!module::OnlyNeversDeny(policy, room.verdict)) continue;
    const auto denials = room.verdict.denials.written();
    for (const prove::Answer& answer : answers) {
      const bool denies = std::ranges::find(denials, answer.never) != denials.end();
      CURFEW_CHECK(!denies || answer.outcome != prove::Outcome::Proven,
                   "what is proven no request contradicts");
    }
  }
  return 0;
}
