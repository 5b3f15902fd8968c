// One command of the host's: from the file that was found for it to the last byte that it wrote.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "runtime/guest/agent/program.h"
#include "runtime/guest/protocol.h"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

namespace curfew::guest {

// The agent's end of a command's stdout or stderr.
struct OutputPipe {
  OwnedFd fd;
  std::uint32_t credit = CreditBytes;
  // Set when the first process is gone: what was in the pipe then, and still has to be sent.
  std::optional<std::uint64_t> left;

  // Nothing more will be sent.
  [[nodiscard]] bool finished() const { return !fd.is_open() || (left && *left == 0); }
};

struct Command {
  std::uint32_t id = 0;
  Prepare request;
  User user;
  std::vector<std::string> environment;
  Program program;
  bool started = false;

  pid_t pid = 0;
  std::string cgroup;  // the folder of its control group
  OwnedFd input;
  Bytes input_queue;  // at most CreditBytes
  bool input_ended = false;
  OutputPipe out;
  OutputPipe error;
  std::int64_t deadline_ms = 0;  // 0: none
  bool timed_out = false;
  std::optional<int> wait_status;  // set once its first process is reaped
  rusage usage{};

  // Ends every process that descends from it.
  void KillAll() const;
  void SignalAll(int number) const;
  // To be called when its first process was reaped.
  void NoteEnd(int status, const rusage& used);
  // The closing message, once nothing more will be sent.
  [[nodiscard]] std::optional<Exited> Finished() const;
};

// Finds the program. Nothing runs yet.
Result<Command> PrepareCommand(std::uint32_t id, Prepare request,
                               const std::vector<std::string>& environment_defaults);

// Runs it in a session and a control group (below `cgroup_root`) of its own, as its user, without a
// way to more rights. A Failure tells what the child could not do.
Outcome StartCommand(Command& command, const std::string& cgroup_root, std::int64_t now_ms);

}  // namespace curfew::guest
