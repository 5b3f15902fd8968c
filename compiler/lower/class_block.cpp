#include "compiler/base/check.h"
#include "compiler/lower/lowering.h"
#include "compiler/module/capability.h"
#include "compiler/values/quantity.h"

#include <array>

#include <fmt/format.h>

namespace curfew::lower {
namespace {

namespace slot = schema::slot;
namespace capability = module::capability;
using model::Grant;

constexpr auto kKvm = static_cast<std::int64_t>(module::Isolation::Kvm);
constexpr auto kAny = static_cast<std::int64_t>(module::Isolation::Any);

std::string IdOf(const model::Class& of, std::string_view path) {
  return fmt::format("{}.{}", of.name, path);
}

void Default(Block& block, Slot slot, std::int64_t value) {
  block.defaults.push_back(
      {.slot = slot, .kind = module::DefaultRecord::Kind::Integer, .integer = value});
}
// A wish within its bound. Where the bound has no default, leaving it out is denied too.
void LowerBound(Lowering& lowering, const model::Bound& bound, Slot slot, std::string_view name,
                std::string (*text)(std::int64_t), Block& block) {
  ir::Builder& b = lowering.builder;
  if (bound.value.standard) {
    Default(block, slot, *bound.value.standard);
  } else {
    block.denials.push_back(
        {lowering.Deny(bound.id,
                       fmt::format("`{}` is left out and has no default; ask for at most {}", name,
                                   text(bound.value.most)),
                       bound.span),
         b.Not(b.Has(slot))});
  }
  const RuleIndex row = lowering.Deny(
      bound.id, fmt::format("`{}` is at most {}", name, text(bound.value.most)), bound.span);
  const NodeId is_more = lowering.Test(NodeOp::Greater, slot, bound.value.most);
  block.denials.push_back({row, b.And(b.Has(slot), lowering.Written(row, is_more))});
}

std::string NumberText(std::int64_t number) { return std::to_string(number); }

void LowerUnsupported(Lowering& lowering, const model::Class& of, Block& block) {
  ir::Builder& b = lowering.builder;
  constexpr std::string_view kId = "builtin.unsupported";
  const auto can = [&](std::string_view word) {
    return b.Compare(NodeOp::In, b.TextTerm(word), lowering.TextItems(slot::HostCapabilities));
  };
  const NodeId wants_kvm = lowering.Test(NodeOp::Equal, slot::CreateIsolation, kKvm);
  block.denials.push_back(
      {lowering.Deny(kId, "`isolation kvm` needs KVM, which this host does not have"),
       b.And(wants_kvm, b.Not(can(capability::Kvm)))});
  block.denials.push_back(
      {lowering.Deny(kId, "this host can run no microVM, neither under KVM nor by emulation"),
       b.And(b.Not(can(capability::Kvm)), b.Not(can(capability::Emulation)))});
  if (CanFreeze(lowering.model, of)) {
    block.denials.push_back(
        {lowering.Deny(kId, "`idle … then freeze` needs a host that can freeze a sandbox"),
         b.Not(can(capability::Freeze))});
  }
  if (HasNetwork(lowering.model, of)) {
    block.denials.push_back(
        {lowering.Deny(kId,
                       "the network plane allows something, and this host has no gateway "
                       "that could judge it"),
         b.Not(can(capability::Egress))});
  }
  if (InspectsTls(lowering.model, of)) {
    block.denials.push_back(
        {lowering.Deny(kId,
                       "`tls inspect` needs a gateway that reads inside TLS, which this host "
                       "does not have (`inspect`)"),
         b.Not(can(capability::Inspect))});
  }
  if (OpensWebsockets(lowering.model, of)) {
    block.denials.push_back(
        {lowering.Deny(kId,
                       "`allow websocket` needs a gateway that judges WebSockets, which this "
                       "host does not have (`websocket`)"),
         b.Not(can(capability::Websocket))});
  }
  LowerIdentityNeeds(lowering, of, block);
  if (EvidenceOf(lowering.model, of).unrecorded_allows.any()) {
    block.denials.push_back(
        {lowering.Deny(kId,
                       "`record all except` needs a host that leaves something off the "
                       "record, and this one records everything (`omit`)"),
         b.Not(can(capability::Omit))});
  }
}

void LowerCreate(Lowering& lowering, const model::Class& of, Block& block) {
  ir::Builder& b = lowering.builder;
  const SizeBounds sizes = SizesOf(lowering.model, of);
  LowerBound(lowering, sizes.cpu, slot::CreateCpu, "cpu", NumberText, block);
  LowerBound(lowering, sizes.memory, slot::CreateMemory, "memory", values::SizeText, block);
  LowerBound(lowering, sizes.disk, slot::CreateDisk, "disk", values::SizeText, block);
  LowerBound(lowering, TtlOf(lowering.model, of), slot::CreateTtl, "ttl", values::DurationText,
             block);
  LowerIdentityWishes(lowering, of, block);
  // Nobody states where the image comes from: its digest says what it is.
  block.defaults.push_back({.slot = slot::CreateImageRef,
                            .kind = module::DefaultRecord::Kind::Text,
                            .text = b.Text("")});

  const module::Isolation isolation = IsolationOf(lowering.model, of);
  Default(block, slot::CreateIsolation, isolation == module::Isolation::Kvm ? kKvm : kAny);
  if (isolation == module::Isolation::Kvm) {
    const model::Class* says = &of;
    for (const model::Class* link : ChainOf(lowering.model, of)) {
      if (link->image.isolation == module::Isolation::Kvm) says = link;
    }
    block.denials.push_back(
        {lowering.Deny(IdOf(*says, "image.isolation"), "the class runs under KVM only"),
         lowering.Test(NodeOp::NotEqual, slot::CreateIsolation, kKvm)});
  }
  LowerUnsupported(lowering, of, block);

  const RuleIndex none = lowering.Deny(model::DefaultIdOf(of.name, Action::Create),
                                       "the class does not allow the image", of.span);
  for (const model::Class* link : WritersOf(lowering.model, of, Grant::Image)) {
    ir::Group group{{}, none, none};
    for (const model::ImageGrant& grant : link->image.allow) {
      const Digest& digest = At(lowering.model, grant.image).digest;
      const RuleIndex row = lowering.Allow(grant.id, "", grant.span);
      const NodeId is_it = b.Compare(NodeOp::Equal, lowering.Text(slot::CreateImage),
                                     b.TextTerm(AsText(digest.bytes)));
      group.entries.push_back({row, lowering.Written(row, is_it)});
    }
    block.groups.push_back(std::move(group));
  }
  // A model without errors has one; without, nothing may run.
  if (block.groups.empty()) block.groups.push_back({{}, none, none});
  // An allowed create also bears what it was given by name; that is no way of its own to be
  // allowed.
  ir::Group& images = block.groups.front();
  std::vector<NodeId> ways;
  for (const ir::Entry& entry : images.entries) ways.push_back(entry.condition);
  const NodeId image_is_allowed = b.Or(ways);
  NameIdentityGrants(lowering, of, image_is_allowed, images);
  LowerPersist(lowering, of, image_is_allowed, block);
}

void LowerExec(Lowering& lowering, const model::Class& of, Block& block) {
  ir::Builder& b = lowering.builder;
  const RuleIndex none = lowering.Deny(model::DefaultIdOf(of.name, Action::Exec),
                                       "no `exec` of the class covers the program",
                                       of.image.exec ? of.image.exec->span : of.span);
  for (const model::Class* link : WritersOf(lowering.model, of, Grant::Exec)) {
    const model::ExecGrant& grant = *link->image.exec;
    ir::Group group{{}, none, none};
    if (grant.reach == model::ExecGrant::Reach::Any) {
      group.entries.push_back({lowering.Allow(grant.id, "", grant.span)});
    }
    if (grant.reach == model::ExecGrant::Reach::Patterns) {
      std::vector<ir::Pattern> patterns;
      for (const values::PathGlob& glob : grant.patterns) {
        patterns.push_back({glob.text, static_cast<std::uint32_t>(values::Reading::Exact)});
      }
      const RuleIndex row = lowering.Allow(grant.id, "", grant.span);
      const NodeId is_one =
          b.PatternsIn(NodeOp::PathIn, lowering.Text(slot::ExecProgram), patterns);
      group.entries.push_back({row, lowering.Written(row, is_one)});
    }
    block.groups.push_back(std::move(group));
  }
  if (block.groups.empty()) block.groups.push_back({{}, none, none});
}

// Who may ask at all; rules only take away from that. An allow says by what the caller came in:
// as creator, owner or operator, or by an `access` that names it.
void LowerAccess(Lowering& lowering, const model::Class& of, Block& block) {
  const RuleIndex none = lowering.Deny("builtin.access",
                                       "the caller is neither creator, owner, operator nor named "
                                       "by `access`");
  const RuleIndex own =
      lowering.Allow("builtin.access", "the caller is its creator, its owner or an operator");
  const NodeId is_own = LowerOwnAccess(lowering);
  const auto writers = WritersOf(lowering.model, of, Grant::Access);
  for (const model::Class* link : writers) {
    const model::AccessGrant& grant = *link->identity.access;
    const RuleIndex row = lowering.Allow(grant.id, "", grant.span);
    TellWrittenAccess(lowering, row, grant);
    block.groups.push_back(
        {{{own, is_own}, {row, LowerListedAccess(lowering, grant)}}, none, none});
  }
  if (writers.empty()) block.groups.push_back({{{own, is_own}}, none, none});
}

}  // namespace

Block LowerClassBlock(Lowering& lowering, const model::Class& of, Action action) {
  Block block;
  LowerRules(lowering, model::FloorId, action, block);
  for (const model::ClassId link : of.chain) LowerRules(lowering, link, action, block);
  switch (action) {
    case Action::Create:
      LowerCreate(lowering, of, block);
      return block;
    case Action::Observe:
      LowerAccess(lowering, of, block);
      return block;
    case Action::Egress:
      LowerNetwork(lowering, of, block);
      LowerTime(lowering, of, action, block);
      return block;
    case Action::Exec:
      LowerExec(lowering, of, block);
      break;
    case Action::Import:
    case Action::Export:
      LowerTransfer(lowering, of, action, block);
      break;
    case Action::Snapshot:
      LowerSnapshot(lowering, of, block);
      break;
    case Action::Resume:
      LowerResume(lowering, of, block);
      LowerResumeAccess(lowering, of, block);
      LowerTime(lowering, of, action, block);
      return block;
    case Action::Extend:
      LowerExtend(lowering, of, block);
      break;
    case Action::Expose:
      LowerExpose(lowering, of, block);
      break;
  }
  LowerAccess(lowering, of, block);
  LowerTime(lowering, of, action, block);
  return block;
}

}  // namespace curfew::lower
