#include "runtime/guest/session.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::guest {
namespace {

constexpr std::int64_t AnswerTimeoutMs = 30'000;  // a loaded host emulates slowly
constexpr std::int64_t EndingTimeoutMs = 60'000;  // above the grace
constexpr std::size_t CreditBatchBytes = CreditBytes / 4;
constexpr std::size_t ReadsPerTurn = 16;

Failure Unexpected(const Frame& frame) {
  return Failure(FailureCode::Malformed,
                 fmt::format("the guest sent a message of kind {} for {} that nobody asked for",
                             static_cast<unsigned>(frame.kind), frame.id));
}

FailureCode CodeFor(Refusal reason) {
  switch (reason) {
    case Refusal::Invalid:
      return FailureCode::Usage;
    case Refusal::NotFound:
      return FailureCode::NotFound;
    case Refusal::Permission:
      return FailureCode::PermissionDenied;
    case Refusal::Changed:
      return FailureCode::Busy;
    case Refusal::TooMany:
      return FailureCode::TooLarge;
    case Refusal::Failed:
      return FailureCode::System;
  }
  CURFEW_UNREACHABLE("the decoder lets only known reasons through");
}

// Absolute, without empty, `.` or `..` segments and without NUL: what a path of the guest must be
// before anybody compares it with a rule.
bool IsPlainPath(std::string_view path) {
  if (path.size() < 2 || path[0] != '/' || path.find('\0') != std::string_view::npos) return false;
  for (std::size_t start = 1; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view segment = path.substr(start, end - start);
    if (segment.empty() || segment == "." || segment == "..") return false;
    start = end + 1;
  }
  return true;
}

// For the answers that are one message: the frame, decoded.
template <typename M, typename Use>
std::function<void(Result<Frame>)> Decoded(Use use) {
  return [use = std::move(use)](Result<Frame> frame) {
    if (!frame) return use(Result<M>(std::move(frame).error()));
    use(DecodeMessage<M>(*frame));
  };
}

std::function<void(Result<Frame>)> AsUnit(Reply<Unit> reply) {
  return [reply = std::move(reply)](Result<Frame> frame) {
    reply(frame ? Ok() : Outcome(std::move(frame).error()));
  };
}

}  // namespace

Session::Session(OwnedFd channel, std::function<std::int64_t()> monotonic_ms)
    : channel_(std::move(channel)), monotonic_ms_(std::move(monotonic_ms)) {
  fcntl(channel_.get(), F_SETFL, fcntl(channel_.get(), F_GETFL) | O_NONBLOCK);
}

Session::~Session() {
  End(Failure(FailureCode::Interrupted, "the conversation with the guest was closed"));
}

// --- the poll loop ---------------------------------------------------------------------------

short Session::events() const {
  if (failure_) return 0;
  return static_cast<short>(POLLIN | (out_start_ < out_.size() ? POLLOUT : 0));
}

void Session::OnReady() {
  if (!failure_) ReadChannel();
  if (!failure_) WriteChannel();
}

void Session::ReadChannel() {
  std::uint8_t piece[64 * 1024];
  for (std::size_t turn = 0; turn < ReadsPerTurn; ++turn) {
    const ssize_t got = recv(channel_.get(), piece, sizeof(piece), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got < 0) return End(SystemFailure(errno, "read from the guest"));
    if (got == 0) return End(Failure(FailureCode::PeerGone, "the guest is gone"));
    reader_.Feed({piece, static_cast<std::size_t>(got)});
    for (;;) {
      auto frame = reader_.Next();
      if (!frame) return End(frame.error());
      if (!frame->has_value()) break;
      const Outcome delivered = Deliver(**frame);
      if (!delivered) return End(delivered.error());
      if (failure_) return;  // a function that was called ended it
    }
  }
}

void Session::WriteChannel() {
  while (out_start_ < out_.size()) {
    const ssize_t put = send(channel_.get(), out_.data() + out_start_, out_.size() - out_start_,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (put < 0) return End(Failure(FailureCode::PeerGone, "the guest's channel is closed"));
    out_start_ += static_cast<std::size_t>(put);
  }
  out_.clear();
  out_start_ = 0;
}

std::optional<std::int64_t> Session::deadline_ms() const {
  std::optional<std::int64_t> soonest;
  for (const auto& [id, open] : open_) {
    if (open->deadline_ms && (!soonest || *open->deadline_ms < *soonest)) {
      soonest = open->deadline_ms;
    }
  }
  return soonest;
}

void Session::OnTime() {
  const auto soonest = deadline_ms();
  if (soonest && monotonic_ms_() >= *soonest) {
    End(Failure(FailureCode::TimedOut, "the guest did not answer in its time"));
  }
}

void Session::End(Failure why) {
  if (failure_) return;
  failure_ = std::move(why);
  // Kept until the session goes: one of these may be the caller.
  closed_ = std::move(open_);
  open_.clear();
  channel_.Reset();
  for (const auto& [id, open] : closed_) Close(*open, *failure_);
}

void Session::Close(Open& open, const Failure& why) {
  if (auto* waiting = std::get_if<Waiting>(&open.what)) {
    waiting->reply(why);
  } else if (auto* command = std::get_if<Command>(&open.what)) {
    if (command->asked_to_run && command->events.on_exit) command->events.on_exit(why);
  } else if (auto* download = std::get_if<Download>(&open.what)) {
    if (download->events.on_end) download->events.on_end(why);
  } else if (auto* files = std::get_if<FileListing>(&open.what)) {
    files->reply(why);
  } else if (auto* processes = std::get_if<ProcessListing>(&open.what)) {
    processes->reply(why);
  }
}

// --- asking ----------------------------------------------------------------------------------

template <typename M>
bool Session::Send(std::uint32_t id, const M& message) {
  return !failure_ && AppendMessage(out_, id, message).has_value();
}

template <typename M, typename W>
std::uint32_t Session::Ask(const M& message, std::int64_t timeout_ms, W what) {
  const std::uint32_t id = next_id_++;
  auto open = std::make_unique<Open>(Open{std::move(what), monotonic_ms_() + timeout_ms});
  if (failure_) {
    Close(*open, *failure_);
  } else if (!Send(id, message)) {
    Close(*open, Failure(FailureCode::TooLarge, "a question to the guest is over its bounds"));
  } else {
    open_.emplace(id, std::move(open));
  }
  return id;
}

template <typename T>
T* Session::Find(std::uint32_t id) {
  const auto found = open_.find(id);
  return found == open_.end() ? nullptr : std::get_if<T>(&found->second->what);
}

std::unique_ptr<Session::Open> Session::TakeOpen(std::uint32_t id) {
  const auto found = open_.find(id);
  if (found == open_.end()) return nullptr;
  auto open = std::move(found->second);
  open_.erase(found);
  return open;
}

void Session::AwaitUp(std::int64_t timeout_ms, Reply<Up> reply) {
  if (failure_) return reply(*failure_);
  open_.emplace(0, std::make_unique<Open>(Open{Waiting{Kind::Up, Decoded<Up>(std::move(reply))},
                                               monotonic_ms_() + timeout_ms}));
}

void Session::SendConfigure(const Configure& what, Reply<Unit> reply) {
  Ask(what, AnswerTimeoutMs, Waiting{Kind::Ready, AsUnit(std::move(reply))});
}

void Session::Write(const WriteFile& what, Reply<Unit> reply) {
  Ask(what, AnswerTimeoutMs, Waiting{Kind::Done, AsUnit(std::move(reply))});
}

void Session::NoteDenial(std::string line, Reply<Unit> reply) {
  line.resize(std::min(line.size(), DenialBytesMax));
  std::replace_if(line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  Ask(Denial{std::move(line)}, AnswerTimeoutMs, Waiting{Kind::Done, AsUnit(std::move(reply))});
}

std::uint32_t Session::AskProgram(const Prepare& what, Reply<Prepared> reply) {
  const std::uint32_t id = next_id_;  // the one that Ask will use
  const auto timeout_ms = static_cast<std::int64_t>(what.timeout_ms);
  const auto answer = [this, id, timeout_ms, input = what.input,
                       reply = std::move(reply)](Result<Prepared> prepared) {
    if (prepared && !failure_) {
      Command command;
      command.timeout_ms = timeout_ms;
      command.input_open = input;
      open_.emplace(id, std::make_unique<Open>(Open{std::move(command), std::nullopt}));
    }
    reply(std::move(prepared));
  };
  return Ask(what, AnswerTimeoutMs, Waiting{Kind::Prepared, Decoded<Prepared>(answer)});
}

void Session::Run(std::uint32_t exec, ExecEvents events) {
  Command* command = Find<Command>(exec);
  if (command == nullptr || command->asked_to_run) {
    const Failure why =
        failure_ ? *failure_ : Failure(FailureCode::Usage, "no command is prepared under this id");
    if (events.on_exit) events.on_exit(why);
    return;
  }
  command->events = std::move(events);
  command->asked_to_run = true;
  open_[exec]->deadline_ms = monotonic_ms_() + AnswerTimeoutMs;
  Send(exec, Start{});
}

void Session::Drop(std::uint32_t exec) {
  const Command* command = Find<Command>(exec);
  if (command == nullptr || command->asked_to_run) return;
  open_.erase(exec);
  Send(exec, Discard{});
}

std::size_t Session::InputRoom(std::uint32_t exec) const {
  const auto found = open_.find(exec);
  if (found == open_.end()) return 0;
  const auto* command = std::get_if<Command>(&found->second->what);
  return command != nullptr && command->asked_to_run && command->input_open ? command->input_room
                                                                            : 0;
}

void Session::SendInput(std::uint32_t exec, ByteView data) {
  Command* command = Find<Command>(exec);
  if (command == nullptr) return;
  CURFEW_CHECK(data.size() <= InputRoom(exec), "input is sent within InputRoom");
  command->input_room -= data.size();
  for (std::size_t at = 0; at < data.size(); at += ChunkBytesMax) {
    const ByteView piece = data.subspan(at, std::min(ChunkBytesMax, data.size() - at));
    Send(exec, Input{Bytes(piece.begin(), piece.end())});
  }
}

void Session::SendInputEnd(std::uint32_t exec) {
  Command* command = Find<Command>(exec);
  if (command == nullptr) return;
  command->input_open = false;
  Send(exec, CloseInput{});
}

void Session::Return(std::uint32_t id, Stream stream, Window& window, std::size_t bytes) {
  CURFEW_CHECK(bytes <= window.outstanding, "no more is consumed than was delivered");
  window.outstanding -= bytes;
  window.consumed += bytes;
  if (window.consumed < CreditBatchBytes) return;
  Send(id, Credit{stream, static_cast<std::uint32_t>(window.consumed)});
  window.consumed = 0;
}

void Session::Consumed(std::uint32_t id, Stream stream, std::size_t bytes) {
  if (Command* command = Find<Command>(id)) {
    Return(id, stream, stream == Stream::Out ? command->out : command->error, bytes);
  } else if (Download* download = Find<Download>(id)) {
    Return(id, stream, download->window, bytes);
    if (download->window.outstanding == 0) {
      open_[id]->deadline_ms = monotonic_ms_() + AnswerTimeoutMs;
    }
  }
}

void Session::SendSignal(std::uint32_t exec, int number, Reply<Unit> reply) {
  Ask(Signal{exec, static_cast<std::uint32_t>(number)}, AnswerTimeoutMs,
      Waiting{Kind::Done, AsUnit(std::move(reply))});
}

void Session::ListFiles(const std::vector<std::string>& patterns, Reply<Files> reply) {
  Ask(List{patterns}, AnswerTimeoutMs, FileListing{std::move(reply), {}, 0});
}

std::uint32_t Session::FetchFile(const File& file, FetchEvents events) {
  return Ask(Fetch{file}, AnswerTimeoutMs, Download{std::move(events), file.bytes, {}});
}

void Session::AskProcesses(Reply<Processes> reply) {
  Ask(ListProcesses{}, AnswerTimeoutMs, ProcessListing{std::move(reply), {}});
}

void Session::EndAll(std::int64_t grace_ms, Reply<Processes> reply) {
  Ask(EndProcesses{static_cast<std::uint64_t>(std::max<std::int64_t>(0, grace_ms))},
      EndingTimeoutMs + grace_ms, ProcessListing{std::move(reply), {}});
}

void Session::SendPowerOff() {
  Send(next_id_++, PowerOff{});
  if (!failure_) WriteChannel();
}

// --- answers ---------------------------------------------------------------------------------

Outcome Session::Deliver(const Frame& frame) {
  switch (frame.kind) {
    case Kind::Up:
    case Kind::Ready:
    case Kind::Done:
    case Kind::Prepared:
      return OnAnswer(frame);
    case Kind::Refused:
      return OnRefused(frame);
    case Kind::Started:
      return OnStarted(frame);
    case Kind::Output:
      return OnOutput(frame);
    case Kind::InputCredit:
      return OnInputCredit(frame);
    case Kind::Exited:
      return OnExited(frame);
    case Kind::File:
      return OnFile(frame);
    case Kind::FilesEnd:
      return OnFilesEnd(frame);
    case Kind::Data:
      return OnData(frame);
    case Kind::DataEnd:
      return OnDataEnd(frame);
    case Kind::Process:
      return OnProcess(frame);
    case Kind::ProcessesEnd:
      return OnProcessesEnd(frame);
    case Kind::Configure:
    case Kind::WriteFile:
    case Kind::Prepare:
    case Kind::Start:
    case Kind::Discard:
    case Kind::Input:
    case Kind::CloseInput:
    case Kind::Credit:
    case Kind::Signal:
    case Kind::List:
    case Kind::Fetch:
    case Kind::ListProcesses:
    case Kind::EndProcesses:
    case Kind::PowerOff:
    case Kind::Denial:
      return Unexpected(frame);
  }
  return Unexpected(frame);
}

Outcome Session::OnAnswer(const Frame& frame) {
  const Waiting* waiting = Find<Waiting>(frame.id);
  if (waiting == nullptr || waiting->kind != frame.kind) return Unexpected(frame);
  if (frame.kind == Kind::Up) {
    CURFEW_TRY(const Up up, DecodeMessage<Up>(frame));
    if (up.version != ProtocolVersion) {
      return Failure(FailureCode::Unsupported,
                     fmt::format("the image's agent speaks version {} and not {}; rebuild the "
                                 "image with `./bootstrap build`",
                                 up.version, ProtocolVersion));
    }
  } else if (frame.kind == Kind::Prepared) {
    CURFEW_TRY(const Prepared prepared, DecodeMessage<Prepared>(frame));
    if (!IsPlainPath(prepared.program)) return Unexpected(frame);
  } else if (!frame.payload.empty()) {
    return Unexpected(frame);
  }
  const auto open = TakeOpen(frame.id);
  std::get<Waiting>(open->what).reply(frame);
  return Ok();
}

Outcome Session::OnRefused(const Frame& frame) {
  CURFEW_TRY(const Refused refused, DecodeMessage<Refused>(frame));
  if (const Command* command = Find<Command>(frame.id)) {
    if (!command->asked_to_run || command->started) return Unexpected(frame);
  }
  const auto open = frame.id == 0 ? nullptr : TakeOpen(frame.id);
  if (open == nullptr) return Unexpected(frame);
  Close(*open, Failure(CodeFor(refused.reason), "inside: " + Printable(refused.message)));
  return Ok();
}

Outcome Session::OnStarted(const Frame& frame) {
  Command* command = Find<Command>(frame.id);
  if (command == nullptr || !command->asked_to_run || command->started) return Unexpected(frame);
  CURFEW_TRY(const Started started, DecodeMessage<Started>(frame));
  command->started = true;
  auto& deadline = open_[frame.id]->deadline_ms;
  deadline.reset();
  // The guest ends it in time; the host only waits so much longer.
  if (command->timeout_ms > 0) deadline = monotonic_ms_() + command->timeout_ms + AnswerTimeoutMs;
  if (command->events.on_started) command->events.on_started(started.pid);
  return Ok();
}

Outcome Session::OnOutput(const Frame& frame) {
  Command* command = Find<Command>(frame.id);
  if (command == nullptr || !command->started) return Unexpected(frame);
  CURFEW_TRY(const Output output, DecodeMessage<Output>(frame));
  Window& window = output.stream == Stream::Out ? command->out : command->error;
  window.outstanding += output.data.size();
  if (output.data.empty() || window.outstanding + window.consumed > CreditBytes) {
    return Failure(FailureCode::Malformed, "the guest sent more output than it had credit for");
  }
  if (command->events.on_output) {
    command->events.on_output(output.stream, output.data);
  } else {
    Consumed(frame.id, output.stream, output.data.size());
  }
  return Ok();
}

Outcome Session::OnInputCredit(const Frame& frame) {
  Command* command = Find<Command>(frame.id);
  if (command == nullptr || !command->started) return Unexpected(frame);
  CURFEW_TRY(const InputCredit credit, DecodeMessage<InputCredit>(frame));
  if (credit.bytes > CreditBytes - command->input_room) return Unexpected(frame);
  command->input_room += credit.bytes;
  if (command->events.on_input_room) command->events.on_input_room();
  return Ok();
}

Outcome Session::OnExited(const Frame& frame) {
  const Command* command = Find<Command>(frame.id);
  if (command == nullptr || !command->started) return Unexpected(frame);
  CURFEW_TRY(const Exited exited, DecodeMessage<Exited>(frame));
  const auto open = TakeOpen(frame.id);
  const auto& events = std::get<Command>(open->what).events;
  if (events.on_exit) events.on_exit(exited);
  return Ok();
}

Outcome Session::OnFile(const Frame& frame) {
  FileListing* listing = Find<FileListing>(frame.id);
  if (listing == nullptr || ++listing->received > FilesMax) return Unexpected(frame);
  CURFEW_TRY(File file, DecodeMessage<File>(frame));
  if (!IsPlainPath(file.path)) return Unexpected(frame);
  listing->files.insert_or_assign(file.path, file);
  return Ok();
}

Outcome Session::OnFilesEnd(const Frame& frame) {
  if (Find<FileListing>(frame.id) == nullptr) return Unexpected(frame);
  Files files;
  CURFEW_TRY(files.end, DecodeMessage<FilesEnd>(frame));
  const auto open = TakeOpen(frame.id);
  auto& listing = std::get<FileListing>(open->what);
  for (auto& [path, file] : listing.files) files.files.push_back(std::move(file));
  listing.reply(std::move(files));
  return Ok();
}

Outcome Session::OnData(const Frame& frame) {
  Download* download = Find<Download>(frame.id);
  if (download == nullptr) return Unexpected(frame);
  CURFEW_TRY(const Data data, DecodeMessage<Data>(frame));
  Window& window = download->window;
  window.outstanding += data.data.size();
  if (data.data.empty() || data.data.size() > download->left ||
      window.outstanding + window.consumed > CreditBytes) {
    return Failure(FailureCode::Malformed, "the guest sent more of a file than was asked for");
  }
  download->left -= data.data.size();
  // While the caller is the slow one, the guest has all the time it wants.
  open_[frame.id]->deadline_ms.reset();
  if (download->events.on_data) download->events.on_data(data.data);
  return Ok();
}

Outcome Session::OnDataEnd(const Frame& frame) {
  const Download* download = Find<Download>(frame.id);
  if (download == nullptr || download->left != 0 || !frame.payload.empty()) {
    return Unexpected(frame);
  }
  const auto open = TakeOpen(frame.id);
  const auto& events = std::get<Download>(open->what).events;
  if (events.on_end) events.on_end(Ok());
  return Ok();
}

Outcome Session::OnProcess(const Frame& frame) {
  ProcessListing* listing = Find<ProcessListing>(frame.id);
  if (listing == nullptr || listing->processes.size() >= ProcessesMax) return Unexpected(frame);
  CURFEW_TRY(Process process, DecodeMessage<Process>(frame));
  listing->processes.push_back(std::move(process));
  return Ok();
}

Outcome Session::OnProcessesEnd(const Frame& frame) {
  if (Find<ProcessListing>(frame.id) == nullptr) return Unexpected(frame);
  Processes processes;
  CURFEW_TRY(processes.end, DecodeMessage<ProcessesEnd>(frame));
  const auto open = TakeOpen(frame.id);
  auto& listing = std::get<ProcessListing>(open->what);
  processes.processes = std::move(listing.processes);
  listing.reply(std::move(processes));
  return Ok();
}

}  // namespace curfew::guest
