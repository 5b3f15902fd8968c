// The driver of a plan's steps on this host: it holds what a sandbox holds (image, control groups,
// disks, machine, agent, token) and gives each back. It waits on the keeper's loop, so that signals
// and the client are heard while a machine boots or ends.
#pragma once

#include "runtime/disk/scratch.h"
#include "runtime/execute/executor.h"
#include "runtime/guest/session.h"
#include "runtime/host/clock.h"
#include "runtime/host/entropy.h"
#include "runtime/host/linux/event_loop.h"
#include "runtime/host/state_directory.h"
#include "runtime/identity/run_token.h"
#include "runtime/image/image.h"
#include "runtime/keeper/gateway.h"
#include "runtime/keeper/watchdog.h"
#include "runtime/machine/capabilities.h"
#include "runtime/machine/cgroups.h"
#include "runtime/machine/machine.h"
#include "runtime/network/network.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace curfew::keeper {

// What the steps of one sandbox need to know. References outlive the driver.
struct SandboxSetting {
  Incarnation sandbox;
  std::string task_id;
  std::string owner;
  std::string class_name;
  std::string image_directory;
  std::uint32_t machine_uid = 0;
  machine::Capabilities capabilities;
  std::int64_t over_ms = 0;   // monotonic: everything must be gone
  std::int64_t grace_ms = 0;  // at its end, for what runs inside; never past `over_ms`
  host::EventLoop& loop;
  const host::Clock& clock;
  host::Entropy& entropy;
  const host::StateDirectory& state;
  store::Store& store;
  const evidence::SigningKey& token_key;
  // A curfew-keeper, which is started once more as the machine's watchdog.
  std::string keeper_program = "/proc/self/exe";
  // Who answers on the sandbox's wire. Empty where nobody can: no plan then has a wire.
  std::function<Result<std::unique_ptr<RunningGateway>>(network::Wire&)> open_gateway;
  // Whether whatever is waited for has lost its point: somebody wants the end.
  std::function<bool()> is_interrupted;
  // The end should be quick: no grace for what runs inside.
  std::function<bool()> is_hurried;
  // Told before the machine's end, when the agent could still say it: everything that ran.
  std::function<void(const guest::Processes&)> on_processes;
};

class SandboxDriver final : public execute::Driver {
 public:
  explicit SandboxDriver(SandboxSetting setting);
  ~SandboxDriver() override;

  Result<std::vector<execute::Resource>> Act(const plan::Step& step) override;
  std::vector<execute::Ended> Undo(const plan::Step& step) override;

  // The agent, while it is there.
  [[nodiscard]] guest::Session* session() { return session_.get(); }
  // Why the sandbox cannot go on, if so: the machine ended, or the agent made no sense.
  [[nodiscard]] std::optional<Failure> loss() const;
  [[nodiscard]] std::optional<std::int64_t> token_expires_ms() const;
  // Ends the token before its time; the step's own undo then finds it ended.
  void RevokeToken();
  // Tells the task of a refusal; more at once than the guest takes in are counted, and told as a
  // number with the next that is.
  void NoteDenial(std::string line);
  // Refusals that were lost on their way here: counted with those that are not told.
  void NoteUntold(std::size_t count) { denials_untold_ += count; }
  // Every live flow is judged again; how many were cut.
  std::size_t RejudgeFlows() { return gateway_ ? gateway_->Rejudge() : 0; }
  // Cuts everything that leaves, before the rest ends.
  void StopGateway() { gateway_.reset(); }
  // The end comes nearer. A Failure: the watchdog keeps to the later time.
  Outcome EndBy(std::int64_t over_ms, std::int64_t grace_ms);

 private:
  class MachineEvents;
  class SessionEvents;

  Result<std::vector<execute::Resource>> Do(const plan::OpenImage& step);
  Result<std::vector<execute::Resource>> Do(const plan::MakeCgroups& step);
  Result<std::vector<execute::Resource>> Do(const plan::MakeScratch& step);
  Result<std::vector<execute::Resource>> Do(const plan::MakeWire& step);
  Result<std::vector<execute::Resource>> Do(const plan::StartMachine& step);
  Result<std::vector<execute::Resource>> Do(const plan::JoinAgent& step);
  Result<std::vector<execute::Resource>> Do(const plan::StartGateway& step);
  Result<std::vector<execute::Resource>> Do(const plan::MintToken& step);
  Result<std::vector<execute::Resource>> Do(const plan::WriteIdentity& step);
  std::vector<execute::Ended> Take(const plan::OpenImage& step);
  std::vector<execute::Ended> Take(const plan::MakeCgroups& step);
  std::vector<execute::Ended> Take(const plan::MakeScratch& step);
  std::vector<execute::Ended> Take(const plan::MakeWire& step);
  std::vector<execute::Ended> Take(const plan::StartMachine& step);
  std::vector<execute::Ended> Take(const plan::JoinAgent& step);
  std::vector<execute::Ended> Take(const plan::StartGateway& step);
  std::vector<execute::Ended> Take(const plan::MintToken& step);
  std::vector<execute::Ended> Take(const plan::WriteIdentity& step);

  // Waits for an answer of the agent; Interrupted, or why the sandbox was lost.
  Outcome Await(const std::function<bool()>& done, bool even_when_interrupted,
                std::optional<std::int64_t> until_ms = {});
  Outcome Configure(const plan::JoinAgent& step);
  Failure WhyTheGuestIsSilent(const Failure& silence);
  Outcome StartWatchdog();

  struct Mount {
    std::string serial;
    std::string path;
    std::string identity;               // of the file
    std::optional<disk::Scratch> disk;  // until the machine has it
  };

  SandboxSetting setting_;
  unsigned vcpus_ = 1;
  std::optional<image::Image> image_;
  std::optional<machine::Cgroups> cgroups_;
  std::vector<Mount> mounts_;
  std::optional<network::Wire> wire_;
  std::unique_ptr<machine::Machine> machine_;
  std::string machine_identity_;
  std::unique_ptr<MachineEvents> machine_events_;
  std::unique_ptr<Watchdog> watchdog_;  // of the machine, which outlives it
  std::unique_ptr<guest::Session> session_;
  std::unique_ptr<SessionEvents> session_events_;
  std::unique_ptr<RunningGateway> gateway_;
  std::string gateway_identity_;
  std::size_t denials_on_their_way_ = 0;
  std::size_t denials_untold_ = 0;
  std::optional<identity::RunToken> token_;
};

}  // namespace curfew::keeper
