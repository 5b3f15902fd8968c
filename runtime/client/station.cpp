#include "runtime/client/station.h"

#include "runtime/keeper/kill_point.h"
#include "runtime/machine/cgroups.h"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::client {
namespace {

std::string_view WhatOf(lifecycle::SweptWhy why) {
  switch (why) {
    case lifecycle::SweptWhy::KeeperLost:
      return "had lost its keeper; its books are closed now";
    case lifecycle::SweptWhy::Overdue:
      return "was overdue; its books are closed now";
    case lifecycle::SweptWhy::LookedAgain:
      return "was in quarantine and has been looked at again";
  }
  CURFEW_UNREACHABLE("the switch names every reason");
}

}  // namespace

Result<std::unique_ptr<Station>> Station::Open(const Means& means, const std::string& state_root) {
  if (geteuid() != 0) {
    return Failure(
        FailureCode::PermissionDenied,
        "sandboxes need root: control groups, a uid for each machine, and the state in " +
            state_root + "; run this as root");
  }
  char* resolved = realpath(state_root.c_str(), nullptr);
  std::string root = resolved != nullptr ? std::string(resolved) : state_root;
  std::free(resolved);
  if (!root.starts_with('/')) {
    std::error_code none;
    const std::filesystem::path here = std::filesystem::current_path(none);
    if (!none) root = here.string() + "/" + root;
  }
  std::unique_ptr<Station> station(new Station(means, host::StateDirectory{.root = root}));
  CURFEW_TRY_VOID(station->state_.Prepare(means.files));
  CURFEW_TRY(store::Store opened, store::Store::Open(station->state_.Database()));
  station->store_ = std::make_unique<store::Store>(std::move(opened));
  CURFEW_TRY(evidence::SigningKey key, evidence::SigningKey::LoadOrCreate(
                                           means.files, means.entropy, station->state_.ReceiptKey(),
                                           station->state_.ReceiptPublicKey()));
  station->key_ = std::make_unique<evidence::SigningKey>(std::move(key));
  return station;
}

Result<lifecycle::SweepReport> Station::Sweep(Console& console, bool quarantined_too) {
  const lifecycle::SweepTools tools{
      .office = {.files = means_.files,
                 .processes = means_.processes,
                 .clock = means_.clock,
                 .state = state_,
                 .store = *store_,
                 .key = *key_,
                 .search =
                     [this](const evidence::ResidueQuery& query) {
                       return evidence::SearchResidue(means_.files, means_.networks, means_.clock,
                                                      query);
                     },
                 .checkpoint = keeper::KillPoint("sweep.")},
      .remove_cgroups = [](const std::string& id) { return machine::Cgroups::Find(id).Remove(); },
      .pause = [](std::int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }};
  CURFEW_TRY(lifecycle::SweepReport report, lifecycle::Sweep(tools, quarantined_too));
  for (const std::string& id : report.overdue) {
    console.Err(
        fmt::format("curfew: {} is overdue: its keeper had not ended it in time, and has "
                    "been ended now\n",
                    id));
  }
  for (const lifecycle::Swept& swept : report.closed) {
    console.Err(fmt::format("curfew: {} {} ({})\n", swept.sandbox_id, WhatOf(swept.why),
                            NameOf(swept.verdict)));
  }
  for (const Failure& failure : report.failures) {
    console.Complain("could not finish a sandbox that lost its keeper: " + failure.message);
  }
  return report;
}

}  // namespace curfew::client
