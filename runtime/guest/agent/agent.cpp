#include "runtime/guest/agent/agent.h"

#include "runtime/guest/agent/files.h"
#include "runtime/guest/agent/machine_boot.h"
#include "runtime/guest/agent/process_table.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace curfew::guest {
namespace {

constexpr std::size_t OutBytesMax = 256 * 1024;  // above it no stream is read
constexpr std::int64_t EndingPauseMs = 10;
constexpr std::int64_t EndingPatienceMs = 20'000;  // for SIGKILL to work
constexpr std::size_t OrphansMax = 2 * ExecsMax;
constexpr std::uint64_t GraceMsMax = 24ull * 3600 * 1000;

std::int64_t NowMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

Refusal RefusalFor(FailureCode code) {
  if (code == FailureCode::NotFound) return Refusal::NotFound;
  if (code == FailureCode::PermissionDenied) return Refusal::Permission;
  if (code == FailureCode::Busy) return Refusal::Changed;
  if (code == FailureCode::TooLarge) return Refusal::TooMany;
  if (code == FailureCode::Usage || code == FailureCode::Malformed) return Refusal::Invalid;
  return Refusal::Failed;
}

}  // namespace

Agent::Agent(OwnedFd port, std::string cgroup_root, MachineActions actions, bool port_returns)
    : port_(std::move(port)),
      cgroup_root_(std::move(cgroup_root)),
      actions_(std::move(actions)),
      port_returns_(port_returns) {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, nullptr);
  static_cast<void>(signal(SIGPIPE, SIG_IGN));
  children_ = OwnedFd(signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
}

bool Agent::crowded() const { return out_.size() - out_start_ >= OutBytesMax; }

std::vector<pollfd> Agent::Wishes() const {
  const bool writing = out_start_ < out_.size();
  std::vector<pollfd> wishes = {
      {port_.get(), static_cast<short>(POLLIN | (writing ? POLLOUT : 0)), 0},
      {children_.get(), POLLIN, 0}};
  for (const auto& [id, command] : commands_) {
    if (!command.input_queue.empty()) wishes.push_back({command.input.get(), POLLOUT, 0});
    if (crowded()) continue;
    for (const OutputPipe* pipe : {&command.out, &command.error}) {
      if (!pipe->finished() && pipe->credit > 0) wishes.push_back({pipe->fd.get(), POLLIN, 0});
    }
  }
  for (const OwnedFd& orphan : orphans_) wishes.push_back({orphan.get(), POLLIN, 0});
  return wishes;
}

int Agent::PatienceMs(std::int64_t now_ms) const {
  std::int64_t wake_ms = now_ms + 60'000;
  for (const auto& [id, download] : downloads_) {
    if (download.credit > 0 && !crowded()) return 0;
  }
  for (const auto& [id, command] : commands_) {
    if (command.deadline_ms != 0 && !command.timed_out) {
      wake_ms = std::min(wake_ms, command.deadline_ms);
    }
  }
  if (ending_) wake_ms = std::min(wake_ms, ending_->look_at_ms);
  return static_cast<int>(std::max<std::int64_t>(0, wake_ms - now_ms));
}

bool Agent::Run(const Up& up) {
  Send(0, up);
  while (!broken_ && !(power_off_ && out_start_ == out_.size())) {
    std::vector<pollfd> wishes = Wishes();
    poll(wishes.data(), wishes.size(), PatienceMs(NowMs()));
    ReapChildren();
    if ((wishes[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !ReadPort()) return !broken_;
    for (auto& [id, command] : commands_) {
      PumpInput(command);
      PumpOutput(command, command.out, Stream::Out);
      PumpOutput(command, command.error, Stream::Error);
    }
    for (auto& [id, download] : downloads_) PumpDownload(id, download);
    std::erase_if(downloads_, [](const auto& entry) { return !entry.second.file.is_open(); });
    DrainOrphans();
    FinishCommands();
    CheckDeadlines(NowMs());
    AdvanceEnding(NowMs());
    WritePort();
  }
  if (power_off_ && actions_.power_off) actions_.power_off();
  return !broken_;
}

bool Agent::ReadPort() {
  std::uint8_t piece[64 * 1024];
  const ssize_t got = read(port_.get(), piece, sizeof(piece));
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) {
    // A port reads nothing while the host's end is closed.
    if (port_returns_) usleep(10'000);
    return port_returns_;
  }
  reader_.Feed({piece, static_cast<std::size_t>(got)});
  for (;;) {
    auto frame = reader_.Next();
    if (!frame) {
      broken_ = true;
      return false;
    }
    if (!frame->has_value()) return true;
    Dispatch(**frame);
  }
}

void Agent::WritePort() {
  while (out_start_ < out_.size()) {
    const ssize_t put = write(port_.get(), out_.data() + out_start_, out_.size() - out_start_);
    if (put <= 0) break;
    out_start_ += static_cast<std::size_t>(put);
  }
  if (out_start_ == out_.size()) {
    out_.clear();
    out_start_ = 0;
  } else if (out_start_ > OutBytesMax) {
    out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(out_start_));
    out_start_ = 0;
  }
}

template <typename M>
void Agent::Send(std::uint32_t id, const M& message) {
  const Outcome sent = AppendMessage(out_, id, message);
  CURFEW_CHECK(sent.has_value(), "the agent keeps the bounds of its own messages");
}

void Agent::SendRefusal(std::uint32_t id, const Failure& failure) {
  Send(id, Refused{RefusalFor(failure.code), failure.message.substr(0, MessageBytesMax)});
}

void Agent::SendOutcome(std::uint32_t id, const Outcome& outcome) {
  if (outcome) {
    Send(id, Done{});
  } else {
    SendRefusal(id, outcome.error());
  }
}

template <typename M, typename Use>
void Agent::With(const Frame& frame, Use use) {
  auto message = DecodeMessage<M>(frame);
  if (message) {
    use(*message);
  } else {
    SendRefusal(frame.id, message.error());
  }
}

void Agent::Dispatch(const Frame& frame) {
  const std::uint32_t id = frame.id;
  if (!configured_ && frame.kind != Kind::Configure && frame.kind != Kind::PowerOff) {
    SendRefusal(id, Failure(FailureCode::Usage, "asked before Configure"));
    return;
  }
  switch (frame.kind) {
    case Kind::Configure:
      return With<Configure>(frame, [&](const Configure& configuration) {
        if (configured_) {
          return SendRefusal(id, Failure(FailureCode::Usage, "Configure came twice"));
        }
        const Outcome done = actions_.configure ? actions_.configure(configuration) : Ok();
        if (!done) return SendRefusal(id, done.error());
        configured_ = true;
        environment_defaults_ = configuration.environment;
        Send(id, Ready{});
      });
    case Kind::WriteFile:
      return With<WriteFile>(frame,
                             [&](const WriteFile& what) { SendOutcome(id, WriteWholeFile(what)); });
    case Kind::Denial:
      return With<Denial>(frame, [&](const Denial& denial) {
        if (!actions_.note_denial) {
          return SendRefusal(id, Failure(FailureCode::Usage, "there is no machine to be told"));
        }
        SendOutcome(id, actions_.note_denial(denial.line));
      });
    case Kind::Prepare:
      return With<Prepare>(frame, [&](Prepare& request) { OnPrepare(id, std::move(request)); });
    case Kind::Start:
      return With<Start>(frame, [&](const Start&) { OnStart(id); });
    case Kind::Discard:
      return With<Discard>(frame, [&](const Discard&) {
        const auto command = commands_.find(id);
        if (command != commands_.end() && !command->second.started) commands_.erase(command);
      });
    case Kind::Input:
      return With<Input>(frame, [&](const Input& input) { OnInput(id, input.data); });
    case Kind::CloseInput:
      return With<CloseInput>(frame, [&](const CloseInput&) {
        const auto command = commands_.find(id);
        if (command != commands_.end()) command->second.input_ended = true;
      });
    case Kind::Credit:
      return With<Credit>(frame, [&](const Credit& credit) { OnCredit(id, credit); });
    case Kind::Signal:
      return With<Signal>(frame, [&](const Signal& signal) { OnSignal(id, signal); });
    case Kind::List:
      return With<List>(frame, [&](const List& list) {
        const auto end = ListFiles(list.patterns, [&](const File& file) { Send(id, file); });
        if (!end) return SendRefusal(id, end.error());
        Send(id, *end);
      });
    case Kind::Fetch:
      return With<Fetch>(frame, [&](const Fetch& fetch) { OnFetch(id, fetch.file); });
    case Kind::ListProcesses:
      return With<ListProcesses>(frame, [&](const ListProcesses&) { OnListProcesses(id); });
    case Kind::EndProcesses:
      return With<EndProcesses>(frame,
                                [&](const EndProcesses& end) { OnEndProcesses(id, end.grace_ms); });
    case Kind::PowerOff:
      power_off_ = true;
      return;
    case Kind::Up:
    case Kind::Ready:
    case Kind::Done:
    case Kind::Refused:
    case Kind::Prepared:
    case Kind::Started:
    case Kind::Output:
    case Kind::InputCredit:
    case Kind::Exited:
    case Kind::File:
    case Kind::FilesEnd:
    case Kind::Data:
    case Kind::DataEnd:
    case Kind::Process:
    case Kind::ProcessesEnd:
      SendRefusal(id, Failure(FailureCode::Usage, "that is for the guest to say"));
  }
}

void Agent::OnPrepare(std::uint32_t id, Prepare request) {
  if (ending_) return SendRefusal(id, Failure(FailureCode::Usage, "everything is being ended"));
  if (commands_.contains(id)) {
    return SendRefusal(id, Failure(FailureCode::Usage, "the id is taken"));
  }
  if (commands_.size() >= ExecsMax) {
    return SendRefusal(id, Failure(FailureCode::TooLarge, "too many commands at once"));
  }
  auto command = PrepareCommand(id, std::move(request), environment_defaults_);
  if (!command) return SendRefusal(id, command.error());
  Send(id, Prepared{command->program.path});
  commands_.emplace(id, std::move(*command));
}

void Agent::OnStart(std::uint32_t id) {
  const auto command = commands_.find(id);
  if (command == commands_.end() || command->second.started || ending_) {
    return SendRefusal(id, Failure(FailureCode::Usage, "nothing is prepared under this id"));
  }
  const Outcome started = StartCommand(command->second, cgroup_root_, NowMs());
  if (started) {
    Send(id, Started{static_cast<std::uint32_t>(command->second.pid)});
  } else {
    SendRefusal(id, started.error());
    commands_.erase(command);
  }
}

void Agent::OnInput(std::uint32_t id, const Bytes& data) {
  const auto command = commands_.find(id);
  if (command == commands_.end()) return;  // it ended while this was on its way
  Bytes& queue = command->second.input_queue;
  if (queue.size() + data.size() > CreditBytes || command->second.input_ended) {
    command->second.input_ended = true;
    return;
  }
  queue.insert(queue.end(), data.begin(), data.end());
}

void Agent::OnCredit(std::uint32_t id, const Credit& credit) {
  const auto add = [&credit](std::uint32_t& have) {
    have = std::min(have + std::min(credit.bytes, CreditBytes), CreditBytes);
  };
  if (credit.stream == Stream::File) {
    const auto download = downloads_.find(id);
    if (download != downloads_.end()) add(download->second.credit);
    return;
  }
  const auto command = commands_.find(id);
  if (command == commands_.end()) return;
  add(credit.stream == Stream::Out ? command->second.out.credit : command->second.error.credit);
}

void Agent::OnSignal(std::uint32_t id, const Signal& signal) {
  const auto command = commands_.find(signal.exec);
  if (command == commands_.end() || !command->second.started) {
    return SendRefusal(id, Failure(FailureCode::NotFound, "no such command is running"));
  }
  if (signal.number == 0 || signal.number > static_cast<std::uint32_t>(SIGRTMAX)) {
    return SendRefusal(id, Failure(FailureCode::Usage, "no such signal"));
  }
  if (signal.number == SIGKILL) {
    command->second.KillAll();
  } else {
    command->second.SignalAll(static_cast<int>(signal.number));
  }
  Send(id, Done{});
}

void Agent::OnFetch(std::uint32_t id, const File& file) {
  if (downloads_.size() >= ExecsMax || downloads_.contains(id)) {
    return SendRefusal(id, Failure(FailureCode::TooLarge, "too many files at once"));
  }
  auto opened = OpenListed(file);
  if (!opened) return SendRefusal(id, opened.error());
  downloads_.emplace(id, Download{file, std::move(*opened), CreditBytes, file.bytes});
}

void Agent::OnListProcesses(std::uint32_t id) {
  std::uint32_t seen = 0;
  for (const Process& process : ReadProcesses(ProcessesMax, true, seen)) Send(id, process);
  Send(id, ProcessesEnd{seen, 0});
}

void Agent::ReapChildren() {
  signalfd_siginfo ignored[8];
  while (read(children_.get(), ignored, sizeof(ignored)) > 0) {
  }
  for (;;) {
    int status = 0;
    rusage usage{};
    const pid_t pid = wait4(-1, &status, WNOHANG, &usage);
    if (pid <= 0) return;
    for (auto& [id, command] : commands_) {
      if (command.started && command.pid == pid) command.NoteEnd(status, usage);
    }
  }
}

void Agent::PumpInput(Command& command) {
  std::uint32_t taken = 0;
  while (command.input.is_open() && taken < command.input_queue.size()) {
    const ssize_t put = write(command.input.get(), command.input_queue.data() + taken,
                              command.input_queue.size() - taken);
    if (put > 0) {
      taken += static_cast<std::uint32_t>(put);
    } else if (put < 0 && errno == EAGAIN) {
      break;
    } else {
      command.input.Reset();  // it does not read any more
    }
  }
  if (!command.started) return;
  if (!command.input.is_open()) taken = static_cast<std::uint32_t>(command.input_queue.size());
  if (taken == 0 && !command.input_ended) return;
  command.input_queue.erase(command.input_queue.begin(), command.input_queue.begin() + taken);
  if (taken > 0 && command.input.is_open()) Send(command.id, InputCredit{taken});
  if (command.input_ended && command.input_queue.empty()) command.input.Reset();
}

void Agent::PumpOutput(Command& command, OutputPipe& pipe, Stream stream) {
  while (!pipe.finished() && pipe.credit > 0 && !crowded()) {
    Output output{stream, Bytes(std::min<std::size_t>(ChunkBytesMax, pipe.credit))};
    if (pipe.left) output.data.resize(std::min<std::uint64_t>(output.data.size(), *pipe.left));
    const ssize_t got = read(pipe.fd.get(), output.data.data(), output.data.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      if (pipe.left) pipe.left = 0;
      return;
    }
    if (got <= 0) {
      pipe.fd.Reset();
      return;
    }
    output.data.resize(static_cast<std::size_t>(got));
    pipe.credit -= static_cast<std::uint32_t>(got);
    if (pipe.left) *pipe.left -= static_cast<std::uint64_t>(got);
    Send(command.id, output);
  }
}

void Agent::PumpDownload(std::uint32_t id, Download& download) {
  const auto refuse = [&](const char* why) {
    download.file.Reset();
    SendRefusal(id, Failure(FailureCode::Busy, download.listed.path + why));
  };
  while (download.left > 0 && download.credit > 0 && !crowded()) {
    Data data{Bytes(std::min<std::uint64_t>({ChunkBytesMax, download.credit, download.left}))};
    const ssize_t got = read(download.file.get(), data.data.data(), data.data.size());
    if (got <= 0) return refuse(" ended early");
    data.data.resize(static_cast<std::size_t>(got));
    download.credit -= static_cast<std::uint32_t>(got);
    download.left -= static_cast<std::uint64_t>(got);
    Send(id, data);
  }
  if (download.left > 0) return;
  if (!IsUnchanged(download.file.get(), download.listed))
    return refuse(" changed while it was read");
  download.file.Reset();
  Send(id, DataEnd{});
}

// What a command's descendants write after its end is dropped, so that they do not die of it.
void Agent::DrainOrphans() {
  char nowhere[16 * 1024];
  std::erase_if(orphans_, [&](const OwnedFd& orphan) {
    const ssize_t got = read(orphan.get(), nowhere, sizeof(nowhere));
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
  });
}

void Agent::FinishCommands() {
  for (auto entry = commands_.begin(); entry != commands_.end();) {
    Command& command = entry->second;
    const auto exited = command.Finished();
    if (!exited) {
      ++entry;
      continue;
    }
    Send(command.id, *exited);
    for (OutputPipe* pipe : {&command.out, &command.error}) {
      if (pipe->fd.is_open() && orphans_.size() < OrphansMax) {
        orphans_.push_back(std::move(pipe->fd));
      }
    }
    rmdir(command.cgroup.c_str());  // stays while descendants live in it
    entry = commands_.erase(entry);
  }
}

void Agent::CheckDeadlines(std::int64_t now_ms) {
  for (auto& [id, command] : commands_) {
    if (command.deadline_ms != 0 && now_ms >= command.deadline_ms && !command.timed_out &&
        !command.wait_status) {
      command.timed_out = true;
      command.KillAll();
    }
  }
}

void Agent::OnEndProcesses(std::uint32_t id, std::uint64_t grace_ms) {
  if (ending_) return SendRefusal(id, Failure(FailureCode::Usage, "it is under way"));
  std::erase_if(commands_, [](const auto& entry) { return !entry.second.started; });
  const std::int64_t kill_at = NowMs() + static_cast<std::int64_t>(std::min(grace_ms, GraceMsMax));
  ending_ = Ending{id, kill_at, 0, 0, false, 0, {}};
  // Stopped first, so that what is being counted does not multiply.
  kill(-1, SIGSTOP);
  NoteProcesses(false);
  kill(-1, SIGTERM);
  kill(-1, SIGCONT);
}

// Adds what runs now to what will be reported; with `kill`, as something that had to be killed.
void Agent::NoteProcesses(bool kill) {
  std::uint32_t seen = 0;
  for (Process& process : ReadProcesses(ProcessesMax, !kill, seen)) {
    const auto key = std::make_pair(process.pid, process.start_ticks);
    auto known = ending_->processes.find(key);
    if (known == ending_->processes.end()) {
      ++ending_->seen;
      if (ending_->processes.size() >= ProcessesMax) continue;
      known = ending_->processes.emplace(key, std::move(process)).first;
    }
    known->second.end = kill ? ProcessEnd::Killed : ProcessEnd::Ended;
  }
  ending_->seen = std::max(ending_->seen, seen);
}

void Agent::AdvanceEnding(std::int64_t now_ms) {
  if (!ending_ || now_ms < ending_->look_at_ms) return;
  if (!ending_->killing && now_ms >= ending_->kill_at_ms) {
    kill(-1, SIGSTOP);
    NoteProcesses(true);
    ending_->killing = true;
    ending_->give_up_at_ms = NowMs() + EndingPatienceMs;
  }
  if (ending_->killing) {
    kill(-1, SIGKILL);
    ReapChildren();
  }
  const std::uint32_t remaining = CountProcesses();
  if (remaining == 0 || (ending_->killing && now_ms >= ending_->give_up_at_ms)) {
    FinishEnding(remaining);
    return;
  }
  // The agent goes before everybody else, and the dying need time to die.
  const std::int64_t after_ms = NowMs();
  ending_->look_at_ms = after_ms + std::max(EndingPauseMs, 3 * (after_ms - now_ms));
  if (!ending_->killing) {
    ending_->look_at_ms = std::min(ending_->look_at_ms, std::max(after_ms, ending_->kill_at_ms));
  }
}

void Agent::FinishEnding(std::uint32_t remaining) {
  if (remaining > 0) {
    std::uint32_t seen = 0;
    for (const Process& left : ReadProcesses(ProcessesMax, false, seen)) {
      const auto known = ending_->processes.find({left.pid, left.start_ticks});
      if (known != ending_->processes.end()) known->second.end = ProcessEnd::Survived;
    }
  }
  for (const auto& [key, process] : ending_->processes) Send(ending_->id, process);
  Send(ending_->id, ProcessesEnd{ending_->seen, remaining});
  ending_.reset();
}

}  // namespace curfew::guest
