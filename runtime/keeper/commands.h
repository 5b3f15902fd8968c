// The commands of a sandbox that come from outside: each is looked up inside, judged by what was
// found, put on record, run, and its streams relayed within credit. All of it happens on the loop,
// in answer to packets and to the agent.
#pragma once

#include "runtime/keeper/desk.h"

#include <cstdint>
#include <map>
#include <memory>

namespace curfew::keeper {

class Commands {
 public:
  explicit Commands(Desk& desk) : desk_(desk) {}
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  // `id` is the client's; one that is in use ends the conversation, as any misuse does (false).
  bool Begin(std::uint32_t id, ExecMessage message);
  bool Input(std::uint32_t id, ByteView data);
  bool InputEnd(std::uint32_t id);
  bool Signal(std::uint32_t id, int number);

  // SIGTERM to all that still run: their time is over.
  void Terminate();
  [[nodiscard]] bool none_running() const { return running_.empty(); }

 private:
  struct Command {
    std::uint32_t id = 0;      // the client's
    std::uint64_t number = 0;  // in the records
    std::uint32_t exec = 0;    // the session's
    ExecMessage message;
    bool started = false;       // on record; from then on it has streams
    bool runs = false;          // inside, as the agent says
    std::size_t room_told = 0;  // of standard input, not yet used
    bool input_ended = false;
  };

  void Judge(std::uint32_t id, const std::string& program);
  void Deny(std::uint32_t id, const gate::Answer& answer, const std::string& subject);
  // The entry of the driver: only an allowed exec opens it, and only for the program that was
  // judged.
  void Run(gate::Permit<schema::Action::Exec> permit, Command& command, const std::string& program);
  void TellRoom(Command& command);
  void End(std::uint32_t id, const Result<guest::Exited>& exited);
  void Finish(std::uint32_t id, evidence::CommandResult result, std::string failure);

  Desk& desk_;
  std::map<std::uint32_t, Command> running_;
  std::uint64_t count_ = 0;
};

}  // namespace curfew::keeper
