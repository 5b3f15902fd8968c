#include "compiler/check/check.h"

#include "compiler/base/crypto.h"
#include "compiler/base/limits.h"
#include "compiler/check/chain.h"
#include "compiler/check/class_overlap.h"
#include "compiler/check/context.h"
#include "compiler/check/expression.h"
#include "compiler/check/list.h"
#include "compiler/check/names.h"
#include "compiler/check/plane.h"
#include "compiler/check/public_suffix.h"
#include "compiler/check/rule.h"
#include "compiler/check/test.h"
#include "compiler/model/chain.h"
#include "compiler/model/print.h"
#include "compiler/values/quantity.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

namespace curfew::check {
namespace {

// What a digest depends on beside the set's own declarations.
std::string DigestPreamble() {
  return fmt::format("curfew policy 1\nlanguage 1\npublic suffixes {}\n", SuffixListVersion());
}

void CheckClass(Context& context, model::ClassId id, const syntax::SandboxDecl& declaration,
                Chains& chains) {
  model::Class& of = context.model.classes[static_cast<std::size_t>(id)];
  if (declaration.when) {
    Readable readable;
    readable.actions.set(static_cast<std::size_t>(schema::Action::Create));
    readable.of_class_when = true;
    const auto when = ExpressionChecker(context, readable).Condition(*declaration.when);
    if (when) of.when = *when;
  }
  PlaneChecker planes(context, of);
  for (const syntax::SandboxMember& member : declaration.members) {
    if (const auto* plane = std::get_if<syntax::Plane>(&member)) {
      planes.Check(*plane);
    } else {
      CheckRule(context, std::get<syntax::Rule>(member), id);
    }
  }
  planes.Finish();
  chains.NoteStated(id, planes.states_image(), planes.states_ttl());
}

void CheckFloor(Context& context, const syntax::SandboxDecl& declaration, Chains& chains) {
  model::Class part;
  part.name = context.model.floor->name;
  PlaneChecker planes(context, part);
  for (const syntax::SandboxMember& member : declaration.members) {
    if (const auto* plane = std::get_if<syntax::Plane>(&member)) {
      planes.CheckOfFloor(*plane);
    } else {
      CheckRule(context, std::get<syntax::Rule>(member), model::FloorId);
    }
  }
  planes.Finish();
  chains.NoteStated(model::FloorId, planes.states_image(), planes.states_ttl());
  Unite(*context.model.floor, std::move(part));
}

// Rules of a class stand in the code of each that narrows it, those of the floor in all.
void CheckInheritedRules(Context& context) {
  std::map<model::ClassId, std::size_t> own;
  for (const auto* rules : {&context.model.rules, &context.model.trials}) {
    for (const model::Rule& rule : *rules) {
      if (rule.of_class) ++own[*rule.of_class];
    }
  }
  const auto add = [&](model::ClassId id, const model::Class& of) {
    own[id] += of.network.rules.size() + of.network.trials.size() + of.filesystem.imports.size() +
               of.filesystem.exports.size() + of.network.exposes.size();
  };
  for (std::size_t i = 0; i < context.model.classes.size(); ++i) {
    add(model::ClassId{static_cast<std::uint32_t>(i)}, context.model.classes[i]);
  }
  if (context.model.floor) add(model::FloorId, *context.model.floor);
  std::size_t rules = 0;
  for (const model::Class& of : context.model.classes) {
    for (const model::ClassId link : of.chain) rules += own[link];
    rules += own[model::FloorId];
  }
  if (rules <= limits::RulesMax) return;
  context.sink.Report({}, diag::TooManyRules, static_cast<std::int64_t>(limits::RulesMax));
}

}  // namespace

model::PolicyModel Check(std::span<const syntax::Ast> files, const source::SourceMap& sources,
                         diagnostics::Sink& sink) {
  // By name, so that the order of the command line leaves no trace.
  std::vector<const syntax::Ast*> sorted;
  for (const syntax::Ast& file : files) sorted.push_back(&file);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto* a, const auto* b) {
    return sources.name(a->file) < sources.name(b->file);
  });

  model::PolicyModel model;
  const bool partial = sink.has_errors();
  const Names names = CollectNames(sorted, model, sink);
  if (names.has_too_many_classes) return model;
  Context context{model, sink, names, partial};
  CheckLists(context);
  Chains chains(context);
  for (const syntax::SandboxDecl* floor : names.floors) CheckFloor(context, *floor, chains);
  for (std::size_t i = 0; i < names.class_declarations.size(); ++i) {
    CheckClass(context, model::ClassId{static_cast<std::uint32_t>(i)}, *names.class_declarations[i],
               chains);
  }
  chains.Check();
  for (const syntax::Rule* rule : names.rules) CheckRule(context, *rule, std::nullopt);
  for (auto* rules : {&model.rules, &model.trials}) {
    std::sort(rules->begin(), rules->end(),
              [](const model::Rule& a, const model::Rule& b) { return a.id < b.id; });
  }
  if (!sink.has_errors()) CheckInheritedRules(context);
  if (!sink.has_errors()) CheckClassOverlap(context);

  // Where something could not be read, ids that look unknown may well be its own.
  std::vector<std::string> known_ids;
  if (!sink.has_errors()) known_ids = model::KnownIds(model);
  for (const syntax::TestDecl* test : names.tests) CheckTest(context, *test, known_ids);

  model.digest =
      Sha256(AsBytes(fmt::format("{}{}", DigestPreamble(), model::PrintDeclarations(model))));
  return model;
}

void CheckTrialEnds(const model::PolicyModel& model, std::int64_t now_ms, diagnostics::Sink& sink) {
  const auto look = [&](const auto& rules) {
    for (const auto& rule : rules) {
      if (!rule.trial->until_ms || now_ms < *rule.trial->until_ms) continue;
      sink.Report(rule.trial->span, diag::TrialOver, values::TimeText(*rule.trial->until_ms));
    }
  };
  look(model.trials);
  for (const model::Class& of : model.classes) look(of.network.trials);
  if (model.floor) look(model.floor->network.trials);
}

}  // namespace curfew::check
