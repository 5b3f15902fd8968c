// What goes in and out as files, and the volumes that outlive a sandbox.
#include "compiler/lower/lowering.h"
#include "compiler/module/capability.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace curfew::lower {
namespace {

namespace slot = schema::slot;
using model::FilesystemPlane;
using model::TransferRule;

// Where the statements and the facts of a direction stand.
struct Direction {
  std::vector<TransferRule> FilesystemPlane::* rules;
  Slot path;
  Slot size;
  Slot total;
  std::string_view word;
};
constexpr Direction kImport{&FilesystemPlane::imports, slot::ImportPath, slot::ImportSize,
                            slot::ImportTotal, "import"};
constexpr Direction kExport{&FilesystemPlane::exports, slot::ExportPath, slot::ExportSize,
                            slot::ExportTotal, "export"};

}  // namespace

void LowerTransfer(Lowering& lowering, const model::Class& of, Action action, Block& block) {
  ir::Builder& b = lowering.builder;
  const bool is_import = action == Action::Import;
  const Direction& way = is_import ? kImport : kExport;
  const RuleIndex none =
      lowering.Deny(model::DefaultIdOf(of.name, action),
                    fmt::format("no `{}` of the class covers the path", way.word), of.span);
  for (const model::Class* link :
       WritersOf(lowering.model, of, is_import ? model::Grant::Import : model::Grant::Export)) {
    ir::Group group{{}, none, none};
    for (const TransferRule& rule : link->filesystem.*way.rules) {
      std::vector<ir::Pattern> patterns;
      for (const values::PathGlob& glob : rule.patterns) {
        patterns.push_back({glob.text, static_cast<std::uint32_t>(values::Reading::Exact)});
      }
      const NodeId says = b.And(b.PatternsIn(NodeOp::PathIn, lowering.Text(way.path), patterns),
                                LowerCondition(lowering, rule.condition, action));
      const RuleIndex row = lowering.Allow(rule.id, rule.message, rule.span);
      const NodeId fits =
          lowering.Test(NodeOp::LessEqual, rule.each ? way.size : way.total, rule.size.value.most);
      group.entries.push_back({row, lowering.Written(row, says), lowering.Written(row, fits)});
      group.beyond_denial =
          lowering.Deny(rule.size.id,
                        fmt::format("the file, or all files together, are larger than `{}` lets {}",
                                    way.word, is_import ? "in" : "out"),
                        rule.size.span);
    }
    block.groups.push_back(std::move(group));
  }
  if (block.groups.empty()) block.groups.push_back({{}, none, none});
}

// ---- Volumes ------------------------------------------------------------------------------------

namespace {

NodeId IsCallerOrGroupOf(Lowering& lowering, TermId principal) {
  ir::Builder& b = lowering.builder;
  return b.Or(b.Compare(NodeOp::Equal, lowering.Text(slot::CallerId), principal),
              b.Compare(NodeOp::In, principal, lowering.TextItems(slot::CallerGroups)));
}

// Who may attach it: its owner, the task's owner, whose volume it is unless the whole class shares
// it, an operator, or whom `access` of the class names. The task's owner is stated, and so it must
// be the caller, or a group of the caller, to count.
NodeId MayAttach(Lowering& lowering, const model::Class& of, const module::Volume& volume) {
  ir::Builder& b = lowering.builder;
  std::vector<NodeId> ways = {IsCallerOrGroupOf(lowering, b.TextTerm(volume.owner)),
                              lowering.Test(NodeOp::Equal, slot::CallerOperator, 1),
                              LowerAccessOf(lowering, of)};
  if (!volume.shared_by_class) {
    ways.push_back(IsCallerOrGroupOf(lowering, lowering.Text(slot::TaskOwner)));
  }
  return b.Or(ways);
}

}  // namespace

void LowerPersist(Lowering& lowering, const model::Class& of, NodeId image_is_allowed,
                  Block& block) {
  ir::Builder& b = lowering.builder;
  const TermId asked = lowering.TextItems(slot::CreatePersist);
  block.defaults.push_back(
      {.slot = slot::CreatePersist, .kind = module::DefaultRecord::Kind::NoItems});
  const NodeId is_asked = b.Compare(NodeOp::Greater, b.CountTerm(asked), b.IntegerTerm(0));
  const RuleIndex none = lowering.Deny(fmt::format("{}.filesystem.persist", of.name),
                                       "no `persist` of the class has such a volume");
  const auto writers = WritersOf(lowering.model, of, model::Grant::Persist);
  if (writers.empty()) {
    block.denials.push_back({none, is_asked});
    return;
  }
  ir::Group& images = block.groups.front();
  for (const model::Class* link : writers) {
    std::vector<std::string> names;
    for (const model::Persist& persist : link->filesystem.persists) {
      names.push_back(persist.volume.name);
      const NodeId is_named = b.Compare(NodeOp::In, b.TextTerm(persist.volume.name), asked);
      block.denials.push_back(
          {lowering.Deny("builtin.access",
                         fmt::format("the volume `{}` is attached by its owner, the task's owner, "
                                     "an operator or whom `access` names",
                                     persist.volume.name),
                         persist.span),
           b.And(is_named, b.Not(MayAttach(lowering, of, persist.volume)))});
      const RuleIndex row = lowering.Allow(persist.id, "", persist.span);
      images.entries.push_back({row, b.And(image_is_allowed, lowering.Written(row, is_named))});
    }
    block.denials.push_back(
        {none, names.empty() ? is_asked
                             : b.Not(b.Compare(NodeOp::SubsetOf, asked, b.TextSetTerm(names)))});
  }
  block.denials.push_back(
      {lowering.Deny("builtin.unsupported", "`persist` needs a host that keeps volumes"),
       b.And(is_asked, b.Not(b.Compare(NodeOp::In, b.TextTerm(module::capability::Persist),
                                       lowering.TextItems(slot::HostCapabilities))))});
}

// ---- The plan -----------------------------------------------------------------------------------

// Of what the links allow the last one's is the narrowest; the decision asks each of them. What
// bounds is the smaller of all.
void PlanKept(const model::PolicyModel& model, const model::Class& of, module::PlanTemplate& plan) {
  const auto transfers = [&](model::Grant grant, const Direction& way,
                             std::vector<module::TransferGrant>& grants) {
    const auto writers = WritersOf(model, of, grant);
    if (writers.empty()) return;
    for (const TransferRule& rule : writers.back()->filesystem.*way.rules) {
      module::TransferGrant one;
      for (const values::PathGlob& glob : rule.patterns) one.patterns.push_back(glob.text);
      one.each = rule.each;
      one.bytes_most = rule.size.value.most;
      grants.push_back(std::move(one));
    }
  };
  transfers(model::Grant::Import, kImport, plan.imports);
  transfers(model::Grant::Export, kExport, plan.exports);

  const auto keepers = WritersOf(model, of, model::Grant::Persist);
  for (const model::Class* link : keepers) {
    std::vector<module::Volume> volumes;
    for (const model::Persist& persist : link->filesystem.persists) {
      module::Volume volume = persist.volume;
      const auto base = std::ranges::find(plan.volumes, volume.name, &module::Volume::name);
      if (link != keepers.front() && base == plan.volumes.end()) continue;
      if (base != plan.volumes.end()) {
        volume.bytes = std::min(volume.bytes, base->bytes);
        volume.expires_ms = std::min(volume.expires_ms, base->expires_ms);
        volume.shared_by_class = volume.shared_by_class && base->shared_by_class;
      }
      volumes.push_back(std::move(volume));
    }
    plan.volumes = std::move(volumes);
  }
  PlanSnapshots(model, of, plan);
}

}  // namespace curfew::lower
