// The plane `identity`, read naively.
#include "tests/properties/naive_decision.h"

namespace curfew::properties {

// Whether the first of the links that speak of images grants the one that is asked for.
bool NaiveDecision::ImageFits(const model::Class& of) const {
  const Fact image = Text(slot::CreateImage);
  for (const model::Class* link : Links(of)) {
    if (link->image.allow.empty() && !link->image.allow_none) continue;
    return image && std::any_of(link->image.allow.begin(), link->image.allow.end(),
                                [&](const model::ImageGrant& grant) {
                                  return image->text == AsText(At(m_, grant.image).digest.bytes);
                                });
  }
  return false;
}

// What of these names is wished for and granted, where the image is too, is among the allows.
void NaiveDecision::NameGrant(const std::string& id, bool image_fits, Slot wish,
                              const std::vector<std::string>& granted) {
  const Fact wished = Texts(wish);
  if (!image_fits || !wished) return;
  for (const Thing& one : wished->items) {
    if (std::find(granted.begin(), granted.end(), one.text) != granted.end()) {
      answer_.allows.insert(id);
    }
  }
}

// Wishes that a class does not grant by name, and what a host must have for those that it does.
void NaiveDecision::IdentityWishes(const model::Class& of) {
  const auto beyond = [&](Slot wish, const std::vector<std::string>& granted) {
    const Fact wished = Texts(wish);
    if (!wished) return Truth();
    return Truth(std::any_of(wished->items.begin(), wished->items.end(), [&](const Thing& one) {
      return std::find(granted.begin(), granted.end(), one.text) == granted.end();
    }));
  };
  const auto some = [&](Slot wish) {
    const Fact wished = Texts(wish);
    return wished ? Truth(!wished->items.empty()) : Truth();
  };
  const bool image_fits = ImageFits(of);
  bool writes_secrets = false;
  bool writes_env = false;
  for (const model::Class* link : Links(of)) {
    if (const auto& grant = link->identity.secrets) {
      std::vector<std::string> names;
      for (const auto& one : grant->secrets) {
        names.push_back(At(m_, one.secret).name);
        NameGrant(link->name + ".identity.secrets." + names.back(), image_fits, slot::CreateSecrets,
                  {names.back()});
      }
      Deny(link->name + ".identity.secrets", beyond(slot::CreateSecrets, names));
      writes_secrets = true;
    }
    if (const auto& grant = link->identity.env) {
      Deny(link->name + ".identity.env", beyond(slot::CreateEnv, grant->names));
      NameGrant(link->name + ".identity.env", image_fits, slot::CreateEnv, grant->names);
      writes_env = true;
    }
  }
  if (!writes_secrets) Deny(of.name + ".identity.secrets", beyond(slot::CreateSecrets, {}));
  if (!writes_env) Deny(of.name + ".identity.env", beyond(slot::CreateEnv, {}));
  Deny("builtin.unsupported", All({some(slot::CreateSecrets), HostCannot("secrets")}));
  Deny("builtin.unsupported", All({some(slot::CreateEnv), HostCannot("env")}));
}

}  // namespace curfew::properties
