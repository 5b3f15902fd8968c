#include "tests/lifecycle/simulated_host.h"

#include <csignal>

#include <fmt/format.h>

namespace curfew::lifecycle {

using evidence::ResidueClass;
using execute::Ended;
using execute::Resource;

namespace {

constexpr std::string_view CgroupRoot = "/sys/fs/cgroup/memory/curfew/";

}  // namespace

void SimulatedHost::Die(pid_t pid) {
  if (alive.erase(pid) > 0 && nobody_waits) unwaited.insert(pid);
  for (auto it = networks.begin(); it != networks.end();) {
    it->second.erase(pid);
    it = it->second.empty() ? networks.erase(it) : std::next(it);
  }
  for (auto it = members.begin(); it != members.end();) {
    it = it->second == pid ? members.erase(it) : std::next(it);
  }
  for (const auto& [child, parent] : dies_with) {
    if (parent == pid && alive.contains(child)) Die(child);
  }
}

Outcome SimulatedHost::RemoveCgroups(const std::string& sandbox_id) {
  const std::string path = std::string(CgroupRoot) + sandbox_id;
  if (const auto member = members.find(path); member != members.end()) Die(member->second);
  cgroups.erase(path);
  return Ok();
}

evidence::ResidueReport SimulatedHost::Search(const evidence::ResidueQuery& query) {
  evidence::ResidueReport report;
  for (const ResidueClass kind : evidence::ResidueClasses) {
    report.classes.push_back({.residue_class = kind, .looked_at = 1});
  }
  const auto found = [&](ResidueClass kind, const std::string& identity) {
    ++report.classes[static_cast<std::size_t>(kind)].kept;
    report.findings.push_back(
        {.residue_class = kind, .fate = evidence::Fate::Kept, .identity = identity, .why = "seen"});
  };
  if (cgroups.contains(std::string(CgroupRoot) + query.sandbox_id)) {
    found(ResidueClass::Cgroup, query.sandbox_id);
  }
  for (const host::ProcessIdentity& process : query.processes) {
    if (alive.contains(process.pid)) found(ResidueClass::Process, std::to_string(process.pid));
  }
  for (const evidence::NetworkIdentity& network : query.networks) {
    if (networks.contains(network.cookie)) found(ResidueClass::NetworkNamespace, "a wire");
  }
  const Result<std::vector<std::string>> tokens = query.unrevoked_tokens();
  if (!tokens || !tokens->empty()) found(ResidueClass::Token, "a token");
  if (search_is_blind) ++report.classes[0].unknown;
  return report;
}

Result<host::ProcessStat> SimulatedHost::StatOf(pid_t pid) {
  const bool is_dead = unwaited.contains(pid);
  if (!is_dead && !alive.contains(pid)) return Failure(FailureCode::NotFound, "no such process");
  return host::ProcessStat{.identity = {.pid = pid, .start_ticks = 1},
                           .parent = 1,
                           .state = is_dead ? 'Z' : 'S',
                           .threads = 1,
                           .exit_code = is_dead ? SIGKILL : 0,
                           .name = "simulated"};
}

Result<OwnedFd> SimulatedHost::Open(const host::ProcessIdentity&) {
  return Failure(FailureCode::Unsupported, "nobody opens a simulated process");
}

Result<bool> SimulatedHost::Signal(const host::ProcessIdentity& identity, int) {
  const bool was_alive = alive.contains(identity.pid);
  Die(identity.pid);
  return was_alive;
}

Result<bool> SimulatedHost::IsAlive(const host::ProcessIdentity& identity) {
  return alive.contains(identity.pid);
}

Result<std::vector<Resource>> SimulatedDriver::Act(const plan::Step& step) {
  const bool fails = fails_at == acted_++;
  if (fails && !fails_with_something) {
    return Failure(FailureCode::System, "the test lets this step fail");
  }
  CURFEW_TRY(std::vector<Resource> resources, Acquire(step));
  if (fails) return Failure(FailureCode::System, "the test lets this step fail half done");
  return resources;
}

std::vector<Resource> SimulatedDriver::WireResources() const {
  return {{.resource_class = "network-namespace", .identity = fmt::format("7/{}", Cookie())},
          {.resource_class = "tap", .identity = sandbox_.id},
          {.resource_class = "nft-table", .identity = sandbox_.id}};
}

Result<std::vector<Resource>> SimulatedDriver::Acquire(const plan::Step& step) {
  const std::string cgroup = std::string(CgroupRoot) + sandbox_.id;
  if (std::holds_alternative<plan::MakeCgroups>(step)) {
    host_.cgroups.insert(cgroup);
    return std::vector<Resource>{{.resource_class = "cgroup", .identity = cgroup}};
  }
  if (const auto* scratch = std::get_if<plan::MakeScratch>(&step)) {
    return std::vector<Resource>{{.resource_class = "disk", .identity = "7:9"},
                                 {.resource_class = "key", .identity = scratch->serial}};
  }
  if (std::holds_alternative<plan::MakeWire>(step)) {
    host_.networks[Cookie()] = {keeper_};
    return WireResources();
  }
  if (std::holds_alternative<plan::StartGateway>(step)) {
    return std::vector<Resource>{{.resource_class = "gateway", .identity = "7/9"}};
  }
  if (std::holds_alternative<plan::StartMachine>(step)) {
    const pid_t machine = keeper_ + 1;
    host_.alive.insert(machine);
    host_.dies_with[machine] = keeper_;
    host_.members[cgroup] = machine;
    for (auto& [cookie, holders] : host_.networks) {
      if (holders.contains(keeper_)) holders.insert(machine);
    }
    CURFEW_TRY_VOID(
        store_.SetMachine(sandbox_, host::ProcessIdentity{.pid = machine, .start_ticks = 1}, 7));
    const pid_t watchdog = keeper_ + 2;
    host_.alive.insert(watchdog);
    host_.dies_with[watchdog] = machine;
    return std::vector<Resource>{
        {.resource_class = "machine", .identity = fmt::format("{}/1", machine)},
        {.resource_class = "watchdog", .identity = fmt::format("{}/1", watchdog)}};
  }
  if (std::holds_alternative<plan::MintToken>(step)) {
    CURFEW_TRY_VOID(store_.AddToken({.jti = "jti-" + sandbox_.id,
                                     .sandbox = sandbox_,
                                     .audience = "bridge",
                                     .expires_ms = wall_ms_ + 1000,
                                     .revoked_ms = std::nullopt}));
    return std::vector<Resource>{{.resource_class = "token", .identity = "jti-" + sandbox_.id}};
  }
  return std::vector<Resource>();
}

std::vector<Ended> SimulatedDriver::Undo(const plan::Step& step) {
  const std::string cgroup = std::string(CgroupRoot) + sandbox_.id;
  const auto destroyed = [](std::string kind, std::string identity) {
    return std::vector<Ended>{{.resource = {std::move(kind), std::move(identity)},
                               .fate = execute::Fate::Destroyed,
                               .detail = {}}};
  };
  if (std::holds_alternative<plan::MakeCgroups>(step)) {
    host_.cgroups.erase(cgroup);
    return destroyed("cgroup", cgroup);
  }
  if (const auto* scratch = std::get_if<plan::MakeScratch>(&step)) {
    std::vector<Ended> ended = destroyed("key", scratch->serial);
    ended.push_back(destroyed("disk", "7:9").front());
    return ended;
  }
  if (std::holds_alternative<plan::MakeWire>(step)) {
    host_.networks.erase(Cookie());
    std::vector<Ended> ended;
    for (Resource& resource : WireResources()) {
      ended.push_back(
          destroyed(std::move(resource.resource_class), std::move(resource.identity)).front());
    }
    return ended;
  }
  if (std::holds_alternative<plan::StartGateway>(step)) return destroyed("gateway", "7/9");
  if (std::holds_alternative<plan::StartMachine>(step)) {
    host_.Die(keeper_ + 1);
    std::vector<Ended> ended = destroyed("machine", fmt::format("{}/1", keeper_ + 1));
    ended.push_back(destroyed("watchdog", fmt::format("{}/1", keeper_ + 2)).front());
    return ended;
  }
  if (std::holds_alternative<plan::MintToken>(step)) {
    const Result<int> revoked = store_.RevokeTokens(sandbox_, wall_ms_);
    if (revoked) return destroyed("token", "jti-" + sandbox_.id);
  }
  return {};
}

}  // namespace curfew::lifecycle
