// One run as a talk with its keeper: create, the commands in order, the exports, the end. Straight
// line; it waits on the loop, and everything that comes meanwhile is shown as it comes.
#pragma once

#include "runtime/client/keeper_link.h"
#include "runtime/client/run_view.h"
#include "runtime/client/task.h"
#include "runtime/host/linux/signal_source.h"

#include <map>
#include <optional>
#include <string>

namespace curfew::client {

struct RunOutcome {
  int status = 0;
  // The keeper has closed the books, and says how clean it was; else somebody must sweep.
  std::optional<keeper::ClosedMessage> closed;
};

class Conversation {
 public:
  Conversation(const host::Clock& clock, KeeperLink& link, RunView& view);
  ~Conversation();

  // `descriptors` are those that `create` brings. `inputs` stand beside the commands that have one.
  RunOutcome Hold(const keeper::CreateMessage& create, std::vector<int> descriptors,
                  const Task& task, std::vector<OwnedFd> inputs);

 private:
  struct Running {
    std::optional<bool> allowed;
    std::optional<keeper::ExitedMessage> exited;
    OwnedFd input;
    bool input_open = false;
  };

  Outcome ListenToSignals();
  void OnPacket(const keeper::Packet& packet);
  void OnDecided(std::uint32_t id, const keeper::DecidedMessage& message);
  void Feed(std::uint32_t id, std::uint64_t room);
  void OnInterrupt();
  bool WaitFor(const std::function<bool()>& done);
  bool RunCommands(const Task& task, std::vector<OwnedFd> inputs);
  void Export(const Task& task);
  void Close(bool done);
  [[nodiscard]] static int StatusOf(const Running& command);

  host::EventLoop loop_;
  KeeperLink& link_;
  RunView& view_;
  std::unique_ptr<host::SignalSource> signals_;
  int interrupts_ = 0;
  bool ready_ = false;
  bool denied_ = false;  // the create
  bool failed_ = false;
  bool close_sent_ = false;
  bool export_ended_ = false;
  std::optional<keeper::EndingMessage> ending_;
  std::optional<keeper::ClosedMessage> closed_;
  std::map<std::uint32_t, Running> commands_;
  int status_ = 0;
  int export_status_ = 0;  // what was to be brought back and was not decides a run that went well
};

}  // namespace curfew::client
