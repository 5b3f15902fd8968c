#include "tests/differential/subject.h"

#include "compiler/check/check.h"
#include "compiler/diagnostics/sink.h"
#include "compiler/ir/encode.h"
#include "compiler/jit/compile.h"
#include "compiler/lower/lower.h"
#include "compiler/syntax/parse.h"
#include "tests/properties/naive_evaluator.h"

#include <set>
#include <span>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace curfew::differential {
namespace {

// A verdict in all that it says, as text. Rules by index, so that rows of one id differ too.
std::string Said(const module::DecisionEngine& engine, const module::Verdict& verdict) {
  std::string text = verdict.effect == module::Effect::Allow ? "allow" : "deny";
  text += fmt::format(" stage {} class {} denials {} [", static_cast<int>(verdict.stage),
                      verdict.class_index, verdict.denials.count);
  for (const auto rule : verdict.denials.written()) {
    text += fmt::format(" {}:{}", rule, engine.module().rule(rule).id);
  }
  text += fmt::format("] allows {} [", verdict.allows.count);
  for (const auto rule : verdict.allows.written()) {
    text += fmt::format(" {}:{}", rule, engine.module().rule(rule).id);
  }
  text += fmt::format("] trials {} [", verdict.trials.count);
  for (const auto rule : verdict.trials.written()) {
    text += fmt::format(" {}:{}", rule, engine.module().rule(rule).id);
  }
  text += "]";
  if (verdict.undecided) text += fmt::format(" undecided by {}", verdict.undecided_slot);
  return text;
}

std::string Said(const module::DecisionEngine& engine, const module::Request& request) {
  module::VerdictRoom room;
  engine.Decide(request, room.verdict);
  return Said(engine, room.verdict);
}

bool HoldsText(schema::Action action, schema::Slot slot) {
  const auto attributes = schema::AttributesOf(action);
  if (slot >= attributes.size()) return false;
  const schema::Type& type = attributes[slot].type;
  return type.collection == schema::Collection::One &&
         module::ClassOf(type.kind, type.collection) == module::ValueClass::Text;
}

// The same request as a caller asks it who prepared the sandbox, when nothing but its lasting facts
// was known, and interned every text since.
std::string SaidPrepared(const module::DecisionEngine& engine, const module::DecisionEngine& maker,
                         const module::Request& request) {
  module::Request lasting = request;
  const auto varies = [&](schema::Slot slot) {
    return !schema::LastsWithSandbox(request.action(), slot);
  };
  for (schema::Slot slot = 0; slot < limits::AttributesPerActionMax; ++slot) {
    if (varies(slot)) lasting.SetUnknown(slot);
  }
  module::PreparedRequest prepared = maker.Prepare(lasting);
  std::vector<module::InternedText> interned;
  for (schema::Slot slot = 0; slot < limits::AttributesPerActionMax; ++slot) {
    if (!varies(slot) || !request.is_known(slot)) continue;
    if (!request.is_present(slot)) {
      prepared.SetAbsent(slot);
    } else if (HoldsText(request.action(), slot)) {
      interned.push_back(maker.Intern(request.value(slot).text()));
      prepared.Set(slot, interned.back().value());
    } else {
      prepared.Set(slot, request.value(slot));
    }
  }
  module::VerdictRoom room;
  engine.DecidePrepared(prepared, room.verdict);
  return Said(engine, room.verdict);
}

std::string SaidOfMany(const module::DecisionEngine& engine, const module::Request& request) {
  const module::Request* const requests[] = {&request};
  module::VerdictRoom room;
  engine.DecideAll(requests, std::span(&room.verdict, 1));
  return Said(engine, room.verdict);
}

// What the model can say too: no rows, and no fact by its slot.
std::string Ids(bool allow, bool undecided, bool only_nevers, std::string_view class_name,
                const std::set<std::string>& denials, const std::set<std::string>& allows,
                const std::set<std::string>& trials) {
  return fmt::format("{}{}{} class {} denials [{}] allows [{}] trials [{}]",
                     allow ? "allow" : "deny", undecided ? " undecided" : "",
                     only_nevers ? " by nevers only" : "", class_name, fmt::join(denials, " "),
                     fmt::join(allows, " "), fmt::join(trials, " "));
}

std::string IdsOf(const module::DecisionEngine& engine, const module::Request& request) {
  module::VerdictRoom room;
  engine.Decide(request, room.verdict);
  const module::Verdict& verdict = room.verdict;
  const module::PolicyModule& policy = engine.module();
  std::set<std::string> denials;
  std::set<std::string> allows;
  std::set<std::string> trials;
  for (const auto rule : verdict.denials.written()) denials.emplace(policy.rule(rule).id);
  for (const auto rule : verdict.allows.written()) allows.emplace(policy.rule(rule).id);
  for (const auto rule : verdict.trials.written()) trials.emplace(policy.rule(rule).id);
  const bool has_class = verdict.class_index != module::NoClass;
  return Ids(verdict.effect == module::Effect::Allow, verdict.undecided,
             module::OnlyNeversDeny(policy, verdict),
             has_class ? policy.class_name(verdict.class_index) : std::string_view(), denials,
             allows, trials);
}

std::optional<ir::DecisionIr> Lowered(const std::string& policy, model::PolicyModel& model) {
  diagnostics::Sink sink;
  source::SourceMap sources;
  sources.Add({"set.curfew", policy});
  const auto trees = syntax::ParseAll(sources, sink);
  if (sink.has_errors()) return std::nullopt;
  model = check::Check(trees, sources, sink);
  if (sink.has_errors()) return std::nullopt;
  auto code = lower::Lower(model, sources);
  if (!code) FAIL(code.error().message);
  return *std::move(code);
}

}  // namespace

std::unique_ptr<Subject> Subject::Make(const std::string& policy, const Fault* fault) {
  std::unique_ptr<Subject> made(new Subject());
  std::optional<ir::DecisionIr> code = Lowered(policy, made->model_);
  if (!code) return nullptr;
  if (fault != nullptr && fault->lowering) {
    if (!fault->lowering(*code)) return nullptr;
    code->index = module::DeriveIndex(ir::View(*code));
  }
  made->bytes_ = ir::Encode(*code);
  made->indexed_bytes_ = made->bytes_;
  auto plain = module::PolicyModule::Load(made->bytes_, 1);
  if (!plain) {
    if (fault == nullptr) FAIL(plain.error().message);
    return nullptr;
  }
  auto indexed = module::PolicyModule::Load(made->indexed_bytes_, 1);
  auto native = module::PolicyModule::Load(made->bytes_, 1);
  made->plain_.emplace(*std::move(plain), interpret::UseIndex::No);
  made->indexed_.emplace(*std::move(indexed), interpret::UseIndex::Yes);
  if (fault != nullptr && fault->index) {
    module::Tables tables = made->indexed_->module().tables();
    if (!fault->index(tables, made->indexed_bytes_.data())) return nullptr;
  }

  auto shaped = codegen::TakeShapes(native->tables());
  if (fault != nullptr && fault->codegen && !fault->codegen(shaped)) return nullptr;
  const auto image = jit::CompileShapes(*native, shaped);
  if (!image) FAIL(image.error().message);
  const auto sealed = native::SealImage(*image);
  if (!sealed) FAIL(sealed.error().message);
  auto engine = native::NativeEngine::Make(*std::move(native), sealed->get());
  if (!engine) FAIL(engine.error().message);
  made->native_ = *std::move(engine);
  return made;
}

std::string Subject::Difference(const module::Request& request, bool with_model) const {
  const std::string plain = Said(*plain_, request);
  const std::string indexed = Said(*indexed_, request);
  const std::string native = Said(*native_, request);
  if (indexed != plain) return fmt::format("without index: {}\n   with index: {}", plain, indexed);
  if (native != plain) return fmt::format("interpreter: {}\n     native: {}", plain, native);
  const std::string many = SaidOfMany(*native_, request);
  if (many != plain) return fmt::format("interpreter: {}\n    of many: {}", plain, many);
  for (const module::DecisionEngine* maker :
       {static_cast<const module::DecisionEngine*>(&*native_),
        static_cast<const module::DecisionEngine*>(&*indexed_)}) {
    const std::string prepared = SaidPrepared(*native_, *maker, request);
    if (prepared == plain) continue;
    return fmt::format("interpreter: {}\n   prepared: {}", plain, prepared);
  }
  if (!with_model) return {};
  const auto naive = properties::DecideNaively(model_, request);
  const std::string expected = Ids(naive.allow, naive.undecided, naive.only_nevers,
                                   naive.class_name, naive.denials, naive.allows, naive.trials);
  const std::string answered = IdsOf(*plain_, request);
  if (answered == expected) return {};
  return fmt::format("by the model: {}\n interpreter: {}", expected, answered);
}

bool Subject::Allows(const module::Request& request) const {
  module::VerdictRoom room;
  native_->Decide(request, room.verdict);
  return room.verdict.effect == module::Effect::Allow;
}

}  // namespace curfew::differential
