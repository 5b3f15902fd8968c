#include "compiler/module/create_plan.h"

#include <algorithm>

namespace curfew::module {
namespace {

namespace slot = schema::slot;

// The wish, or the bound's default; nothing where there is neither.
std::optional<std::int64_t> Effective(const Bound& bound, const Request& create,
                                      schema::Slot wish) {
  if (create.is_present(wish)) return create.value(wish).integer;
  return bound.standard;
}

bool WishesKvm(const Request& create) {
  if (!create.is_present(slot::CreateIsolation)) return false;
  const auto ordinal = static_cast<std::size_t>(create.value(slot::CreateIsolation).integer);
  return schema::InfoOf(schema::Enum::WishedIsolation).values[ordinal] == "kvm";
}

std::vector<std::string> Wished(const Request& create, schema::Slot wish) {
  std::vector<std::string> names;
  if (!create.is_present(wish)) return names;
  for (const Value& name : create.value(wish).elements()) names.emplace_back(name.text());
  return names;
}

}  // namespace

std::optional<CreatePlan> PlanOf(const PlanTemplate& granted, const Request& create) {
  if (create.action() != schema::Action::Create || !create.is_present(slot::CreateImage)) {
    return std::nullopt;
  }
  const std::string_view digest = create.value(slot::CreateImage).text();
  const auto image = std::find_if(
      granted.images.begin(), granted.images.end(),
      [digest](const ImageGrant& grant) { return AsText(grant.digest.bytes) == digest; });
  const auto cpu = Effective(granted.cpu, create, slot::CreateCpu);
  const auto memory = Effective(granted.memory_bytes, create, slot::CreateMemory);
  const auto ttl = Effective(granted.ttl_ms, create, slot::CreateTtl);
  if (image == granted.images.end() || !cpu || !memory || !ttl) return std::nullopt;

  CreatePlan plan;
  plan.image = *image;
  plan.cpu = *cpu;
  plan.memory_bytes = *memory;
  if (granted.disk_is_bounded) {
    plan.disk_bytes = Effective(granted.disk_bytes, create, slot::CreateDisk);
  }
  plan.ttl_ms = *ttl;
  plan.isolation = WishesKvm(create) ? Isolation::Kvm : granted.isolation;
  if (create.is_present(slot::CreatePersist)) {
    for (const Value& name : create.value(slot::CreatePersist).elements()) {
      const auto volume = std::find_if(granted.volumes.begin(), granted.volumes.end(),
                                       [&](const Volume& one) { return one.name == name.text(); });
      if (volume == granted.volumes.end()) return std::nullopt;
      plan.volumes.push_back(*volume);
    }
  }
  plan.secrets = Wished(create, slot::CreateSecrets);
  plan.env = Wished(create, slot::CreateEnv);
  if (granted.token) plan.token_ms = std::min(granted.token->lives_ms, plan.ttl_ms);
  return plan;
}

}  // namespace curfew::module
