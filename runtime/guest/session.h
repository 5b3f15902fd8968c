// The host's end of the conversation with the agent inside. It belongs to one poll loop: nothing
// blocks, every answer comes through a function that the caller gave, on the loop's thread. The
// guest is taken for hostile: every frame is bounded and must be the answer to something that was
// asked. One frame that is not ends the session, and every open question gets that failure.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "runtime/guest/protocol.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace curfew::guest {

template <typename T>
using Reply = std::function<void(Result<T>)>;

struct Files {
  std::vector<File> files;  // sorted by path, each once
  FilesEnd end;
};

struct Processes {
  std::vector<Process> processes;
  ProcessesEnd end;
};

// What happens to a running command. Any of them may be empty.
struct ExecEvents {
  std::function<void(std::uint32_t pid)> on_started;
  // The view ends with the call. The bytes count against the stream's credit until Consumed.
  std::function<void(Stream, ByteView)> on_output;
  // Room for standard input has grown (see InputRoom).
  std::function<void()> on_input_room;
  // The last event. A Failure: refused, or the session ended.
  std::function<void(Result<Exited>)> on_exit;
};

struct FetchEvents {
  std::function<void(ByteView)> on_data;  // counts against credit until Consumed(id, Stream::File)
  // The last event. Ok: exactly the announced number of bytes came, and the file did not change.
  std::function<void(Outcome)> on_end;
};

class Session {
 public:
  // `channel` is one end of a stream socket; it is made non-blocking. `monotonic_ms` is the clock
  // of the deadlines.
  Session(OwnedFd channel, std::function<std::int64_t()> monotonic_ms);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // --- the poll loop ---
  [[nodiscard]] int fd() const { return channel_.get(); }
  // What to poll for: POLLIN, and POLLOUT while something waits to be sent. 0 after the end.
  [[nodiscard]] short events() const;
  // Reads and writes what can be without blocking, and delivers what came. Functions that it calls
  // may ask further questions, but must not destroy the session.
  void OnReady();
  // When OnTime must be called, at the latest; nothing when nothing is open.
  [[nodiscard]] std::optional<std::int64_t> deadline_ms() const;
  // Ends the session when an answer is overdue (TimedOut).
  void OnTime();
  // Why the session ended, if it did. It never comes back.
  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }
  // Ends it from this side; every open question gets `why`.
  void End(Failure why);

  // --- questions ---
  // Waits for Up. Asked first.
  void AwaitUp(std::int64_t timeout_ms, Reply<Up> reply);
  // Asked second, once.
  void SendConfigure(const Configure& what, Reply<Unit> reply);

  void Write(const WriteFile& what, Reply<Unit> reply);
  // A line for /run/curfew/denials. What is not printable in it is shown as `?`, and what is over
  // DenialBytesMax is cut.
  void NoteDenial(std::string line, Reply<Unit> reply);

  // Asks which file a command would run. The id is the command's from here on; it must be followed
  // by Run or Drop when the reply is a value, and is void when it is a Failure (NotFound: there is
  // no such program or user; PermissionDenied: not executable by that user).
  std::uint32_t AskProgram(const Prepare& what, Reply<Prepared> reply);
  void Run(std::uint32_t exec, ExecEvents events);
  void Drop(std::uint32_t exec);

  // How many bytes SendInput takes now.
  [[nodiscard]] std::size_t InputRoom(std::uint32_t exec) const;
  // At most InputRoom bytes. After the command's end: nothing happens.
  void SendInput(std::uint32_t exec, ByteView data);
  void SendInputEnd(std::uint32_t exec);
  // The caller is done with `bytes` of a stream; the guest may send as many more.
  void Consumed(std::uint32_t id, Stream stream, std::size_t bytes);
  void SendSignal(std::uint32_t exec, int number, Reply<Unit> reply);

  void ListFiles(const std::vector<std::string>& patterns, Reply<Files> reply);
  // The id is for Consumed.
  std::uint32_t FetchFile(const File& file, FetchEvents events);

  void AskProcesses(Reply<Processes> reply);
  // The answer names everything that ran when it was asked, and what became of it.
  void EndAll(std::int64_t grace_ms, Reply<Processes> reply);
  // No answer: the machine goes off.
  void SendPowerOff();

 private:
  // What can be open under an id; each with the function that closes it.
  struct Waiting {  // for Up, Ready, Done or Prepared
    Kind kind;
    std::function<void(Result<Frame>)> reply;
  };
  struct Window {                 // a stream that flows within credit
    std::size_t outstanding = 0;  // delivered, and not consumed
    std::size_t consumed = 0;     // and not yet told to the guest
  };
  struct Command {
    ExecEvents events;
    std::int64_t timeout_ms = 0;
    bool asked_to_run = false;
    bool started = false;
    Window out;
    Window error;
    bool input_open = false;
    std::size_t input_room = CreditBytes;  // what the guest has not got or has taken in
  };
  struct Download {
    FetchEvents events;
    std::uint64_t left = 0;
    Window window;
  };
  struct FileListing {
    Reply<Files> reply;
    std::map<std::string, File> files;
    std::size_t received = 0;
  };
  struct ProcessListing {
    Reply<Processes> reply;
    std::vector<Process> processes;
  };
  struct Open {
    std::variant<Waiting, Command, Download, FileListing, ProcessListing> what;
    std::optional<std::int64_t> deadline_ms;
  };

  template <typename M>
  bool Send(std::uint32_t id, const M& message);
  template <typename M, typename W>
  std::uint32_t Ask(const M& message, std::int64_t timeout_ms, W what);
  template <typename T>
  T* Find(std::uint32_t id);
  std::unique_ptr<Open> TakeOpen(std::uint32_t id);
  static void Close(Open& open, const Failure& why);
  void Return(std::uint32_t id, Stream stream, Window& window, std::size_t bytes);

  // Each returns a Failure when the frame is not what may come now.
  Outcome Deliver(const Frame& frame);
  Outcome OnAnswer(const Frame& frame);
  Outcome OnRefused(const Frame& frame);
  Outcome OnStarted(const Frame& frame);
  Outcome OnOutput(const Frame& frame);
  Outcome OnInputCredit(const Frame& frame);
  Outcome OnExited(const Frame& frame);
  Outcome OnFile(const Frame& frame);
  Outcome OnFilesEnd(const Frame& frame);
  Outcome OnData(const Frame& frame);
  Outcome OnDataEnd(const Frame& frame);
  Outcome OnProcess(const Frame& frame);
  Outcome OnProcessesEnd(const Frame& frame);
  void ReadChannel();
  void WriteChannel();

  OwnedFd channel_;
  std::function<std::int64_t()> monotonic_ms_;
  FrameReader reader_;
  Bytes out_;
  std::size_t out_start_ = 0;
  std::uint32_t next_id_ = 1;
  std::map<std::uint32_t, std::unique_ptr<Open>> open_;
  std::map<std::uint32_t, std::unique_ptr<Open>> closed_;  // by End, perhaps from within one
  std::optional<Failure> failure_;
};

}  // namespace curfew::guest
