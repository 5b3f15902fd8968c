#include "compiler/inspect/class_table.h"

#include "compiler/base/text.h"
#include "compiler/inspect/plan_text.h"
#include "compiler/values/quantity.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace curfew::inspect {
namespace {

using module::PlanTemplate;

constexpr std::array<std::string_view, 6> Planes = {"image",   "identity", "filesystem",
                                                    "network", "lifetime", "evidence"};
constexpr std::string_view NoPlane = "rules";
constexpr std::string_view TheSet = "set";

std::string CountText(std::int64_t count) { return std::to_string(count); }

// With every plane, in the language's order; what stays empty is not told.
ClassTable EmptyTable(std::string name) {
  ClassTable table{.name = std::move(name), .planes = {}};
  for (const std::string_view plane : Planes) {
    table.planes.push_back({.name = std::string(plane), .rows = {}});
  }
  table.planes.push_back({.name = std::string(NoPlane), .rows = {}});
  return table;
}

PlaneTable& PlaneOf(ClassTable& table, std::string_view plane) {
  const auto found = std::find_if(table.planes.begin(), table.planes.end(),
                                  [&](const PlaneTable& one) { return one.name == plane; });
  CURFEW_CHECK(found != table.planes.end(), "a table has every plane");
  return *found;
}

class ClassRows {
 public:
  explicit ClassRows(const PlanTemplate& plan) : table_(EmptyTable(plan.class_name)) {
    Image(plan);
    Identity(plan);
    Filesystem(plan);
    Network(plan);
    Lifetime(plan);
    Row("evidence", "record", RecordText(plan.evidence));
    if (!plan.evidence.redacted_headers.empty()) {
      Row("evidence", "redact",
          fmt::format("header {}", fmt::join(plan.evidence.redacted_headers, ", ")));
    }
    Row("evidence", "retain", values::DurationText(plan.evidence.retain_ms));
  }
  ClassTable table() && { return std::move(table_); }

 private:
  void Image(const PlanTemplate& plan) {
    for (const module::ImageGrant& image : plan.images) {
      Row("image", "allow", fmt::format("{} {}", image.name, ToString(image.digest)));
    }
    Row("image", "cpu", BoundText(plan.cpu, CountText));
    Row("image", "memory", BoundText(plan.memory_bytes, values::SizeText));
    Row("image", "disk",
        plan.disk_is_bounded ? BoundText(plan.disk_bytes, values::SizeText) : "none");
    Row("image", "isolation", plan.isolation == module::Isolation::Kvm ? "kvm" : "any");
  }
  void Identity(const PlanTemplate& plan) {
    Row("identity", "token",
        plan.token ? fmt::format("audience {}, lives {}", plan.token->audience,
                                 values::DurationText(plan.token->lives_ms))
                   : "none");
    for (const module::SecretGrant& secret : plan.secrets) Row("identity", "secrets", secret.name);
    if (!plan.env.empty()) Row("identity", "env", fmt::format("{}", fmt::join(plan.env, ", ")));
    Row("identity", "access",
        plan.access_any       ? "any"
        : plan.access.empty() ? "creator, owner and operators"
                              : fmt::format("{}", fmt::join(plan.access, ", ")));
  }
  void Network(const PlanTemplate& plan) {
    if (!plan.network) Row("network", "egress", "none");
    if (plan.network) Row("network", "tls", plan.inspects_tls ? "inspect" : "names");
    for (std::string& limit : LimitTexts(plan.limits)) Row("network", "limit", std::move(limit));
    for (const module::ExposeGrant& grant : plan.exposes) {
      Row("network", "expose",
          fmt::format("{}..{} to {} for {}", grant.first_port, grant.last_port, grant.to,
                      BoundText(grant.lasts_ms, values::DurationText)));
    }
  }
  void Filesystem(const PlanTemplate& plan) {
    for (const module::ScratchMount& mount : plan.scratch) {
      Row("filesystem", "scratch", mount.path + " " + values::SizeText(mount.bytes));
    }
    for (const module::Volume& volume : plan.volumes) {
      Row("filesystem", "persist", VolumeText(volume));
    }
    if (plan.volumes.empty()) Row("filesystem", "persist", "none");
    for (const module::SnapshotGrant& grant : plan.snapshots) {
      Row("filesystem", "snapshot", SnapshotText(grant));
    }
    if (plan.snapshots.empty()) Row("filesystem", "snapshot", "none");
    for (const module::TransferGrant& grant : plan.imports) {
      Row("filesystem", "import", TransferText(grant));
    }
    if (plan.imports.empty()) Row("filesystem", "import", "none");
    for (const module::TransferGrant& grant : plan.exports) {
      Row("filesystem", "export", TransferText(grant));
    }
    if (plan.exports.empty()) Row("filesystem", "export", "none");
  }
  void Lifetime(const PlanTemplate& plan) {
    Row("lifetime", "ttl", BoundText(plan.ttl_ms, values::DurationText));
    if (plan.idle_ms) {
      Row("lifetime", "idle",
          fmt::format("{} then {}", values::DurationText(*plan.idle_ms),
                      plan.idle_end == module::IdleEnd::Close ? "close" : "freeze"));
    }
    if (plan.frozen_ms) {
      Row("lifetime", "frozen", "at most " + values::DurationText(*plan.frozen_ms));
    }
    Row("lifetime", "renew",
        plan.renewal ? fmt::format("at most {} times by {}", plan.renewal->times,
                                   values::DurationText(plan.renewal->by_ms))
                     : "none");
    Row("lifetime", "grace", values::DurationText(plan.grace_ms));
  }
  void Row(std::string_view plane, std::string_view what, std::string value) {
    PlaneOf(table_, plane).rows.push_back({.what = std::string(what), .value = std::move(value)});
  }
  ClassTable table_;
};

// Where a rule's id puts it: `class.plane.label`, `class.label`, `set.label` (language.md 5.7).
struct RulePlace {
  std::string_view owner;
  std::string_view plane;
};
RulePlace PlaceOf(std::string_view id) {
  const std::size_t dot = std::min(id.find('.'), id.size());
  RulePlace place{.owner = id.substr(0, dot), .plane = NoPlane};
  std::string_view rest = id.substr(std::min(dot + 1, id.size()));
  rest = rest.substr(0, rest.find('.'));
  if (std::find(Planes.begin(), Planes.end(), rest) != Planes.end()) place.plane = rest;
  return place;
}

// What stays empty is not told.
void DropEmptyPlanes(ClassTable& table) {
  std::erase_if(table.planes, [](const PlaneTable& plane) { return plane.rows.empty(); });
}

void AddRules(const module::PolicyModule& policy, std::vector<ClassTable>& tables) {
  ClassTable of_set = EmptyTable(std::string(TheSet));
  std::set<std::string_view> told;  // an id may have several rows
  for (std::size_t i = 0; i < policy.rule_count(); ++i) {
    const module::RuleInfo rule = policy.rule(static_cast<module::RuleIndex>(i));
    if (rule.file.empty() || !told.insert(rule.id).second) continue;
    const RulePlace place = PlaceOf(rule.id);
    ClassTable* table = &of_set;
    for (ClassTable& one : tables) {
      if (one.name == place.owner) table = &one;
    }
    PlaneOf(*table, place.plane)
        .rows.push_back({.what = rule.never                             ? "never"
                                 : rule.effect == module::Effect::Allow ? "allow"
                                                                        : "deny",
                         .value = std::string(rule.message),
                         .id = std::string(rule.id),
                         .file = std::string(rule.file),
                         .line = rule.line});
  }
  tables.push_back(std::move(of_set));
  for (ClassTable& table : tables) DropEmptyPlanes(table);
  std::erase_if(tables, [](const ClassTable& table) { return table.planes.empty(); });
}

}  // namespace

ClassTable TableOf(const module::PlanTemplate& plan) {
  ClassTable table = ClassRows(plan).table();
  DropEmptyPlanes(table);
  return table;
}

std::vector<ClassTable> TablesOf(const module::PolicyModule& policy) {
  std::vector<ClassTable> tables;
  for (std::size_t i = 0; i < policy.class_count(); ++i) {
    tables.push_back(ClassRows(policy.plan(static_cast<module::ClassIndex>(i))).table());
  }
  AddRules(policy, tables);
  return tables;
}

std::string RenderText(const ClassTable& table) {
  std::string text =
      table.name == TheSet ? "rules of the set\n" : fmt::format("class {}\n", table.name);
  for (const PlaneTable& plane : table.planes) {
    text += fmt::format("  {}\n", plane.name);
    for (const PlaneRow& row : plane.rows) {
      if (row.id.empty()) {
        text += fmt::format("    {:<10} {}\n", row.what, Printable(row.value, 400));
        continue;
      }
      text +=
          fmt::format("    {:<10} {}  {}:{}\n", row.what, row.id, Printable(row.file), row.line);
      if (!row.value.empty()) text += fmt::format("    {:<10} {}\n", "", Printable(row.value, 400));
    }
  }
  return text;
}

}  // namespace curfew::inspect
