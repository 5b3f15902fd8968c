// What a person, or a program, sees of a run while it happens. Text: Curfew's own account goes to
// standard error, and the task's two streams go where a task's streams go. JSON: one object a line
// on standard output, everything in it.
#pragma once

#include "compiler/base/console.h"
#include "runtime/evidence/receipt.h"
#include "runtime/evidence/verify.h"
#include "runtime/host/clock.h"
#include "runtime/keeper/protocol.h"

#include <memory>
#include <string>
#include <vector>

namespace curfew::client {

class RunView {
 public:
  virtual ~RunView() = default;
  virtual void Began(const std::string& sandbox, const std::string& task) = 0;
  virtual void Decided(const keeper::DecidedMessage& decision) = 0;
  virtual void Step(const keeper::StepMessage& step) = 0;
  virtual void Ready(const keeper::ReadyMessage& ready) = 0;
  virtual void Command(const std::vector<std::string>& argv) = 0;
  virtual void Output(bool is_error, ByteView data) = 0;
  virtual void Exited(const keeper::ExitedMessage& exited) = 0;
  virtual void Exported(const keeper::ExportedMessage& file) = 0;
  virtual void ExportEnded(const keeper::ExportEndMessage& end) = 0;
  virtual void Ending(const keeper::EndingMessage& ending) = 0;
  virtual void Failed(const std::string& message) = 0;
  virtual void Interrupted() = 0;
  virtual void Closed(const evidence::Verification& verification, const std::string& path) = 0;
};

// Quiet leaves out what went as it should.
std::unique_ptr<RunView> MakeTextView(Console& console, const host::Clock& clock, bool quiet);
std::unique_ptr<RunView> MakeJsonView(Console& console);

}  // namespace curfew::client
