#include "compiler/tool/answer.h"

#include "compiler/base/text.h"
#include "compiler/base/verb.h"
#include "compiler/inspect/plan_text.h"
#include "compiler/values/quantity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace curfew::tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kRequestInvalid = "request.invalid";
constexpr std::size_t kMessageBytesMax = 400;

std::vector<Reason> ReasonsOf(const module::RuleList& list, const module::PolicyModule& policy) {
  std::vector<Reason> reasons;
  for (const module::RuleIndex index : list.written()) {
    const module::RuleInfo rule = policy.rule(index);
    reasons.push_back({std::string(rule.id), std::string(rule.message), std::string(rule.file),
                       rule.line, rule.column});
  }
  return reasons;
}

std::string PathOf(const module::PolicyModule& policy, schema::Action action, schema::Slot slot) {
  const auto attributes = schema::AttributesOf(action);
  if (slot < attributes.size()) return std::string(attributes[slot].path);
  return policy.declared()[slot - attributes.size()].path;
}

std::string_view WordOf(Answer::Decision decision) {
  switch (decision) {
    case Answer::Decision::Allow:
      return "allow";
    case Answer::Decision::Deny:
      return "deny";
    case Answer::Decision::Undecided:
      return "undecided";
  }
  CURFEW_UNREACHABLE("the switch names every decision");
}

std::string_view WordOf(module::Isolation isolation) {
  return isolation == module::Isolation::Kvm ? "kvm" : "any";
}

std::string_view WordOf(module::IdleEnd end) {
  return end == module::IdleEnd::Close ? "close" : "freeze";
}

void AppendReasons(std::string& text, std::string_view heading,
                   const std::vector<Reason>& reasons) {
  if (reasons.empty()) return;
  if (!heading.empty()) text += fmt::format("{}\n", heading);
  for (const Reason& reason : reasons) {
    text += fmt::format("  {}", Printable(reason.id));
    if (!reason.file.empty()) {
      text += fmt::format("  {}:{}:{}", Printable(reason.file, kMessageBytesMax), reason.line,
                          reason.column);
    }
    text += '\n';
    if (!reason.message.empty()) {
      text += fmt::format("    {}\n", Printable(reason.message, kMessageBytesMax));
    }
  }
}

// The plan as rows of a name and a value, the same for text and JSON.
std::vector<std::pair<std::string, std::string>> PlanRows(const module::PlanTemplate& granted,
                                                          const module::CreatePlan& plan) {
  std::vector<std::pair<std::string, std::string>> rows = {
      {"image", plan.image.name},
      {"digest", ToString(plan.image.digest)},
      {"cpu", std::to_string(plan.cpu)},
      {"memory", values::SizeText(plan.memory_bytes)}};
  if (plan.disk_bytes) rows.emplace_back("disk", values::SizeText(*plan.disk_bytes));
  rows.emplace_back("isolation", WordOf(plan.isolation));
  rows.emplace_back("ttl", values::DurationText(plan.ttl_ms));
  rows.emplace_back("grace", values::DurationText(granted.grace_ms));
  if (granted.idle_ms) {
    rows.emplace_back("idle", fmt::format("{} then {}", values::DurationText(*granted.idle_ms),
                                          WordOf(granted.idle_end)));
  }
  if (granted.frozen_ms) {
    rows.emplace_back("frozen", "at most " + values::DurationText(*granted.frozen_ms));
  }
  if (granted.renewal) {
    rows.emplace_back("renew", fmt::format("at most {} times by {}", granted.renewal->times,
                                           values::DurationText(granted.renewal->by_ms)));
  }
  return rows;
}

void AppendPlan(std::string& text, const module::PlanTemplate& granted,
                const module::CreatePlan& plan) {
  text += "plan\n";
  const auto row = [&text](std::string_view name, std::string_view value) {
    text += fmt::format("  {:<10} {}\n", name, Printable(value, kMessageBytesMax));
  };
  for (const auto& [name, value] : PlanRows(granted, plan)) row(name, value);
  if (granted.token && plan.token_ms) {
    row("token", fmt::format("audience {}, lives {}", granted.token->audience,
                             values::DurationText(*plan.token_ms)));
  }
  if (!plan.secrets.empty()) row("secrets", fmt::format("{}", fmt::join(plan.secrets, ", ")));
  if (!plan.env.empty()) row("env", fmt::format("{}", fmt::join(plan.env, ", ")));
  if (granted.access_any) row("access", "any");
  if (!granted.access.empty()) row("access", fmt::format("{}", fmt::join(granted.access, ", ")));
  for (const module::ScratchMount& mount : granted.scratch) {
    row("scratch", fmt::format("{} {}", mount.path, values::SizeText(mount.bytes)));
  }
  for (const module::Volume& volume : plan.volumes) row("persist", inspect::VolumeText(volume));
  for (const module::SnapshotGrant& grant : granted.snapshots)
    row("snapshot", inspect::SnapshotText(grant));
  for (const module::TransferGrant& grant : granted.imports)
    row("import", inspect::TransferText(grant));
  for (const module::TransferGrant& grant : granted.exports)
    row("export", inspect::TransferText(grant));
  row("network", granted.network ? "through the gateway" : "none");
  if (granted.network) {
    row("tls", granted.inspects_tls ? "inspect" : "names");
    for (const std::string& limit : inspect::LimitTexts(granted.limits)) row("limit", limit);
  }
  for (const module::ExposeGrant& grant : granted.exposes) {
    row("expose", fmt::format("{}..{} to {} for at most {}", grant.first_port, grant.last_port,
                              grant.to, values::DurationText(grant.lasts_ms.most)));
  }
  row("record", inspect::RecordText(granted.evidence));
  if (!granted.evidence.redacted_headers.empty()) {
    row("redact", fmt::format("header {}", fmt::join(granted.evidence.redacted_headers, ", ")));
  }
  row("retain", values::DurationText(granted.evidence.retain_ms));
}

Json JsonOf(const std::vector<Reason>& reasons) {
  Json array = Json::array();
  for (const Reason& reason : reasons) {
    Json one = {{"id", reason.id}};
    if (!reason.message.empty()) one["message"] = reason.message;
    if (!reason.file.empty()) {
      one["file"] = reason.file;
      one["line"] = reason.line;
      one["column"] = reason.column;
    }
    array.push_back(std::move(one));
  }
  return array;
}

Json JsonOf(const module::Volume& volume) {
  return {{"name", volume.name},
          {"path", volume.path},
          {"size", values::SizeText(volume.bytes)},
          {"reason", volume.reason},
          {"owner", volume.owner},
          {"expires", values::DurationText(volume.expires_ms)},
          {"shared_by_class", volume.shared_by_class}};
}

Json JsonOf(const module::SnapshotGrant& grant) {
  Json json = {{"kind", inspect::WordOf(grant.kind)}};
  if (grant.expires_ms.standard) {
    json["expires"] = values::DurationText(*grant.expires_ms.standard);
  }
  json["expires_at_most"] = values::DurationText(grant.expires_ms.most);
  if (grant.bytes_most) json["size_at_most"] = values::SizeText(*grant.bytes_most);
  if (grant.keep_most) json["keep"] = *grant.keep_most;
  json["branches_at_most"] = grant.branches_most;
  json["renews"] = grant.renews;
  json["from"] = grant.from;
  return json;
}

Json JsonOf(const std::vector<module::TransferGrant>& grants) {
  Json array = Json::array();
  for (const module::TransferGrant& grant : grants) {
    array.push_back({{"patterns", grant.patterns},
                     {"each", grant.each},
                     {"at_most", values::SizeText(grant.bytes_most)}});
  }
  return array;
}

Json JsonOf(const module::PlanTemplate& granted, const module::CreatePlan& plan) {
  Json json = {{"class", granted.class_name}};
  for (const auto& [name, value] : PlanRows(granted, plan)) json[name] = value;
  json["cpu"] = plan.cpu;
  if (granted.idle_ms) {
    json["idle"] = {{"after", values::DurationText(*granted.idle_ms)},
                    {"then", WordOf(granted.idle_end)}};
  }
  if (granted.frozen_ms) json["frozen"] = {{"at_most", values::DurationText(*granted.frozen_ms)}};
  if (granted.renewal) {
    json["renew"] = {{"times_at_most", granted.renewal->times},
                     {"by", values::DurationText(granted.renewal->by_ms)}};
  }
  if (granted.token && plan.token_ms) {
    json["token"] = {{"audience", granted.token->audience},
                     {"lives", values::DurationText(*plan.token_ms)}};
  }
  json["secrets"] = plan.secrets;
  json["env"] = plan.env;
  if (granted.access_any) json["access_any"] = true;
  json["access"] = granted.access;
  json["scratch"] = Json::array();
  for (const module::ScratchMount& mount : granted.scratch) {
    json["scratch"].push_back({{"path", mount.path}, {"size", values::SizeText(mount.bytes)}});
  }
  json["persist"] = Json::array();
  for (const module::Volume& volume : plan.volumes) json["persist"].push_back(JsonOf(volume));
  json["snapshot"] = Json::array();
  for (const module::SnapshotGrant& grant : granted.snapshots) {
    json["snapshot"].push_back(JsonOf(grant));
  }
  json["import"] = JsonOf(granted.imports);
  json["export"] = JsonOf(granted.exports);
  json["network"] = granted.network;
  json["tls"] = granted.inspects_tls ? "inspect" : "names";
  json["limit"] = Json::object();
  if (granted.limits.requests) {
    json["limit"]["requests"] = *granted.limits.requests;
    json["limit"]["per"] = values::DurationText(granted.limits.window_ms);
  }
  if (granted.limits.request_bytes) {
    json["limit"]["request"] = values::SizeText(*granted.limits.request_bytes);
  }
  if (granted.limits.total_bytes) {
    json["limit"]["total"] = values::SizeText(*granted.limits.total_bytes);
  }
  json["expose"] = Json::array();
  for (const module::ExposeGrant& grant : granted.exposes) {
    json["expose"].push_back({{"ports", {grant.first_port, grant.last_port}},
                              {"to", grant.to},
                              {"at_most", values::DurationText(grant.lasts_ms.most)}});
  }
  json["record"] = {{"except_allows_of", inspect::UnrecordedAllowsOf(granted.evidence)},
                    {"redact_headers", granted.evidence.redacted_headers},
                    {"retain", values::DurationText(granted.evidence.retain_ms)}};
  return json;
}

}  // namespace

Answer AnswerOf(const module::DecisionEngine& engine, const module::Request& request) {
  const module::PolicyModule& policy = engine.module();
  module::VerdictRoom room;
  engine.Decide(request, room.verdict);
  const module::Verdict& verdict = room.verdict;

  Answer answer;
  answer.decision =
      verdict.effect == module::Effect::Allow ? Answer::Decision::Allow : Answer::Decision::Deny;
  answer.action = WordOf(request.action());
  answer.stage = WordOf(request.stage());
  answer.denials = ReasonsOf(verdict.denials, policy);
  answer.allows = ReasonsOf(verdict.allows, policy);
  answer.trials = ReasonsOf(verdict.trials, policy);
  answer.is_cut =
      verdict.denials.overflowed() || verdict.allows.overflowed() || verdict.trials.overflowed();
  answer.policy = ToString(policy.manifest().policy);
  if (verdict.class_index != module::NoClass) {
    answer.class_name = policy.class_name(verdict.class_index);
  }
  if (module::OnlyNeversDeny(policy, verdict)) answer.fault = module::OnlyNeversDenySentence;
  if (verdict.undecided) {
    answer.decision = Answer::Decision::Undecided;
    answer.missing = PathOf(policy, request.action(), verdict.undecided_slot);
  } else if (verdict.effect == module::Effect::Allow &&
             request.action() == schema::Action::Create) {
    answer.granted = policy.plan(verdict.class_index);
    answer.plan = module::PlanOf(*answer.granted, request);
    CURFEW_CHECK(answer.plan.has_value(), "an allowed create fits the plan of its class");
  }
  return answer;
}

Answer AnswerOf(const module::PolicyModule& policy,
                const std::vector<module::RequestProblem>& problems) {
  Answer answer;
  answer.policy = ToString(policy.manifest().policy);
  for (const module::RequestProblem& problem : problems) {
    answer.denials.push_back(
        {std::string(kRequestInvalid),
         fmt::format("{}: {}", problem.pointer.empty() ? "/" : problem.pointer, problem.message),
         "", 0, 0});
  }
  return answer;
}

int ExitStatusOf(const Answer& answer) {
  switch (answer.decision) {
    case Answer::Decision::Allow:
      return exit_status::Fine;
    case Answer::Decision::Deny:
      return exit_status::No;
    case Answer::Decision::Undecided:
      return exit_status::Undecided;
  }
  CURFEW_UNREACHABLE("the switch names every decision");
}

std::string RenderText(const Answer& answer, bool color) {
  std::string text(WordOf(answer.decision));
  if (color) {
    const bool allowed = answer.decision == Answer::Decision::Allow;
    text = fmt::format("\x1b[1;{}m{}\x1b[0m", allowed ? 32 : 31, text);
  }
  if (!answer.action.empty()) text += " " + answer.action;
  if (answer.action == "egress") text += fmt::format(" at the stage `{}`", answer.stage);
  if (!answer.class_name.empty()) text += fmt::format(" in class `{}`", answer.class_name);
  text += '\n';
  if (!answer.missing.empty()) {
    text += fmt::format("  depends on `{}`, which the request does not say\n", answer.missing);
  }
  if (!answer.fault.empty()) text += fmt::format("  {}\n", answer.fault);
  AppendReasons(text, "", answer.denials);
  AppendReasons(text, answer.decision == Answer::Decision::Allow ? "" : "would allow",
                answer.allows);
  AppendReasons(text, "on trial", answer.trials);
  if (answer.is_cut) text += "  and more than a verdict has room for\n";
  if (answer.plan) AppendPlan(text, *answer.granted, *answer.plan);
  return text;
}

std::string RenderJson(const Answer& answer) {
  Json json = {{"version", 1}, {"decision", WordOf(answer.decision)}};
  if (!answer.action.empty()) {
    json["action"] = answer.action;
    json["stage"] = answer.stage;
  }
  if (!answer.class_name.empty()) json["class"] = answer.class_name;
  if (!answer.missing.empty()) json["missing"] = answer.missing;
  if (!answer.fault.empty()) json["fault"] = answer.fault;
  json["denials"] = JsonOf(answer.denials);
  json["allows"] = JsonOf(answer.allows);
  json["trials"] = JsonOf(answer.trials);
  if (answer.is_cut) json["cut"] = true;
  if (answer.plan) json["plan"] = JsonOf(*answer.granted, *answer.plan);
  json["policy"] = answer.policy;
  if (!answer.engine.empty()) json["engine"] = answer.engine;
  if (!answer.why_not_native.empty()) json["why_not_native"] = answer.why_not_native;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string RenderText(std::size_t line, const Failure& failure) {
  return fmt::format("error in line {}: {}\n", line, failure.message);
}

std::string RenderJson(std::size_t line, const Failure& failure) {
  const Json json = {{"version", 1}, {"line", line}, {"error", failure.message}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace curfew::tool
