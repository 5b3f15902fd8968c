#include "compiler/inspect/plan_changes.h"

#include "compiler/inspect/plan_text.h"
#include "compiler/values/quantity.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace curfew::inspect {
namespace {

using module::PlanTemplate;
using Values = std::vector<std::string>;

std::string CountText(std::int64_t count) { return std::to_string(count); }

std::string SecretText(const module::SecretGrant& secret) {
  std::string text =
      fmt::format("{} from {} {}", secret.name, secret.from_file ? "file" : "env", secret.source);
  switch (secret.form) {
    case module::SecretForm::Bearer:
      text += " as bearer";
      break;
    case module::SecretForm::Basic:
      text += " as basic";
      break;
    case module::SecretForm::Header:
      text += " as header " + secret.header;
      break;
  }
  for (const auto& host : secret.hosts) text += fmt::format(" to {}:{}", host.name, host.port);
  return text;
}

Values ImagesOf(const PlanTemplate& plan) {
  Values values;
  for (const module::ImageGrant& image : plan.images) {
    values.push_back(fmt::format("{}{}{} {}", image.name, image.ref.empty() ? "" : " ", image.ref,
                                 ToString(image.digest)));
  }
  return values;
}

Values SecretsOf(const PlanTemplate& plan) {
  Values values;
  for (const module::SecretGrant& secret : plan.secrets) values.push_back(SecretText(secret));
  for (const module::SecretUse& use : plan.secret_uses) {
    values.push_back(fmt::format("{} using {}", use.rule, use.secret));
  }
  return values;
}

Values AccessOf(const PlanTemplate& plan) { return plan.access_any ? Values{"any"} : plan.access; }

Values VolumesOf(const PlanTemplate& plan) {
  Values values;
  for (const module::Volume& volume : plan.volumes) {
    values.push_back(fmt::format("{}, because \"{}\"", VolumeText(volume), volume.reason));
  }
  return values;
}

Values SnapshotsOf(const PlanTemplate& plan) {
  Values values;
  for (const module::SnapshotGrant& grant : plan.snapshots) {
    std::string text = SnapshotText(grant);
    if (grant.expires_ms.standard) {
      text += fmt::format(", {} where nothing is said",
                          values::DurationText(*grant.expires_ms.standard));
    }
    if (!grant.from.empty()) text += fmt::format(", from {}", fmt::join(grant.from, ", "));
    values.push_back(std::move(text));
  }
  return values;
}

Values NetworkOf(const PlanTemplate& plan) {
  if (!plan.network) return {};
  return {fmt::format("{}{}", plan.inspects_tls ? "tls inspect" : "tls names",
                      plan.opens_websockets ? ", websocket" : "")};
}

Values ExposesOf(const PlanTemplate& plan) {
  Values values;
  for (const module::ExposeGrant& grant : plan.exposes) {
    values.push_back(fmt::format("{}..{} to {} for {}", grant.first_port, grant.last_port, grant.to,
                                 BoundText(grant.lasts_ms, values::DurationText)));
  }
  return values;
}

template <typename Item>
Values TextsOf(const std::vector<Item>& items, std::string (*text)(const Item&)) {
  Values values;
  for (const Item& item : items) values.push_back(text(item));
  return values;
}

std::string ScratchText(const module::ScratchMount& mount) {
  return mount.path + " " + values::SizeText(mount.bytes);
}

Values TokenOf(const PlanTemplate& plan) {
  if (!plan.token) return {};
  return {fmt::format("audience {}, lives {}", plan.token->audience,
                      values::DurationText(plan.token->lives_ms))};
}

Values IdleOf(const PlanTemplate& plan) {
  if (!plan.idle_ms) return {};
  return {fmt::format("{} then {}", values::DurationText(*plan.idle_ms),
                      plan.idle_end == module::IdleEnd::Close ? "close" : "freeze")};
}

Values RenewOf(const PlanTemplate& plan) {
  if (!plan.renewal) return {};
  return {fmt::format("at most {} times by {}", plan.renewal->times,
                      values::DurationText(plan.renewal->by_ms))};
}

struct Told {
  std::string_view what;
  Values values;
};

std::vector<Told> AllOf(const PlanTemplate& plan) {
  const auto bound = [](const module::Bound& of, std::string (*text)(std::int64_t)) {
    return Values{BoundText(of, text)};
  };
  return {
      {"image", ImagesOf(plan)},
      {"cpu", bound(plan.cpu, CountText)},
      {"memory", bound(plan.memory_bytes, values::SizeText)},
      {"disk", plan.disk_is_bounded ? bound(plan.disk_bytes, values::SizeText) : Values{}},
      {"isolation", {plan.isolation == module::Isolation::Kvm ? "kvm" : "any"}},
      {"token", TokenOf(plan)},
      {"secrets", SecretsOf(plan)},
      {"env", plan.env},
      {"access", AccessOf(plan)},
      {"scratch", TextsOf(plan.scratch, ScratchText)},
      {"persist", VolumesOf(plan)},
      {"snapshot", SnapshotsOf(plan)},
      {"import", TextsOf(plan.imports, TransferText)},
      {"export", TextsOf(plan.exports, TransferText)},
      {"network", NetworkOf(plan)},
      {"limit", LimitTexts(plan.limits)},
      {"expose", ExposesOf(plan)},
      {"ttl", bound(plan.ttl_ms, values::DurationText)},
      {"idle", IdleOf(plan)},
      {"frozen",
       plan.frozen_ms ? Values{"at most " + values::DurationText(*plan.frozen_ms)} : Values{}},
      {"renew", RenewOf(plan)},
      {"grace", {values::DurationText(plan.grace_ms)}},
      {"record", {RecordText(plan.evidence)}},
      {"redact", plan.evidence.redacted_headers},
      {"retain", {values::DurationText(plan.evidence.retain_ms)}},
  };
}

// What is in `values` and not in `others`.
std::string Left(const Values& values, const Values& others) {
  Values left;
  for (const std::string& value : values) {
    if (std::ranges::find(others, value) == others.end()) left.push_back(value);
  }
  return left.empty() ? "none" : fmt::format("{}", fmt::join(left, "; "));
}

}  // namespace

std::vector<PlanChange> ChangesBetween(const PlanTemplate& before, const PlanTemplate& after) {
  const std::vector<Told> old = AllOf(before);
  const std::vector<Told> now = AllOf(after);
  std::vector<PlanChange> changes;
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (old[i].values == now[i].values) continue;
    changes.push_back({std::string(old[i].what), Left(old[i].values, now[i].values),
                       Left(now[i].values, old[i].values)});
  }
  return changes;
}

}  // namespace curfew::inspect
