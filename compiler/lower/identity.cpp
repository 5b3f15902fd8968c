// What a task may carry: secrets and variables, by name, as far as every class of the chain that
// writes any grants them.
#include "compiler/lower/lowering.h"
#include "compiler/model/chain.h"
#include "compiler/module/capability.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace curfew::lower {
namespace {

namespace slot = schema::slot;

// A set of wishes, of which only these names are granted. `granted` is sorted.
void LowerNames(Lowering& lowering, std::string_view id, source::Span span, Slot wish,
                const std::vector<std::string>& granted, std::string_view kind, Block& block) {
  ir::Builder& b = lowering.builder;
  const TermId wished = lowering.TextItems(wish);
  const NodeId beyond = granted.empty()
                            ? b.Compare(NodeOp::Greater, b.CountTerm(wished), b.IntegerTerm(0))
                            : b.Not(b.Compare(NodeOp::SubsetOf, wished, b.TextSetTerm(granted)));
  const std::string message = granted.empty() ? fmt::format("the class grants no {}", kind)
                                              : fmt::format("the class grants no {} but {}", kind,
                                                            fmt::join(granted, ", "));
  const RuleIndex row = lowering.Deny(id, message, span);
  block.denials.push_back({row, lowering.Written(row, beyond)});
}

std::vector<std::string> NamesOf(const model::PolicyModel& model,
                                 const model::SecretsGrant& grant) {
  std::vector<std::string> names;
  for (const model::SecretGrant& secret : grant.secrets) {
    names.push_back(At(model, secret.secret).name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void Meet(std::optional<std::vector<std::string>>& names, const std::vector<std::string>& other) {
  if (!names) {
    names = other;
    return;
  }
  std::vector<std::string> both;
  std::set_intersection(names->begin(), names->end(), other.begin(), other.end(),
                        std::back_inserter(both));
  names = std::move(both);
}

module::SecretGrant GrantOf(const model::Secret& secret) {
  module::SecretGrant grant;
  grant.name = secret.name;
  grant.from_file = secret.from == model::Secret::From::File;
  grant.source = secret.source;
  grant.form = secret.form;
  grant.header = secret.header;
  for (const model::SecretHost& host : secret.hosts) grant.hosts.push_back({host.name, host.port});
  return grant;
}

}  // namespace

void LowerIdentityWishes(Lowering& lowering, const model::Class& of, Block& block) {
  for (const Slot wish : {slot::CreateSecrets, slot::CreateEnv}) {
    block.defaults.push_back({.slot = wish, .kind = module::DefaultRecord::Kind::NoItems});
  }
  const auto secrets = WritersOf(lowering.model, of, model::Grant::Secrets);
  for (const model::Class* link : secrets) {
    const model::SecretsGrant& grant = *link->identity.secrets;
    LowerNames(lowering, link->name + ".identity.secrets", grant.span, slot::CreateSecrets,
               NamesOf(lowering.model, grant), "secret", block);
  }
  if (secrets.empty()) {
    LowerNames(lowering, of.name + ".identity.secrets", {}, slot::CreateSecrets, {}, "secret",
               block);
  }
  const auto env = WritersOf(lowering.model, of, model::Grant::Env);
  for (const model::Class* link : env) {
    const model::EnvGrant& grant = *link->identity.env;
    LowerNames(lowering, grant.id, grant.span, slot::CreateEnv, grant.names, "environment variable",
               block);
  }
  if (env.empty()) {
    LowerNames(lowering, of.name + ".identity.env", {}, slot::CreateEnv, {}, "environment variable",
               block);
  }
}

void NameIdentityGrants(Lowering& lowering, const model::Class& of, NodeId image_is_allowed,
                        ir::Group& images) {
  ir::Builder& b = lowering.builder;
  const auto name = [&](std::string_view id, source::Span span, NodeId is_wished) {
    images.entries.push_back({lowering.Allow(id, "", span), b.And(image_is_allowed, is_wished)});
  };
  for (const model::Class* link : WritersOf(lowering.model, of, model::Grant::Secrets)) {
    for (const model::SecretGrant& grant : link->identity.secrets->secrets) {
      name(grant.id, link->identity.secrets->span,
           b.Compare(NodeOp::In, b.TextTerm(At(lowering.model, grant.secret).name),
                     lowering.TextItems(slot::CreateSecrets)));
    }
  }
  for (const model::Class* link : WritersOf(lowering.model, of, model::Grant::Env)) {
    const model::EnvGrant& grant = *link->identity.env;
    if (grant.names.empty()) continue;
    name(grant.id, grant.span,
         b.Compare(NodeOp::Intersects, lowering.TextItems(slot::CreateEnv),
                   b.TextSetTerm(grant.names)));
  }
}

void LowerIdentityNeeds(Lowering& lowering, const model::Class& of, Block& block) {
  ir::Builder& b = lowering.builder;
  constexpr std::string_view kId = "builtin.unsupported";
  const auto cannot = [&](std::string_view word) {
    return b.Not(
        b.Compare(NodeOp::In, b.TextTerm(word), lowering.TextItems(slot::HostCapabilities)));
  };
  const auto some = [&](Slot wish) {
    return b.Compare(NodeOp::Greater, b.CountTerm(lowering.TextItems(wish)), b.IntegerTerm(0));
  };
  block.denials.push_back(
      {lowering.Deny(kId, "this host has nothing that keeps secrets and sends them (`secrets`)"),
       b.And(some(slot::CreateSecrets), cannot(module::capability::Secrets))});
  if (SomeAllow(lowering.model, of, [](const model::EgressRule& rule) { return rule.secret; })) {
    block.denials.push_back(
        {lowering.Deny(kId,
                       "`using` needs a gateway that sends secrets, which this host does not "
                       "have (`secrets`)"),
         cannot(module::capability::Secrets)});
  }
  block.denials.push_back(
      {lowering.Deny(kId, "this host has nothing that passes environment variables on (`env`)"),
       b.And(some(slot::CreateEnv), cannot(module::capability::Env))});
}

void PlanIdentity(const model::PolicyModel& model, const model::Class& of,
                  module::PlanTemplate& plan) {
  std::optional<std::vector<std::string>> secrets;
  std::optional<std::vector<std::string>> env;
  for (const model::Class* link : ChainOf(model, of)) {
    if (link->identity.secrets) Meet(secrets, NamesOf(model, *link->identity.secrets));
    if (link->identity.env) Meet(env, link->identity.env->names);
    for (const model::EgressRule& rule : link->network.rules) {
      if (rule.secret) plan.secret_uses.push_back({rule.id, At(model, *rule.secret).name});
    }
  }
  if (secrets) {
    for (const model::Secret& secret : model.secrets) {
      if (std::binary_search(secrets->begin(), secrets->end(), secret.name)) {
        plan.secrets.push_back(GrantOf(secret));
      }
    }
  }
  if (env) plan.env = *std::move(env);
}

}  // namespace curfew::lower
