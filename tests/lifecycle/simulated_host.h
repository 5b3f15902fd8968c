// A host that exists only in a test: what steps acquire on it stays there when the keeper dies, as
// kernel objects would (or goes with the keeper, as descriptors do), and can be looked for.
#pragma once

#include "runtime/evidence/residue.h"
#include "runtime/execute/executor.h"
#include "runtime/host/processes.h"
#include "runtime/store/store.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace curfew::lifecycle {

class SimulatedHost final : public host::Processes {
 public:
  std::set<pid_t> alive;             // keepers and machines
  std::map<pid_t, pid_t> dies_with;  // a machine with its keeper, a watchdog with its machine
  bool nobody_waits = false;         // for those that die from now on
  std::set<pid_t> unwaited;
  std::set<std::string> cgroups;         // paths
  std::map<std::string, pid_t> members;  // of a control group
  // Of a wire, by cookie: whoever holds a descriptor of it.
  std::map<std::uint64_t, std::set<pid_t>> networks;
  bool search_is_blind = false;  // the search cannot see everything

  void Die(pid_t pid);
  Outcome RemoveCgroups(const std::string& sandbox_id);
  evidence::ResidueReport Search(const evidence::ResidueQuery& query);
  [[nodiscard]] bool IsEmpty() const {
    return cgroups.empty() && alive.empty() && networks.empty();
  }

  [[nodiscard]] pid_t Self() const override { return 1; }
  Result<host::ProcessStat> StatOf(pid_t pid) override;
  Result<OwnedFd> Open(const host::ProcessIdentity& identity) override;
  Result<bool> Signal(const host::ProcessIdentity& identity, int signal) override;
  Result<bool> IsAlive(const host::ProcessIdentity& identity) override;
};

// Does a plan's steps on it, and fails where the test says so.
class SimulatedDriver final : public execute::Driver {
 public:
  SimulatedDriver(SimulatedHost& simulated, store::Store& store, const Incarnation& sandbox,
                  pid_t keeper, std::int64_t wall_ms)
      : host_(simulated), store_(store), sandbox_(sandbox), keeper_(keeper), wall_ms_(wall_ms) {}

  // Which step (counted from 0) fails, and whether it holds something by then.
  std::optional<std::size_t> fails_at;
  bool fails_with_something = false;

  Result<std::vector<execute::Resource>> Act(const plan::Step& step) override;
  std::vector<execute::Ended> Undo(const plan::Step& step) override;

 private:
  Result<std::vector<execute::Resource>> Acquire(const plan::Step& step);
  [[nodiscard]] std::uint64_t Cookie() const { return static_cast<std::uint64_t>(keeper_); }
  [[nodiscard]] std::vector<execute::Resource> WireResources() const;

  SimulatedHost& host_;
  store::Store& store_;
  Incarnation sandbox_;
  pid_t keeper_;
  std::int64_t wall_ms_;
  std::size_t acted_ = 0;
};

}  // namespace curfew::lifecycle
