#include "compiler/prove/diff_sets.h"

#include "compiler/prove/one_way.h"

#include <algorithm>
#include <set>
#include <string>

namespace curfew::prove {
namespace {

using module::PlanTemplate;

// What two plans of a class say otherwise, in the words of the planes.
std::string PlanWords(const PlanTemplate& a, const PlanTemplate& b) {
  std::string words;
  const auto compare = [&](std::string_view word, const auto& one, const auto& other) {
    if (!(one == other)) words.append(words.empty() ? "" : ", ").append(word);
  };
  compare("images", a.images, b.images);
  compare("cpu", a.cpu, b.cpu);
  compare("memory", a.memory_bytes, b.memory_bytes);
  compare("disk", std::pair(a.disk_is_bounded, a.disk_bytes),
          std::pair(b.disk_is_bounded, b.disk_bytes));
  compare("isolation", a.isolation, b.isolation);
  compare("token", a.token, b.token);
  compare("secrets", std::pair(a.secrets, a.secret_uses), std::pair(b.secrets, b.secret_uses));
  compare("env", a.env, b.env);
  compare("access", std::pair(a.access_any, a.access), std::pair(b.access_any, b.access));
  compare("scratch", a.scratch, b.scratch);
  compare("persist", a.volumes, b.volumes);
  compare("snapshot", a.snapshots, b.snapshots);
  compare("import", a.imports, b.imports);
  compare("export", a.exports, b.exports);
  compare("network", std::tuple(a.network, a.inspects_tls, a.opens_websockets),
          std::tuple(b.network, b.inspects_tls, b.opens_websockets));
  compare("limit", a.limits, b.limits);
  compare("expose", a.exposes, b.exposes);
  compare("ttl", a.ttl_ms, b.ttl_ms);
  compare("idle", std::pair(a.idle_ms, a.idle_end), std::pair(b.idle_ms, b.idle_end));
  compare("frozen", a.frozen_ms, b.frozen_ms);
  compare("renew", a.renewal, b.renewal);
  compare("grace", a.grace_ms, b.grace_ms);
  compare("evidence", a.evidence, b.evidence);
  return words;
}

// The classes of either set by name, and "" for one that neither has.
std::set<std::string> ClassNames(const module::PolicyModule& one,
                                 const module::PolicyModule& other) {
  std::set<std::string> names{""};
  for (const module::PolicyModule* policy : {&one, &other}) {
    for (module::ClassIndex i = 0; i < policy->class_count(); ++i) {
      names.emplace(policy->class_name(i));
    }
  }
  return names;
}

Direction Ask(OneWay& way, const module::PolicyModule& allows, const std::string& class_name,
              std::uint64_t steps) {
  const auto of_class = allows.FindClass(class_name);
  // A class that the first set does not have allows next to nothing in it.
  if (!of_class && !class_name.empty()) return {};
  return way.Ask(of_class.value_or(module::NoClass), steps);
}

}  // namespace

SetDifference Diff(const interpret::Interpreter& before, const interpret::Interpreter& after,
                   Solver& solver, std::uint64_t steps) {
  SetDifference difference;
  const auto names = ClassNames(before.module(), after.module());
  for (const schema::ActionInfo& info : schema::Actions()) {
    OneWay tightens(info.action, before, after, solver);
    OneWay relaxes(info.action, after, before, solver);
    for (const std::string& name : names) {
      if (name.empty() && info.action == schema::Action::Create) continue;
      Difference one{info.action, name, Ask(tightens, before.module(), name, steps),
                     Ask(relaxes, after.module(), name, steps)};
      if (one.tightens.differs == Differs::No && one.relaxes.differs == Differs::No) continue;
      difference.actions.push_back(std::move(one));
    }
  }
  OneWay creates(schema::Action::Create, before, after, solver);
  for (module::ClassIndex i = 0; i < before.module().class_count(); ++i) {
    const std::string name(before.module().class_name(i));
    const auto other = after.module().FindClass(name);
    if (!other) continue;
    std::string words = PlanWords(before.module().plan(i), after.module().plan(*other));
    if (words.empty()) continue;
    difference.plans.push_back({name, std::move(words), creates.AllowedByBoth(i, *other, steps)});
  }
  return difference;
}

}  // namespace curfew::prove
