// The agent: one loop over the control port, its commands' pipes, and the dead. It must be PID 1 of
// its PID namespace, in a machine or in a test, since ending everything means everything.
#pragma once

#include "compiler/base/owned_fd.h"
#include "runtime/guest/agent/command.h"
#include "runtime/guest/protocol.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <poll.h>
#include <string>
#include <utility>
#include <vector>

namespace curfew::guest {

// What the agent does to the machine around it; in a test there is none.
struct MachineActions {
  std::function<Outcome(const Configure&)> configure;
  std::function<Outcome(const std::string& line)> note_denial;
  std::function<void()> power_off;
};

class Agent {
 public:
  // `port` is non-blocking. A port of a machine may be closed at the host's end for a while
  // (`port_returns`); a socket never comes back.
  Agent(OwnedFd port, std::string cgroup_root, MachineActions actions, bool port_returns);

  // Says Up and serves until the host says PowerOff or is gone. False: the host's frames made no
  // sense.
  bool Run(const Up& up);

 private:
  // A file on its way to the host.
  struct Download {
    File listed;
    OwnedFd file;
    std::uint32_t credit = CreditBytes;
    std::uint64_t left = 0;
  };
  // The end of everything, while it lasts.
  struct Ending {
    std::uint32_t id;
    std::int64_t kill_at_ms;
    std::int64_t give_up_at_ms;  // once killing
    std::int64_t look_at_ms;     // when to look again who is left
    bool killing = false;
    std::uint32_t seen = 0;
    std::map<std::pair<std::uint32_t, std::uint64_t>, Process> processes;  // by pid and start
  };

  bool ReadPort();
  void WritePort();
  void Dispatch(const Frame& frame);
  template <typename M, typename Use>
  void With(const Frame& frame, Use use);
  template <typename M>
  void Send(std::uint32_t id, const M& message);
  void SendRefusal(std::uint32_t id, const Failure& failure);
  void SendOutcome(std::uint32_t id, const Outcome& outcome);

  void OnPrepare(std::uint32_t id, Prepare request);
  void OnStart(std::uint32_t id);
  void OnInput(std::uint32_t id, const Bytes& data);
  void OnCredit(std::uint32_t id, const Credit& credit);
  void OnSignal(std::uint32_t id, const Signal& signal);
  void OnFetch(std::uint32_t id, const File& file);
  void OnListProcesses(std::uint32_t id);
  void OnEndProcesses(std::uint32_t id, std::uint64_t grace_ms);

  void ReapChildren();
  void PumpInput(Command& command);
  void PumpOutput(Command& command, OutputPipe& pipe, Stream stream);
  void PumpDownload(std::uint32_t id, Download& download);
  void DrainOrphans();
  void FinishCommands();
  void CheckDeadlines(std::int64_t now_ms);
  void AdvanceEnding(std::int64_t now_ms);
  void FinishEnding(std::uint32_t remaining);
  void NoteProcesses(bool kill);
  // What to poll for, and for how long.
  std::vector<pollfd> Wishes() const;
  int PatienceMs(std::int64_t now_ms) const;
  [[nodiscard]] bool crowded() const;

  OwnedFd port_;
  std::string cgroup_root_;
  MachineActions actions_;
  bool port_returns_;
  OwnedFd children_;  // a signalfd for SIGCHLD
  FrameReader reader_;
  Bytes out_;
  std::size_t out_start_ = 0;
  std::vector<std::string> environment_defaults_;
  bool configured_ = false;
  bool power_off_ = false;
  bool broken_ = false;
  std::map<std::uint32_t, Command> commands_;
  std::map<std::uint32_t, Download> downloads_;
  std::vector<OwnedFd> orphans_;  // pipes that processes left behind still write to
  std::optional<Ending> ending_;
};

}  // namespace curfew::guest
