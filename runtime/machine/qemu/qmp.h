// The machine protocol of QEMU, as far as a driver needs it: one command at a time, in order, each
// with its answer; events on the side. QEMU is driven by a hostile guest and is not trusted: lines
// are bounded and parsed strictly.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"

#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace curfew::machine::qemu {

// What QEMU says unasked. `reason` is that of SHUTDOWN, else empty.
struct QmpEvent {
  std::string name;
  std::string reason;
};

class Qmp {
 public:
  // `channel` is non-blocking. Sends what is asked after QEMU's greeting.
  explicit Qmp(OwnedFd channel, std::function<void(const QmpEvent&)> on_event);

  // `command` is one JSON object; `file`, if open, travels with it. Its text is wiped when sent.
  void Execute(std::string command, OwnedFd file, std::function<void(Outcome)> done);

  [[nodiscard]] int fd() const { return channel_.get(); }
  // Reads what has come. A Failure is final.
  Outcome OnReadable();
  // QEMU closed its end, or a Failure was returned.
  [[nodiscard]] bool ended() const { return !channel_.is_open(); }

 private:
  struct Command {
    std::string text;
    OwnedFd file;
    std::function<void(Outcome)> done;
  };
  Outcome OnLine(const std::string& line);
  Outcome SendNext();

  OwnedFd channel_;
  std::function<void(const QmpEvent&)> on_event_;
  std::string input_;
  std::deque<Command> queue_;  // the front one is sent when `waiting_`
  bool greeted_ = false;
  bool waiting_ = false;
};

}  // namespace curfew::machine::qemu
