#include "compiler/base/check.h"
#include "compiler/model/policy_model.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::model {
namespace {

constexpr std::string_view kBuiltinIds[] = {
    "builtin.access", "builtin.address", "builtin.unsupported", "class.ambiguous",
    "class.gone",     "class.none",      "class.not_selected",  "request.invalid"};

// What silence, bounds and time deny by, in every class.
constexpr std::string_view kOfEveryClass[] = {
    "image.isolation",        "image.size.cpu",         "image.size.memory",
    "image.size.disk",        "identity.env",           "identity.secrets",
    "identity.token",         "filesystem.persist",     "lifetime.ttl",
    "lifetime.idle",          "filesystem.import.size", "filesystem.export.size",
    "network.limit.requests", "network.limit.request",  "network.limit.total",
    "network.expose.lasts"};

// What a class that grants snapshots denies by.
constexpr std::string_view kOfSnapshots[] = {"expires", "size",   "keep",  "branches",
                                             "from",    "reason", "owner", "lineage"};

std::string_view DefaultPathOf(schema::Action action) {
  switch (action) {
    case schema::Action::Create:
      return "image.allow";
    case schema::Action::Resume:
      return "lifetime.frozen";
    case schema::Action::Exec:
      return "image.exec";
    case schema::Action::Egress:
      return "network.default";
    case schema::Action::Expose:
      return "network.expose";
    case schema::Action::Snapshot:
      return "filesystem.snapshot";
    case schema::Action::Import:
      return "filesystem.import";
    case schema::Action::Export:
      return "filesystem.export";
    case schema::Action::Extend:
      return "lifetime.renew";
    case schema::Action::Observe:
      return "identity.access";
  }
  CURFEW_UNREACHABLE("the switch names every action");
}

}  // namespace

std::span<const std::string_view> BuiltinIds() { return kBuiltinIds; }

std::string DefaultIdOf(std::string_view class_name, schema::Action action) {
  return fmt::format("{}.{}", class_name, DefaultPathOf(action));
}

std::vector<std::string> KnownIds(const PolicyModel& model) {
  std::vector<std::string> ids(std::begin(kBuiltinIds), std::end(kBuiltinIds));
  for (const Rule& rule : model.rules) ids.push_back(rule.id);
  for (const Rule& rule : model.trials) ids.push_back(rule.id);
  const auto add = [&](const Class& of) {
    for (const schema::ActionInfo& info : schema::Actions()) {
      ids.push_back(DefaultIdOf(of.name, info.action));
    }
    for (const std::string_view path : kOfEveryClass) {
      ids.push_back(fmt::format("{}.{}", of.name, path));
    }
    for (const ImageGrant& grant : of.image.allow) ids.push_back(grant.id);
    if (of.identity.secrets) {
      for (const SecretGrant& grant : of.identity.secrets->secrets) ids.push_back(grant.id);
    }
    for (const Persist& persist : of.filesystem.persists) ids.push_back(persist.id);
    for (const SnapshotRule& rule : of.filesystem.snapshots) {
      ids.push_back(rule.id);
      for (const std::string_view item : kOfSnapshots) {
        ids.push_back(fmt::format("{}.filesystem.snapshot.{}", of.name, item));
      }
    }
    for (const TransferRule& rule : of.filesystem.imports) ids.push_back(rule.id);
    for (const TransferRule& rule : of.filesystem.exports) ids.push_back(rule.id);
    for (const EgressRule& rule : of.network.rules) ids.push_back(rule.id);
    for (const EgressRule& rule : of.network.trials) ids.push_back(rule.id);
    for (const ExposeRule& rule : of.network.exposes) ids.push_back(rule.id);
  };
  for (const Class& of : model.classes) {
    ids.push_back(of.name);
    add(of);
  }
  if (model.floor) add(*model.floor);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

namespace {

// The first of `all` that has the id.
template <typename Items>
const auto* WithId(const Items& all, std::string_view id) {
  const auto found =
      std::ranges::find(all, id, [](const auto& one) -> const auto& { return one.id; });
  return found == all.end() ? nullptr : &*found;
}

Span SpanIn(const Class& of, std::string_view id) {
  Span span;
  const auto look = [&](const auto& all) {
    if (const auto* found = WithId(all, id)) span = found->span;
  };
  const auto look_at = [&](const auto& one) {
    if (one && one->id == id) span = one->span;
  };
  look(of.image.allow);
  look_at(of.image.exec);
  look_at(of.identity.access);
  if (of.identity.secrets && WithId(of.identity.secrets->secrets, id) != nullptr) {
    span = of.identity.secrets->span;
  }
  look(of.filesystem.persists);
  look(of.filesystem.snapshots);
  look(of.filesystem.imports);
  look(of.filesystem.exports);
  look(of.network.rules);
  look(of.network.trials);
  look(of.network.exposes);
  look_at(of.lifetime.frozen);
  look_at(of.lifetime.renewal);
  return of.name == id ? of.span : span;
}

}  // namespace

Span SpanOf(const PolicyModel& model, std::string_view id) {
  for (const auto* rules : {&model.rules, &model.trials}) {
    if (const Rule* rule = WithId(*rules, id)) return rule->span;
  }
  for (const Class& of : model.classes) {
    const Span span = SpanIn(of, id);
    if (!span.is_nowhere()) return span;
  }
  return model.floor ? SpanIn(*model.floor, id) : Span{};
}

}  // namespace curfew::model
