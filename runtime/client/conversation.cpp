#include "runtime/client/conversation.h"

#include "compiler/base/verb.h"

#include <cerrno>
#include <csignal>
#include <unistd.h>

namespace curfew::client {

using keeper::Kind;

namespace {

constexpr int NotFoundStatus = 127;
constexpr int InterruptedStatus = 130;
constexpr std::uint32_t FirstCommandId = 1;
constexpr std::uint32_t ExportId = 0x7fffffff;

}  // namespace

Conversation::Conversation(const host::Clock& clock, KeeperLink& link, RunView& view)
    : loop_(clock), link_(link), view_(view) {
  loop_.Add(link_);
  link_.on_packet = [this](const keeper::Packet& packet) { OnPacket(packet); };
}

Conversation::~Conversation() { link_.on_packet = nullptr; }

RunOutcome Conversation::Hold(const keeper::CreateMessage& create, std::vector<int> descriptors,
                              const Task& task, std::vector<OwnedFd> inputs) {
  if (const Outcome listening = ListenToSignals(); !listening) {
    view_.Failed(listening.error().message);
    return {.status = exit_status::TaskCouldNotRun, .closed = std::nullopt};
  }
  link_.Send(0, create, std::move(descriptors));
  bool done = false;
  if (WaitFor([this] { return ready_ || closed_; }) && ready_) {
    done = RunCommands(task, std::move(inputs));
    if (interrupts_ == 0) Export(task);
  }
  Close(done);
  if (status_ == 0) status_ = export_status_;
  if (denied_) status_ = exit_status::TaskDenied;
  const bool never_ran = !ready_ && !denied_;
  if (failed_ || never_ran || (!closed_ && interrupts_ == 0)) {
    status_ = exit_status::TaskCouldNotRun;
  }
  if (ending_) {
    const bool time_over =
        ending_->why == keeper::EndingWhy::Deadline || ending_->why == keeper::EndingWhy::Idle;
    const bool denied = ending_->why == keeper::EndingWhy::ClassGone;
    status_ = time_over ? exit_status::TaskTimedOut
              : denied  ? exit_status::TaskDenied
                        : exit_status::TaskCouldNotRun;
  }
  if (interrupts_ > 0) status_ = InterruptedStatus;
  loop_.Remove(*signals_);
  return {.status = status_, .closed = closed_};
}

Outcome Conversation::ListenToSignals() {
  CURFEW_TRY(signals_,
             host::SignalSource::Open({SIGINT, SIGTERM, SIGHUP}, [this](int) { OnInterrupt(); }));
  loop_.Add(*signals_);
  return Ok();
}

// Whether it came, before the keeper went or somebody wanted the end.
bool Conversation::WaitFor(const std::function<bool()>& done) {
  loop_.RunUntil([&] { return done() || link_.failure() || interrupts_ > 0; });
  return done();
}

bool Conversation::RunCommands(const Task& task, std::vector<OwnedFd> inputs) {
  for (std::size_t i = 0; i < task.commands.size(); ++i) {
    if (ending_ || interrupts_ > 0) return false;
    const TaskCommand& asked = task.commands[i];
    const auto id = static_cast<std::uint32_t>(FirstCommandId + i);
    Running& command = commands_[id];
    command.input = std::move(inputs[i]);
    command.input_open = command.input.is_open();
    view_.Command(asked.exec.argv);
    link_.Send(id, asked.exec);
    const bool came = WaitFor([&] {
      return command.exited || ending_ || closed_ || (asked.exec.background && command.allowed);
    });
    if (!came || ending_ || closed_) return false;
    if (asked.exec.background && command.allowed == true && !command.exited) continue;
    if (!WaitFor([&] { return command.exited || ending_ || closed_; })) return false;
    if (!command.exited) return false;
    const int status = StatusOf(command);
    if (status == 0 || asked.allow_failure) continue;
    status_ = status;
    return false;
  }
  return true;
}

int Conversation::StatusOf(const Running& command) {
  const keeper::ExitedMessage& exited = *command.exited;
  if (command.allowed == false) return exit_status::TaskDenied;
  if (exited.timed_out) return exit_status::TaskTimedOut;
  if (exited.signal) return 128 + *exited.signal;
  return exited.status.value_or(NotFoundStatus);
}

void Conversation::Export(const Task& task) {
  if (task.exports.empty() || link_.failure() || closed_) return;
  link_.Send(ExportId, keeper::ExportMessage{.patterns = task.exports});
  WaitFor([this] { return export_ended_ || closed_; });
}

void Conversation::Close(bool done) {
  if (!close_sent_ && !closed_ && !link_.failure()) {
    close_sent_ = true;
    link_.Send(0, keeper::CloseMessage{.reason = interrupts_ > 0 ? "interrupted"
                                                 : done          ? "done"
                                                                 : "stopped",
                                       .status = status_,
                                       .hurry = interrupts_ > 1});
  }
  loop_.RunUntil([this] { return closed_ || link_.failure(); });
  if (!closed_ && link_.failure()) view_.Failed(link_.failure()->message);
}

void Conversation::OnInterrupt() {
  ++interrupts_;
  if (interrupts_ == 1) view_.Interrupted();
  close_sent_ = true;
  link_.Send(
      0, keeper::CloseMessage{.reason = "interrupted", .status = 130, .hurry = interrupts_ > 1});
}

void Conversation::OnDecided(std::uint32_t id, const keeper::DecidedMessage& message) {
  view_.Decided(message);
  if (message.action == "create" && !message.allowed) denied_ = true;
  if (id == ExportId && !message.allowed) export_status_ = exit_status::TaskDenied;
  if (const auto found = commands_.find(id); found != commands_.end()) {
    found->second.allowed = message.allowed;
  }
}

// Sends as much of the command's standard input as there is room for.
void Conversation::Feed(std::uint32_t id, std::uint64_t room) {
  const auto found = commands_.find(id);
  if (found == commands_.end() || !found->second.input_open) return;
  Bytes chunk(keeper::InputChunkBytes);
  while (room > 0) {
    const ssize_t size =
        read(found->second.input.get(), chunk.data(), std::min<std::uint64_t>(room, chunk.size()));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      found->second.input_open = false;
      link_.SendBytes(Kind::InputEnd, id, {});
      return;
    }
    link_.SendBytes(Kind::Input, id, ByteView(chunk).first(static_cast<std::size_t>(size)));
    room -= static_cast<std::uint64_t>(size);
  }
}

void Conversation::OnPacket(const keeper::Packet& packet) {
  // A message that cannot be read is one that the keeper did not mean: the run cannot be trusted.
  const auto with = [&]<typename M>(Result<M> message, auto use) {
    if (message) return use(*message);
    failed_ = true;
    view_.Failed(message.error().message);
  };
  switch (packet.kind) {
    case Kind::Step:
      return with(keeper::DecodeMessage<keeper::StepMessage>(packet),
                  [&](const auto& m) { view_.Step(m); });
    case Kind::Decided:
      return with(keeper::DecodeMessage<keeper::DecidedMessage>(packet),
                  [&](const auto& m) { OnDecided(packet.id, m); });
    case Kind::Ready:
      return with(keeper::DecodeMessage<keeper::ReadyMessage>(packet), [&](const auto& m) {
        ready_ = true;
        view_.Ready(m);
      });
    case Kind::Output:
      if (!packet.payload.empty()) {
        view_.Output(packet.payload[0] == 2, ByteView(packet.payload).subspan(1));
      }
      return;
    case Kind::InputRoom:
      return with(keeper::DecodeMessage<keeper::InputRoomMessage>(packet),
                  [&](const auto& m) { Feed(packet.id, m.bytes); });
    case Kind::Exited:
      return with(keeper::DecodeMessage<keeper::ExitedMessage>(packet), [&](const auto& m) {
        view_.Exited(m);
        commands_[packet.id].exited = m;
      });
    case Kind::Exported:
      return with(keeper::DecodeMessage<keeper::ExportedMessage>(packet), [&](const auto& m) {
        if (!m.failure.empty()) export_status_ = exit_status::TaskCouldNotRun;
        view_.Exported(m);
      });
    case Kind::ExportEnd:
      return with(keeper::DecodeMessage<keeper::ExportEndMessage>(packet), [&](const auto& m) {
        export_ended_ = true;
        if (!m.failure.empty()) export_status_ = exit_status::TaskCouldNotRun;
        view_.ExportEnded(m);
      });
    case Kind::Ending:
      return with(keeper::DecodeMessage<keeper::EndingMessage>(packet), [&](const auto& m) {
        ending_ = m;
        view_.Ending(m);
      });
    case Kind::Closed:
      return with(keeper::DecodeMessage<keeper::ClosedMessage>(packet), [&](const auto& m) {
        closed_ = m;
        if (!m.failure.empty()) view_.Failed(m.failure);
      });
    case Kind::Failed:
      return with(keeper::DecodeMessage<keeper::FailedMessage>(packet), [&](const auto& m) {
        if (m.code == "Denied") {
          denied_ = true;
        } else if (m.code != "Interrupted") {
          failed_ = true;
        }
        view_.Failed(m.message);
      });
    case Kind::Started:
    case Kind::Create:
    case Kind::Exec:
    case Kind::Export:
    case Kind::Input:
    case Kind::InputEnd:
    case Kind::Signal:
    case Kind::Close:
    case Kind::Reload:
    case Kind::Reloaded:
      return;
  }
}

}  // namespace curfew::client
