#include "compiler/model/chain.h"

#include "compiler/base/check.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace curfew::model {
namespace {

void MeetPlanes(Class& of, const Class& further) {
  Meet(of.image, further.image);
  Meet(of.identity, further.identity);
  Meet(of.filesystem, further.filesystem);
  Meet(of.network, further.network);
  Meet(of.lifetime, further.lifetime);
  Meet(of.evidence, further.evidence);
}

void AppendById(std::vector<EgressRule>& rules, std::vector<EgressRule> more) {
  rules.insert(rules.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  std::sort(rules.begin(), rules.end(),
            [](const EgressRule& a, const EgressRule& b) { return a.id < b.id; });
}

}  // namespace

std::vector<const Class*> ChainOf(const PolicyModel& model, const Class& of) {
  std::vector<const Class*> chain;
  if (model.floor) chain.push_back(&*model.floor);
  for (const ClassId id : of.chain) chain.push_back(&At(model, id));
  return chain;
}

bool Writes(const Class& of, Grant grant) {
  switch (grant) {
    case Grant::Image:
      return !of.image.allow.empty() || of.image.allow_none;
    case Grant::Exec:
      return of.image.exec.has_value();
    case Grant::Access:
      return of.identity.access.has_value();
    case Grant::Secrets:
      return of.identity.secrets.has_value();
    case Grant::Env:
      return of.identity.env.has_value();
    case Grant::Expose:
      return !of.network.exposes.empty() || of.network.expose_none;
    case Grant::Renew:
      return of.lifetime.renewal || of.lifetime.renew_none;
    case Grant::Scratch:
      return !of.filesystem.scratch.empty();
    case Grant::Persist:
      return !of.filesystem.persists.empty() || of.filesystem.persist_none;
    case Grant::Snapshot:
      return !of.filesystem.snapshots.empty() || of.filesystem.snapshot_none;
    case Grant::Import:
      return !of.filesystem.imports.empty() || of.filesystem.imports_none;
    case Grant::Export:
      return !of.filesystem.exports.empty() || of.filesystem.exports_none;
    case Grant::Egress:
      return of.network.allow_none || std::any_of(of.network.rules.begin(), of.network.rules.end(),
                                                  [](const EgressRule& rule) {
                                                    return rule.effect == EgressRule::Effect::Allow;
                                                  });
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::vector<const Class*> WritersOf(const PolicyModel& model, const Class& of, Grant grant) {
  std::vector<const Class*> writers = ChainOf(model, of);
  std::erase_if(writers, [grant](const Class* link) { return !Writes(*link, grant); });
  return writers;
}

void Meet(std::optional<Bound>& bound, const std::optional<Bound>& further) {
  if (!further) return;
  if (!bound) {
    bound = further;
    return;
  }
  auto standard = bound->value.standard;
  MeetShorter(standard, further->value.standard);
  if (further->value.most < bound->value.most) bound = further;
  if (standard && *standard > bound->value.most) standard = bound->value.most;
  bound->value.standard = standard;
}

void MeetShorter(std::optional<std::int64_t>& value, const std::optional<std::int64_t>& further) {
  if (further && (!value || *further < *value)) value = further;
}

void MeetLonger(std::optional<std::int64_t>& value, const std::optional<std::int64_t>& further) {
  if (further && (!value || *further > *value)) value = further;
}

void Meet(ImagePlane& plane, const ImagePlane& further) {
  Meet(plane.cpu, further.cpu);
  Meet(plane.memory, further.memory);
  Meet(plane.disk, further.disk);
  // `isolation kvm` wins.
  if (further.isolation && plane.isolation != module::Isolation::Kvm) {
    plane.isolation = further.isolation;
  }
}

void Meet(IdentityPlane& plane, const IdentityPlane& further) {
  // Of one audience: check sees to it.
  if (further.token &&
      (!plane.token || further.token->token.lives_ms < plane.token->token.lives_ms)) {
    plane.token = further.token;
  }
}

void Meet(FilesystemPlane& plane, const FilesystemPlane& further) {
  // Scratch space is allowed by path, and each path has its bound.
  if (further.scratch.empty()) return;
  std::vector<Scratch> both;
  for (const Scratch& scratch : further.scratch) {
    const auto base = std::find_if(plane.scratch.begin(), plane.scratch.end(),
                                   [&](const Scratch& one) { return one.path == scratch.path; });
    if (base == plane.scratch.end() && !plane.scratch.empty()) continue;
    const bool base_is_smaller = base != plane.scratch.end() && base->bytes < scratch.bytes;
    both.push_back(base_is_smaller ? *base : scratch);
  }
  plane.scratch = std::move(both);
}

void Meet(NetworkPlane& plane, const NetworkPlane& further) {
  // `tls inspect` wins.
  if (further.tls && plane.tls != Tls::Inspect) plane.tls = further.tls;
  // Two rates meet in one that is within both: the fewer requests, over the longer while.
  if (further.request_rate && !plane.request_rate) {
    plane.request_rate = further.request_rate;
  } else if (further.request_rate) {
    const std::int64_t per_ms = std::max(plane.request_rate->per_ms, further.request_rate->per_ms);
    if (further.request_rate->most < plane.request_rate->most) {
      plane.request_rate = further.request_rate;
    }
    plane.request_rate->per_ms = per_ms;
  }
  Meet(plane.request_bytes, further.request_bytes);
  Meet(plane.total_bytes, further.total_bytes);
}

void Meet(LifetimePlane& plane, const LifetimePlane& further) {
  Meet(plane.ttl, further.ttl);
  // The sooner one; of two at once `close` is the end.
  if (further.idle) {
    const bool sooner = !plane.idle || further.idle->after_ms < plane.idle->after_ms;
    const bool at_once = plane.idle && further.idle->after_ms == plane.idle->after_ms;
    if (sooner || (at_once && further.idle->then == module::IdleEnd::Close)) {
      plane.idle = further.idle;
    }
  }
  if (further.frozen && (!plane.frozen || further.frozen->most_ms < plane.frozen->most_ms)) {
    plane.frozen = further.frozen;
  }
  if (further.renewal && !plane.renewal) {
    plane.renewal = further.renewal;
  } else if (further.renewal) {
    module::Renewal& renewal = plane.renewal->renewal;
    renewal.times = std::min(renewal.times, further.renewal->renewal.times);
    renewal.by_ms = std::min(renewal.by_ms, further.renewal->renewal.by_ms);
  }
  plane.renew_none = plane.renew_none || further.renew_none;
  if (plane.renew_none) plane.renewal.reset();
  MeetShorter(plane.grace_ms, further.grace_ms);
}

void Meet(EvidencePlane& plane, const EvidencePlane& further) {
  // On record is what someone wants there.
  if (further.record) {
    if (plane.record) {
      plane.record->except_allows_of &= further.record->except_allows_of;
    } else {
      plane.record = further.record;
    }
  }
  std::vector<std::string> both;
  std::set_union(plane.redacted_headers.begin(), plane.redacted_headers.end(),
                 further.redacted_headers.begin(), further.redacted_headers.end(),
                 std::back_inserter(both));
  plane.redacted_headers = std::move(both);
  MeetLonger(plane.retain_ms, further.retain_ms);
}

Class BoundsOf(const PolicyModel& model, const Class& of) {
  Class bounds;
  bounds.name = of.name;
  bounds.chain = of.chain;
  bounds.span = of.span;
  for (const Class* link : ChainOf(model, of)) MeetPlanes(bounds, *link);
  return bounds;
}

void Unite(Class& floor, Class part) {
  MeetPlanes(floor, part);
  // A floor allows nothing, so what is written of an allow is its `none`.
  if (!floor.image.allow_none) floor.image.allow_none = part.image.allow_none;
  if (!floor.image.exec) floor.image.exec = std::move(part.image.exec);
  if (!floor.identity.secrets) floor.identity.secrets = std::move(part.identity.secrets);
  if (!floor.identity.env) floor.identity.env = std::move(part.identity.env);
  if (!floor.network.expose_none) floor.network.expose_none = part.network.expose_none;
  if (!floor.identity.access) floor.identity.access = std::move(part.identity.access);
  FilesystemPlane& files = floor.filesystem;
  if (!files.persist_none) files.persist_none = part.filesystem.persist_none;
  if (!files.snapshot_none) files.snapshot_none = part.filesystem.snapshot_none;
  if (!files.imports_none) files.imports_none = part.filesystem.imports_none;
  if (!files.exports_none) files.exports_none = part.filesystem.exports_none;
  if (!floor.network.allow_none) floor.network.allow_none = part.network.allow_none;
  AppendById(floor.network.rules, std::move(part.network.rules));
  AppendById(floor.network.trials, std::move(part.network.trials));
}

}  // namespace curfew::model
