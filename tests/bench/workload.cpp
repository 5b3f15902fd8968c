#include "tests/bench/workload.h"

#include <chrono>
#include <ctime>
#include <limits>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace curfew::bench {
namespace {

using Kind = JsonValue::Kind;

// What a workload lacks ends the reading; thrown and caught in this file only.
struct Lacking {
  std::string name;
};

const JsonValue& Member(const JsonValue& object, std::string_view name, Kind kind) {
  const JsonValue* found = object.Find(name);
  if (found == nullptr || !found->is(kind)) throw Lacking{std::string(name)};
  return *found;
}
const std::string& Text(const JsonValue& object, std::string_view name) {
  return Member(object, name, Kind::String).text;
}
std::int64_t Number(const JsonValue& object, std::string_view name) {
  return Member(object, name, Kind::Integer).integer;
}

std::string HoursAndMinutes(std::int64_t seconds) {
  return fmt::format("{}h{}m", seconds / 3600, seconds % 3600 / 60);
}

constexpr std::string_view Head = R"(language 1
package bench.egress

attributes task {
  env:  dev | prod | quarantine
  risk: low < high
}

image base {
  digest sha256:0000000000000000000000000000000000000000000000000000000000000000
}

sandbox worker when task.kind == "work" {
  image {
    allow     base
    isolation any
  }
  identity { token audience "bridge" lives 1h }
  lifetime { ttl 8h }

  network {
    deny any when sandbox.idle > 30m
    deny any when token.expires_in < 60s
    deny any when task.env == quarantine
    deny POST, PUT, PATCH, DELETE, OPTIONS any when task.risk == high
    # A path pattern has one `**`, so each depth below a .git folder is named.
    deny any when has egress.path and (egress.path matches "/**/.git/*"
      or egress.path matches "/**/.git/*/*" or egress.path matches "/**/.git/*/*/*")
    deny any "169.254.169.254", "**.internal"
)";

std::string EgressPolicyText(const JsonValue& workload) {
  std::string text(Head);
  std::string blocked;
  for (const JsonValue& host : Member(workload, "blocked", Kind::Array).items) {
    blocked += fmt::format("{}\"{}\"", blocked.empty() ? "" : ",\n             ", host.text);
  }
  if (!blocked.empty()) text += fmt::format("    deny any {}\n", blocked);
  for (const JsonValue& rule : Member(workload, "rules", Kind::Array).items) {
    std::string methods;
    for (const JsonValue& method : Member(rule, "methods", Kind::Array).items) {
      methods += fmt::format("{}{}", methods.empty() ? "" : ", ", method.text);
    }
    text += fmt::format(
        "    r{}: allow {} \"http://{}{}:{}{}**\"\n"
        "      when now.time_of_day >= {} and now.time_of_day < {}\n",
        Number(rule, "id"), methods, Member(rule, "wild", Kind::Bool).boolean ? "**." : "",
        Text(rule, "host"), Number(rule, "port"), Text(rule, "path"),
        HoursAndMinutes(Number(rule, "start")), HoursAndMinutes(Number(rule, "end")));
  }
  return text + "  }\n}\n";
}

std::string EgressRequestText(const JsonValue& request) {
  const JsonValue& sandbox = Member(request, "sandbox", Kind::Object);
  const JsonValue& labels = Member(sandbox, "labels", Kind::Object);
  const std::string owner = JsonQuoted("user:" + Text(sandbox, "owner"));
  const auto now = static_cast<std::time_t>(Number(request, "now"));
  return fmt::format(
      R"({{"version": 1, "action": "egress", "now": "{:%Y-%m-%dT%H:%M:%SZ}",)"
      R"( "caller": {{"id": {}, "kind": "human", "groups": [], "operator": false}},)"
      R"( "task": {{"id": {}, "owner": {}, "team": {}, "kind": "work", "trigger": "api",)"
      R"( "env": {}, "risk": {}}},)"
      R"( "sandbox": {{"id": {}, "class": "worker", "age": "1h", "idle": "{}s", "ttl_left": "7h",)"
      R"( "image": "sha256:{:064}", "isolation": "emulated", "creator": {}}},)"
      R"( "token": {{"valid": true, "expires_in": "{}s"}},)"
      R"( "egress": {{"scheme": "http", "host": {}, "ip": "93.184.216.34", "port": {},)"
      R"( "method": {}, "path": {}, "bytes": "0B", "requests": 1, "total": "0B"}}}})",
      fmt::gmtime(now), owner, JsonQuoted(Text(sandbox, "task")), owner,
      JsonQuoted(Text(labels, "team")), JsonQuoted(Text(labels, "env")),
      JsonQuoted(Text(labels, "risk")), JsonQuoted(Text(sandbox, "id")), Number(request, "idle_s"),
      0, owner, Number(request, "token_ttl_s"), JsonQuoted(Text(request, "host")),
      Number(request, "port"), JsonQuoted(Text(request, "method")),
      JsonQuoted(Text(request, "path")));
}

// ---- Create -------------------------------------------------------------------------------------

std::string CreatePolicyText(const JsonValue& workload) {
  std::string text = "language 1\npackage bench.create\n\n";
  std::string names;
  std::size_t count = 0;
  for (const JsonValue& image : Member(workload, "images", Kind::Array).items) {
    text += fmt::format("image i{} {{ digest {} }}\n", count, image.text);
    names += fmt::format("{}i{}", names.empty() ? "" : ", ", count++);
  }
  std::string classes;
  std::string teams;
  for (const JsonMember& member : Member(workload, "teams", Kind::Object).members) {
    const std::string& team = member.name;
    const JsonValue& bounds = member.value;
    teams += fmt::format("{}{}", teams.empty() ? "" : ", ", JsonQuoted(team));
    classes += fmt::format(
        "sandbox {0} narrows approved when task.team == \"{0}\" {{\n"
        "  image    {{ size cpu at most {1}, memory at most {2}MiB, disk at most {3}GiB }}\n"
        "  lifetime {{ ttl at most {4}s }}\n}}\n",
        team, Number(bounds, "cpu"), Number(bounds, "mem_mb"), Number(bounds, "disk_gb"),
        Number(bounds, "ttl_s"));
  }
  return text + fmt::format(
                    "\nsandbox approved when task.team in [{}] {{\n"
                    "  image    {{ allow {}\n             isolation any }}\n"
                    "  lifetime {{ ttl at most 8h }}\n}}\n\n{}\n"
                    "short: deny create when create.ttl < 1m\n",
                    teams, names, classes);
}

std::string CreateRequestText(const JsonValue& request) {
  const JsonValue& sandbox = Member(request, "sandbox", Kind::Object);
  const JsonValue& labels = Member(sandbox, "labels", Kind::Object);
  const std::string owner = JsonQuoted("user:" + Text(sandbox, "owner"));
  const auto now = static_cast<std::time_t>(Number(request, "now"));
  return fmt::format(
      R"({{"version": 1, "action": "create", "now": "{:%Y-%m-%dT%H:%M:%SZ}",)"
      R"( "caller": {{"id": {}, "kind": "human", "groups": [], "operator": false}},)"
      R"( "task": {{"id": {}, "owner": {}, "team": {}, "kind": "work", "trigger": "api"}},)"
      R"( "create": {{"image": {}, "cpu": {}, "memory": "{}MiB", "disk": "{}GiB", "ttl": "{}s",)"
      R"( "running": 1}}}})",
      fmt::gmtime(now), owner, JsonQuoted(Text(sandbox, "task")), owner,
      JsonQuoted(Text(labels, "team")), JsonQuoted(Text(request, "image")), Number(request, "cpu"),
      Number(request, "mem_mb"), Number(request, "disk_gb"), Number(request, "ttl_s"));
}

}  // namespace

Result<Workload> ReadWorkload(std::string_view json) {
  // Our own, and as large as a benchmark wants.
  CURFEW_TRY(const JsonValue document, ParseJson(json, std::numeric_limits<std::size_t>::max()));
  try {
    Workload workload;
    const bool is_create = document.Find("images") != nullptr;
    workload.rule_count =
        Member(document, is_create ? "images" : "rules", Kind::Array).items.size();
    workload.policy = is_create ? CreatePolicyText(document) : EgressPolicyText(document);
    for (const JsonValue& request : Member(document, "reqs", Kind::Array).items) {
      workload.requests.push_back(is_create ? CreateRequestText(request)
                                            : EgressRequestText(request));
    }
    for (const JsonValue& answer : Member(document, "expected", Kind::Array).items) {
      workload.allowed.push_back(answer.boolean);
    }
    if (workload.allowed.size() != workload.requests.size()) throw Lacking{"expected"};
    return workload;
  } catch (const Lacking& lacking) {
    return Failure{FailureCode::Malformed,
                   fmt::format("the workload lacks `{}`, or it is of another type", lacking.name)};
  }
}

}  // namespace curfew::bench
