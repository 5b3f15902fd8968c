#include "compiler/check/chain.h"

#include "compiler/base/limits.h"
#include "compiler/check/grant_meeting.h"
#include "compiler/check/network_reach.h"
#include "compiler/model/chain.h"
#include "compiler/values/quantity.h"

#include <algorithm>

namespace curfew::check {
namespace {

using model::ClassId;
using model::Grant;

std::vector<std::string_view> ClassNames(const Names& names) {
  std::vector<std::string_view> all;
  for (const auto& [name, id] : names.classes) all.push_back(name);
  return all;
}

// Holds what a class writes of one kind against each of the links above it that write the kind.
class GrantsAgainstBase {
 public:
  GrantsAgainstBase(Context& context, const model::Class& of) : context_(context), of_(of) {}

  template <typename Meets>
  void Each(Grant grant, const std::string& what, Span span, Meets&& meets) {
    const auto [place, is_new] = bases_.try_emplace(grant);
    if (is_new) {
      place->second = WritersOf(context_.model, of_, grant);
      std::erase(place->second, &of_);
    }
    for (const model::Class* base : place->second) {
      if (meets(*base)) continue;
      auto draft = context_.sink.Report(span, diag::MeetsNothing, what, base->name);
      if (!base->span.is_nowhere()) draft.Note(base->span, diag::DeclaredHere, base->name);
      return;
    }
  }

 private:
  Context& context_;
  const model::Class& of_;
  std::map<Grant, std::vector<const model::Class*>> bases_;  // that write the kind, without itself
};

template <typename Items, typename Meets>
bool Some(const Items& items, Meets&& meets) {
  return std::any_of(items.begin(), items.end(), meets);
}

bool ExecMeets(const model::ExecGrant& a, const model::ExecGrant& b, const GlobIndex& of_b) {
  using Reach = model::ExecGrant::Reach;
  if (a.reach == Reach::None || b.reach == Reach::None) return false;
  if (a.reach == Reach::Any || b.reach == Reach::Any) return true;
  return of_b.Meets(a.patterns);
}

// Who may own a task is not known.
bool AudiencesMeet(const model::Audience& a, const model::Audience& b) {
  using Kind = model::Audience::Kind;
  return a.kind != Kind::Principal || b.kind != Kind::Principal || a.principal == b.principal;
}

// Whether some caller is in both: every caller has one id and any number of groups.
bool AccessMeets(const model::AccessGrant& a, const model::AccessGrant& b) {
  const auto grants_some = [](const model::AccessGrant& access) {
    return access.any || !access.principals.empty();
  };
  if (!grants_some(a) || !grants_some(b)) return false;
  if (a.any || b.any) return true;
  return Some(a.principals, [&](const std::string& one) {
    return Some(b.principals, [&](const std::string& other) {
      return one == other || one.starts_with("group:") || other.starts_with("group:");
    });
  });
}

bool TokenOutlivesTtl(const model::Class& bounds) {
  const auto& token = bounds.identity.token;
  const auto& ttl = bounds.lifetime.ttl;
  return token && ttl && token->token.lives_ms > ttl->value.most;
}

}  // namespace

Chains::Chains(Context& context) : context_(context) {
  if (!context.names.floors.empty()) {
    context.model.floor.emplace();
    context.model.floor->name = "sandbox";
    context.model.floor->span = context.names.floors.front()->name.span;
  }
  for (std::size_t i = 0; i < context.model.classes.size(); ++i) {
    const ClassId id{static_cast<std::uint32_t>(i)};
    const auto& narrows = context.names.class_declarations[i]->narrows;
    if (!narrows || context.names.classes.contains(narrows->text)) continue;
    broken_.insert(id);
    if (!context.partial)
      ReportUnknown(context, "class", *narrows, [&] { return ClassNames(context.names); });
  }
  Resolve();
}

const syntax::Name& Chains::NarrowsOf(ClassId id) const {
  return *context_.names.class_declarations[static_cast<std::size_t>(id)]->narrows;
}

std::optional<ClassId> Chains::BaseOf(ClassId id) const {
  const auto& narrows = context_.names.class_declarations[static_cast<std::size_t>(id)]->narrows;
  if (!narrows) return std::nullopt;
  const auto found = context_.names.classes.find(narrows->text);
  return found == context_.names.classes.end() ? std::nullopt : std::optional(found->second);
}

// How many links each chain has, in one walk over all; 0 for one that is broken.
std::vector<std::size_t> Chains::CountLinks() {
  constexpr std::size_t kUnseen = ~std::size_t{0};
  constexpr std::size_t kOnPath = kUnseen - 1;
  std::vector<std::size_t> links(context_.model.classes.size(), kUnseen);
  const auto of = [&](ClassId id) -> std::size_t& { return links[static_cast<std::size_t>(id)]; };
  for (std::size_t i = 0; i < links.size(); ++i) {
    std::vector<ClassId> path;
    std::optional<ClassId> at = ClassId{static_cast<std::uint32_t>(i)};
    while (at && of(*at) == kUnseen) {
      of(*at) = kOnPath;
      path.push_back(*at);
      at = BaseOf(*at);
    }
    const bool cycle = at && of(*at) == kOnPath;
    if (cycle) ReportCycle(std::span(std::find(path.begin(), path.end(), *at), path.end()));
    bool broken = cycle || (!at && broken_.contains(path.back())) || (at && of(*at) == 0);
    std::size_t count = at && !broken ? of(*at) : 0;
    for (auto link = path.rbegin(); link != path.rend(); ++link) of(*link) = broken ? 0 : ++count;
  }
  return links;
}

// Said once, of the first of them by name.
void Chains::ReportCycle(std::span<const ClassId> cycle) {
  const ClassId first = *std::min_element(cycle.begin(), cycle.end());
  const syntax::Name& narrows = NarrowsOf(first);
  context_.sink.Report(narrows.span, diag::NarrowsItself, At(context_.model, first).name,
                       narrows.text);
}

void Chains::Resolve() {
  const std::vector<std::size_t> links = CountLinks();
  for (std::size_t i = 0; i < links.size(); ++i) {
    const ClassId id{static_cast<std::uint32_t>(i)};
    if (links[i] == 0 || links[i] > limits::ChainLinksMax) {
      broken_.insert(id);
      // What is below it is too long as well.
      if (links[i] != limits::ChainLinksMax + 1) continue;
      context_.sink.Report(NarrowsOf(id).span, diag::ChainTooLong,
                           static_cast<std::int64_t>(limits::ChainLinksMax));
      continue;
    }
    std::vector<ClassId> chain{id};
    while (const auto base = BaseOf(chain.back())) chain.push_back(*base);
    std::reverse(chain.begin(), chain.end());
    context_.model.classes[i].chain = std::move(chain);
  }
}

void Chains::NoteStated(ClassId of, bool image, bool ttl) {
  Stated& stated = stated_[of];
  stated.image = stated.image || image;
  stated.ttl = stated.ttl || ttl;
}

// What a class that narrows nothing has, everything below it has.
void Chains::CheckObligations(ClassId id) {
  const model::Class& of = At(context_.model, id);
  const Stated floor = stated_[model::FloorId];
  const Stated own = stated_[id];
  if (!own.image && !floor.image) {
    context_.sink.Report(of.span, diag::MissingStatement, of.name, "image { allow … }");
  }
  if (!own.ttl && !floor.ttl) {
    context_.sink.Report(of.span, diag::MissingStatement, of.name, "lifetime { ttl … }");
  }
}

void Chains::Check() {
  ClassIndexes indexes(context_.model);
  for (std::size_t i = 0; i < context_.model.classes.size(); ++i) {
    const ClassId id{static_cast<std::uint32_t>(i)};
    if (broken_.contains(id)) continue;
    const model::Class& of = At(context_.model, id);
    if (of.chain.size() == 1 && !context_.partial) CheckObligations(id);
    CheckGrantsMeet(context_, of, indexes);
    CheckToken(context_, of);
    CheckStreams(context_, of, indexes);
    CheckNetworkReach(context_, of, indexes);
  }
}

void CheckGrantsMeet(Context& context, const model::Class& of, ClassIndexes& indexes) {
  if (of.chain.size() == 1 && !context.model.floor) return;
  GrantsAgainstBase against(context, of);
  for (const model::ImageGrant& grant : of.image.allow) {
    const Digest& digest = At(context.model, grant.image).digest;
    against.Each(
        Grant::Image, "allow " + At(context.model, grant.image).name, grant.span,
        [&](const model::Class& base) { return indexes.Of(base).images.contains(digest); });
  }
  if (of.image.exec && of.image.exec->reach != model::ExecGrant::Reach::None) {
    against.Each(Grant::Exec, "exec", of.image.exec->span, [&](const model::Class& base) {
      return ExecMeets(*of.image.exec, *base.image.exec, indexes.Of(base).exec);
    });
  }
  if (const auto& own = of.identity.access; own && (own->any || !own->principals.empty())) {
    against.Each(Grant::Access, "access", own->span, [&](const model::Class& base) {
      return AccessMeets(*own, *base.identity.access);
    });
  }
  if (const auto& own = of.identity.secrets) {
    for (const model::SecretGrant& grant : own->secrets) {
      against.Each(Grant::Secrets, "secrets " + At(context.model, grant.secret).name, own->span,
                   [&](const model::Class& base) {
                     return indexes.Of(base).secrets.contains(grant.secret);
                   });
    }
  }
  if (const auto& own = of.identity.env) {
    for (const std::string& name : own->names) {
      against.Each(Grant::Env, "env \"" + name + "\"", own->span, [&](const model::Class& base) {
        return indexes.Of(base).variables.contains(name);
      });
    }
  }
  for (const model::ExposeRule& rule : of.network.exposes) {
    against.Each(Grant::Expose, "expose", rule.span, [&](const model::Class& base) {
      return Some(base.network.exposes, [&](const model::ExposeRule& one) {
        return PortsMeet({one.ports}, {rule.ports}) && AudiencesMeet(one.to, rule.to);
      });
    });
  }
  if (of.lifetime.renewal) {
    against.Each(Grant::Renew, "renew", of.lifetime.renewal->span,
                 [](const model::Class& base) { return base.lifetime.renewal.has_value(); });
  }
  for (const model::Scratch& scratch : of.filesystem.scratch) {
    against.Each(Grant::Scratch, "scratch", scratch.span, [&](const model::Class& base) {
      return Some(base.filesystem.scratch,
                  [&](const model::Scratch& one) { return one.path == scratch.path; });
    });
  }
  for (const model::Persist& persist : of.filesystem.persists) {
    against.Each(Grant::Persist, "persist", persist.span, [&](const model::Class& base) {
      return Some(base.filesystem.persists, [&](const model::Persist& one) {
        return one.volume.name == persist.volume.name;
      });
    });
  }
  for (const model::SnapshotRule& rule : of.filesystem.snapshots) {
    against.Each(Grant::Snapshot, "snapshot", rule.span, [&](const model::Class& base) {
      return Some(base.filesystem.snapshots,
                  [&](const model::SnapshotRule& one) { return one.kind == rule.kind; });
    });
  }
  for (const model::TransferRule& rule : of.filesystem.imports) {
    against.Each(Grant::Import, "import", rule.span, [&](const model::Class& base) {
      return indexes.Of(base).imports.Meets(rule.patterns);
    });
  }
  for (const model::TransferRule& rule : of.filesystem.exports) {
    against.Each(Grant::Export, "export", rule.span, [&](const model::Class& base) {
      return indexes.Of(base).exports.Meets(rule.patterns);
    });
  }
  for (const model::EgressRule& rule : of.network.rules) {
    if (rule.effect != model::EgressRule::Effect::Allow) continue;
    against.Each(Grant::Egress, "allow", rule.span, [&](const model::Class& base) {
      const RuleIndex& rules = indexes.Of(base).rules;
      return Some(rule.targets, [&](const model::EgressTarget& target) {
        return rules.Any(target, [&](const model::EgressRule& one) {
          return one.effect == model::EgressRule::Effect::Allow && RulesMeet(one, rule);
        });
      });
    });
  }
}

void CheckToken(Context& context, const model::Class& of) {
  const auto chain = ChainOf(context.model, of);
  const model::TokenGrant* token = nullptr;
  const model::Class* base = nullptr;
  for (const model::Class* link : chain) {
    const auto& own = link->identity.token;
    if (!own) continue;
    const bool of_other = token != nullptr && token->token.audience != own->token.audience;
    if (of_other && link == &of) {
      context.sink.Report(own->span, diag::MeetsNothing, "token", base->name)
          .Note(token->span, diag::DeclaredHere, "token");
    }
    if (of_other) return;
    token = &*own;
    base = link;
  }
  const model::Class bounds = BoundsOf(context.model, of);
  if (!TokenOutlivesTtl(bounds)) return;
  const auto& effective = bounds.identity.token;
  const auto& ttl = bounds.lifetime.ttl;
  if (of.chain.size() > 1) {
    // Where neither is of this class, it was said above; so it was where the token is too long
    // there already.
    if (!of.identity.token && !of.lifetime.ttl) return;
    const model::Class above = BoundsOf(context.model, At(context.model, *(of.chain.end() - 2)));
    if (TokenOutlivesTtl(above) && above.identity.token->span == effective->span) return;
  }
  context.sink
      .Report(effective->span, diag::TokenOutlivesTtl,
              values::DurationText(effective->token.lives_ms),
              values::DurationText(ttl->value.most))
      .Note(ttl->span, diag::DeclaredHere, "ttl");
}

}  // namespace curfew::check
