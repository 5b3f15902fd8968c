#include "runtime/keeper/commands.h"

#include "compiler/base/text.h"
#include "compiler/values/variable.h"
#include "runtime/lifecycle/records.h"

#include <algorithm>
#include <csignal>
#include <system_error>

#include <fmt/format.h>

namespace curfew::keeper {

using evidence::CommandResult;
using evidence::RecordKind;
namespace slot = schema::slot;

namespace {

constexpr std::size_t CommandsMax = guest::ExecsMax;

// Of a command that has not run.
CommandResult NotRun(const std::vector<std::string>& argv) {
  CommandResult result;
  result.argv = argv;
  return result;
}

// Why the command makes no request at all; empty where it makes one. The client asks the same
// before anything boots; this is for whoever else speaks to a keeper.
std::string FaultOf(const ExecMessage& message) {
  const auto holds_nul = [](std::string_view text) { return text.find('\0') != text.npos; };
  if (std::any_of(message.argv.begin(), message.argv.end(), holds_nul)) {
    return "/exec/args: a NUL byte, which ends a text for the kernel";
  }
  for (const std::string& variable : message.env) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    if (name.size() == variable.size() || !values::IsVariableName(name) || holds_nul(variable)) {
      return "the environment: " + Printable(variable, 60) + " is no variable with a text";
    }
    if (const std::string_view entry = values::ReservedBy(name); !entry.empty()) {
      return fmt::format(
          "the environment: {} is reserved ({}); it would change what the judged "
          "program does",
          name, entry);
    }
  }
  return {};
}

}  // namespace

bool Commands::Begin(std::uint32_t id, ExecMessage message) {
  if (running_.contains(id) || running_.size() >= CommandsMax) return false;
  Command& command = running_[id];
  command.id = id;
  command.number = ++count_;
  command.message = std::move(message);
  desk_.lifetime.Begin();
  guest::Session* session = desk_.driver.session();
  if (session == nullptr || session->failure()) {
    Finish(id, NotRun(command.message.argv), "the sandbox is not there any more");
    return true;
  }
  if (const std::string fault = FaultOf(command.message); !fault.empty()) {
    Deny(id, desk_.gate.Refuse(schema::Action::Exec, fault), command.message.argv.front());
    return true;
  }
  const guest::Prepare prepare{.arguments = command.message.argv,
                               .environment = command.message.env,
                               .directory = command.message.cwd,
                               .user = command.message.user,
                               .timeout_ms = command.message.timeout_ms,
                               .input = command.message.input};
  const std::uint32_t exec =
      session->AskProgram(prepare, [this, id](Result<guest::Prepared> prepared) {
        const auto found = running_.find(id);
        if (found == running_.end()) return;
        if (prepared) return Judge(id, prepared->program);
        Finish(id, NotRun(found->second.message.argv), prepared.error().message);
      });
  // The answer may have come at once.
  if (const auto found = running_.find(id); found != running_.end()) found->second.exec = exec;
  return true;
}

void Commands::Judge(std::uint32_t id, const std::string& program) {
  Command& command = running_.at(id);
  const std::vector<std::string>& argv = command.message.argv;
  Result<module::DecodedRequest> asked =
      desk_.questions.AskExec({.program = program,
                               .arguments = {argv.begin() + 1, argv.end()},
                               .user = command.message.user,
                               .cwd = command.message.cwd,
                               .background = command.message.background},
                              desk_.facts());
  gate::Decision<schema::Action::Exec> decision;
  if (asked) {
    decision = desk_.gate.Decide<schema::Action::Exec>(asked->request);
  } else {
    decision.answer = desk_.gate.Refuse(schema::Action::Exec, asked.error().message);
  }
  if (!decision.permit) {
    desk_.driver.session()->Drop(command.exec);
    return Deny(id, decision.answer, program);
  }
  desk_.TellDecision(id, decision.answer, program);
  Run(*std::move(decision.permit), command, program);
}

void Commands::Deny(std::uint32_t id, const gate::Answer& answer, const std::string& subject) {
  desk_.TellDecision(id, answer, subject);
  CommandResult result = NotRun(running_.at(id).message.argv);
  result.allowed = false;
  result.reason = gate::Describe(answer.reasons.front());
  Finish(id, std::move(result), {});
}

void Commands::Run(gate::Permit<schema::Action::Exec> permit, Command& command,
                   const std::string& program) {
  const std::uint32_t id = command.id;
  guest::Session& session = *desk_.driver.session();
  if (permit.facts().Text(slot::ExecProgram) != program) {
    session.Drop(command.exec);
    return Finish(id, NotRun(command.message.argv), "another program was judged");
  }
  const Outcome recorded =
      desk_.books.Append(RecordKind::Command,
                         lifecycle::CommandStarted(command.number, command.message.argv, program));
  if (!recorded) {
    session.Drop(command.exec);
    return Finish(id, NotRun(command.message.argv), recorded.error().message);
  }
  command.started = true;
  guest::ExecEvents events;
  events.on_started = [this, id, program](std::uint32_t) {
    desk_.control.Tell(id, StartedMessage{.program = program});
    const auto found = running_.find(id);
    if (found == running_.end()) return;
    found->second.runs = true;
    TellRoom(found->second);
  };
  events.on_output = [this, id, exec = command.exec](guest::Stream stream, ByteView data) {
    const std::size_t bytes = data.size();
    desk_.control.TellOutput(id, stream == guest::Stream::Error ? 2 : 1, data,
                             [driver = &desk_.driver, exec, stream, bytes] {
                               guest::Session* there = driver->session();
                               if (there != nullptr) there->Consumed(exec, stream, bytes);
                             });
  };
  events.on_input_room = [this, id] {
    if (const auto found = running_.find(id); found != running_.end()) TellRoom(found->second);
  };
  events.on_exit = [this, id](const Result<guest::Exited>& exited) { End(id, exited); };
  session.Run(command.exec, std::move(events));
  desk_.checkpoint("command.started");
}

void Commands::TellRoom(Command& command) {
  if (!command.message.input || command.input_ended) return;
  const std::size_t room = desk_.driver.session()->InputRoom(command.exec);
  if (room <= command.room_told) return;
  desk_.control.Tell(command.id, InputRoomMessage{.bytes = room - command.room_told});
  command.room_told = room;
}

bool Commands::Input(std::uint32_t id, ByteView data) {
  const auto found = running_.find(id);
  if (found == running_.end()) return true;  // it has ended meanwhile
  Command& command = found->second;
  if (!command.started || command.input_ended || data.size() > command.room_told) return false;
  command.room_told -= data.size();
  desk_.lifetime.Touch();
  desk_.driver.session()->SendInput(command.exec, data);
  return true;
}

bool Commands::InputEnd(std::uint32_t id) {
  const auto found = running_.find(id);
  if (found == running_.end()) return true;
  Command& command = found->second;
  if (!command.started || command.input_ended) return false;
  command.input_ended = true;
  desk_.driver.session()->SendInputEnd(command.exec);
  return true;
}

bool Commands::Signal(std::uint32_t id, int number) {
  const auto found = running_.find(id);
  if (found == running_.end() || !found->second.started) return true;
  desk_.driver.session()->SendSignal(found->second.exec, number, [](const Outcome&) {});
  return true;
}

void Commands::Terminate() {
  for (const auto& [id, command] : running_) Signal(id, SIGTERM);
}

void Commands::End(std::uint32_t id, const Result<guest::Exited>& exited) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  CommandResult result = NotRun(found->second.message.argv);
  result.allowed = true;
  result.started = found->second.runs;
  if (!exited) return Finish(id, std::move(result), exited.error().message);
  switch (exited->how) {
    case guest::ExitKind::Status:
      result.exit_status = static_cast<int>(exited->value & 0xff);
      break;
    case guest::ExitKind::Signalled:
      result.signal = static_cast<int>(exited->value & 0x7f);
      break;
    case guest::ExitKind::TimedOut:
      result.timed_out = true;
      break;
    case guest::ExitKind::NotStarted:
      result.started = false;
      return Finish(id, std::move(result),
                    fmt::format("it could not be started inside, in the folder {}: {}",
                                Printable(found->second.message.cwd),
                                std::generic_category().message(static_cast<int>(exited->value))));
  }
  Finish(id, std::move(result), {});
}

void Commands::Finish(std::uint32_t id, CommandResult result, std::string failure) {
  const auto found = running_.find(id);
  const std::uint64_t number = found->second.number;
  running_.erase(found);
  desk_.lifetime.End();
  if (!failure.empty()) result.reason = failure;
  // If this cannot be written the receipt says that the command's end is not on record.
  static_cast<void>(
      desk_.books.Append(RecordKind::Command, lifecycle::CommandEnded(number, result)));
  desk_.control.Tell(id, ExitedMessage{.status = result.exit_status,
                                       .signal = result.signal,
                                       .timed_out = result.timed_out,
                                       .failure = std::move(failure)});
}

}  // namespace curfew::keeper
