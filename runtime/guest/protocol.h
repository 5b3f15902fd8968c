// The messages between the host and the agent that is PID 1 inside, shared by both ends. How frames
// are cut is frame.h; how a field is written is codec.h; the host's end as an object is session.h.
//
// Order: the guest sends Up once. The host sends Configure once and gets Ready; from then on it may
// ask anything, several questions at a time. Each question has an id of its own, and is answered by
// exactly one closing message with that id (Done, Refused, Ready, Prepared, FilesEnd, DataEnd,
// ProcessesEnd, Exited), after any number of streamed ones. Output, fetched data and standard input
// flow within credit, so that neither a slow reader nor a loud task grows memory or blocks another
// stream.
#pragma once

#include "compiler/base/result.h"
#include "runtime/guest/codec.h"
#include "runtime/guest/frame.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace curfew::guest {

// Bounds of the protocol, enforced at both ends.
inline constexpr std::size_t ChunkBytesMax = 32 * 1024;   // of Input, Output and Data
inline constexpr std::uint32_t CreditBytes = 256 * 1024;  // first credit of each stream
inline constexpr std::size_t NameBytesMax = 255;          // serials, users, host names
inline constexpr std::size_t GuestPathBytesMax = 4096;
inline constexpr std::size_t ArgumentsMax = 1024;           // of a command
inline constexpr std::size_t ArgumentBytesMax = 64 * 1024;  // of one argument or variable
inline constexpr std::size_t PatternsMax = 64;
inline constexpr std::size_t FilesMax = 16 * 1024;  // in one listing
inline constexpr std::size_t ProcessesMax = 4096;   // in one listing
inline constexpr std::size_t ArgvBytesMax = 1024;   // of a listed process, then cut
inline constexpr std::size_t PortsMax = 64;         // of one listed process
inline constexpr std::size_t ExecsMax = 64;         // alive at once
inline constexpr std::size_t DisksMax = 16;
inline constexpr std::size_t NetworksMax = 1;
inline constexpr std::size_t DenialBytesMax = 1024;  // of one line
inline constexpr std::size_t MessageBytesMax = 1024;
inline constexpr std::size_t WriteFileBytesMax = 128 * 1024;

// --- host to guest -------------------------------------------------------------------------------

struct DiskMount {
  std::string serial;  // of the virtio disk
  std::string path;    // where it is mounted, read and write
  template <typename V>
  void Fields(V& v) {
    v.Text(serial, NameBytesMax);
    v.Text(path, GuestPathBytesMax);
  }
};

// How the guest speaks to its gateway, its one neighbour. Addresses are IPv4, in the order of their
// digits.
struct NetworkSetting {
  std::string mac;  // of the link, as the kernel prints it
  std::uint32_t address = 0;
  std::uint32_t gateway = 0;
  std::uint32_t resolver = 0;
  template <typename V>
  void Fields(V& v) {
    v.Text(mac, NameBytesMax);
    v.Number(address);
    v.Number(gateway);
    v.Number(resolver);
  }
};

// Everything that makes this guest a particular sandbox. A template never got it.
struct Configure {
  static constexpr Kind kind = Kind::Configure;
  std::string host_name;
  std::uint64_t wall_ns = 0;  // since 1970
  Bytes entropy;              // credited in full
  std::vector<DiskMount> disks;
  std::vector<NetworkSetting> networks;  // none where policy allows nothing out
  std::vector<std::string> environment;  // NAME=value, the defaults of every command
  template <typename V>
  void Fields(V& v) {
    v.Text(host_name, NameBytesMax);
    v.Number(wall_ns);
    v.Blob(entropy, 512);
    v.List(disks, DisksMax);
    v.List(networks, NetworksMax);
    v.TextList(environment, ArgumentsMax, ArgumentBytesMax);
  }
};

// Writes a whole file, for the user `agent` unless `root` is set. Folders above it are made.
struct WriteFile {
  static constexpr Kind kind = Kind::WriteFile;
  std::string path;
  std::uint32_t mode = 0400;
  bool root = false;
  Bytes content;
  template <typename V>
  void Fields(V& v) {
    v.Text(path, GuestPathBytesMax);
    v.Number(mode);
    v.Flag(root);
    v.Blob(content, WriteFileBytesMax);
  }
};

// Finds the program of a command and keeps it open: what is judged is what will run.
struct Prepare {
  static constexpr Kind kind = Kind::Prepare;
  std::vector<std::string> arguments;    // the zeroth is looked up as a shell would
  std::vector<std::string> environment;  // NAME=value, over the defaults
  std::string directory;
  std::string user;              // a name of the guest's /etc/passwd
  std::uint64_t timeout_ms = 0;  // from the start; 0 is none
  bool input = false;            // whether standard input is fed; else it is empty
  template <typename V>
  void Fields(V& v) {
    v.TextList(arguments, ArgumentsMax, ArgumentBytesMax);
    v.TextList(environment, ArgumentsMax, ArgumentBytesMax);
    v.Text(directory, GuestPathBytesMax);
    v.Text(user, NameBytesMax);
    v.Number(timeout_ms);
    v.Flag(input);
  }
};

// Runs what was prepared under the same id. It lasts until Exited.
struct Start {
  static constexpr Kind kind = Kind::Start;
  template <typename V>
  void Fields(V&) {}
};

// Forgets what was prepared under the same id. No answer.
struct Discard {
  static constexpr Kind kind = Kind::Discard;
  template <typename V>
  void Fields(V&) {}
};

struct Input {
  static constexpr Kind kind = Kind::Input;
  Bytes data;
  template <typename V>
  void Fields(V& v) {
    v.Blob(data, ChunkBytesMax);
  }
};

struct CloseInput {
  static constexpr Kind kind = Kind::CloseInput;
  template <typename V>
  void Fields(V&) {}
};

enum class Stream : std::uint8_t { Out, Error, File };

// The host has room for `bytes` more of a stream of the same id.
struct Credit {
  static constexpr Kind kind = Kind::Credit;
  Stream stream = Stream::Out;
  std::uint32_t bytes = 0;
  template <typename V>
  void Fields(V& v) {
    v.Choice(stream, Stream::File);
    v.Number(bytes);
  }
};

// Sends a signal to every process of a command (`exec` names it).
struct Signal {
  static constexpr Kind kind = Kind::Signal;
  std::uint32_t exec = 0;
  std::uint32_t number = 0;
  template <typename V>
  void Fields(V& v) {
    v.Number(exec);
    v.Number(number);
  }
};

// Lists what is below the patterns: absolute paths; `*` stays within a segment, `**` is a whole
// one.
struct List {
  static constexpr Kind kind = Kind::List;
  std::vector<std::string> patterns;
  template <typename V>
  void Fields(V& v) {
    v.TextList(patterns, PatternsMax, GuestPathBytesMax);
  }
};

enum class FileKind : std::uint8_t { File, Link, Other };

// A file as it was listed. The identity says whether it is still the same one when it is fetched.
struct File {
  static constexpr Kind kind = Kind::File;
  std::string path;
  FileKind type = FileKind::File;
  std::uint64_t bytes = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t modified_ns = 0;
  template <typename V>
  void Fields(V& v) {
    v.Text(path, GuestPathBytesMax);
    v.Choice(type, FileKind::Other);
    v.Number(bytes);
    v.Number(device);
    v.Number(inode);
    v.Number(modified_ns);
  }
};

// Streams one listed file as Data, then DataEnd; Refused when it is not what was listed any more.
struct Fetch {
  static constexpr Kind kind = Kind::Fetch;
  File file;
  template <typename V>
  void Fields(V& v) {
    file.Fields(v);
  }
};

struct ListProcesses {
  static constexpr Kind kind = Kind::ListProcesses;
  template <typename V>
  void Fields(V&) {}
};

// SIGTERM to everything but the agent, then, after the grace, SIGKILL until nothing is left.
struct EndProcesses {
  static constexpr Kind kind = Kind::EndProcesses;
  std::uint64_t grace_ms = 0;
  template <typename V>
  void Fields(V& v) {
    v.Number(grace_ms);
  }
};

struct PowerOff {
  static constexpr Kind kind = Kind::PowerOff;
  template <typename V>
  void Fields(V&) {}
};

// Something that left the guest was refused: one printable line for /run/curfew/denials.
struct Denial {
  static constexpr Kind kind = Kind::Denial;
  std::string line;
  template <typename V>
  void Fields(V& v) {
    v.Text(line, DenialBytesMax);
  }
};

// --- guest to host -------------------------------------------------------------------------------

// The agent runs, with its root mounted and no tenant's data in it.
struct Up {
  static constexpr Kind kind = Kind::Up;
  std::uint16_t version = ProtocolVersion;
  std::string kernel;           // release
  std::uint64_t kernel_us = 0;  // from the start of the kernel's clock to the agent's first line
  std::uint64_t agent_us = 0;   // from there to this message
  template <typename V>
  void Fields(V& v) {
    v.Number(version);
    v.Text(kernel, NameBytesMax);
    v.Number(kernel_us);
    v.Number(agent_us);
  }
};

struct Ready {
  static constexpr Kind kind = Kind::Ready;
  template <typename V>
  void Fields(V&) {}
};

struct Done {
  static constexpr Kind kind = Kind::Done;
  template <typename V>
  void Fields(V&) {}
};

enum class Refusal : std::uint8_t { Invalid, NotFound, Permission, Changed, TooMany, Failed };

// The question with the same id cannot be answered. The guest goes on.
struct Refused {
  static constexpr Kind kind = Kind::Refused;
  Refusal reason = Refusal::Failed;
  std::string message;
  template <typename V>
  void Fields(V& v) {
    v.Choice(reason, Refusal::Failed);
    v.Text(message, MessageBytesMax);
  }
};

struct Prepared {
  static constexpr Kind kind = Kind::Prepared;
  std::string program;  // absolute, without links: the file that Start will run
  template <typename V>
  void Fields(V& v) {
    v.Text(program, GuestPathBytesMax);
  }
};

struct Started {
  static constexpr Kind kind = Kind::Started;
  std::uint32_t pid = 0;
  template <typename V>
  void Fields(V& v) {
    v.Number(pid);
  }
};

struct Output {
  static constexpr Kind kind = Kind::Output;
  Stream stream = Stream::Out;
  Bytes data;
  template <typename V>
  void Fields(V& v) {
    v.Choice(stream, Stream::Error);
    v.Blob(data, ChunkBytesMax);
  }
};

// The task has read `bytes` of its standard input.
struct InputCredit {
  static constexpr Kind kind = Kind::InputCredit;
  std::uint32_t bytes = 0;
  template <typename V>
  void Fields(V& v) {
    v.Number(bytes);
  }
};

enum class ExitKind : std::uint8_t { Status, Signalled, TimedOut, NotStarted };

// The command's first process is gone and all that it wrote has been sent. What it left running
// lives on, and its further output is dropped.
struct Exited {
  static constexpr Kind kind = Kind::Exited;
  ExitKind how = ExitKind::Status;
  std::uint32_t value = 0;  // exit status, signal, or errno
  std::uint64_t user_us = 0;
  std::uint64_t system_us = 0;
  template <typename V>
  void Fields(V& v) {
    v.Choice(how, ExitKind::NotStarted);
    v.Number(value);
    v.Number(user_us);
    v.Number(system_us);
  }
};

struct FilesEnd {
  static constexpr Kind kind = Kind::FilesEnd;
  bool truncated = false;        // there are more than FilesMax
  std::uint32_t unreadable = 0;  // folders that could not be read
  template <typename V>
  void Fields(V& v) {
    v.Flag(truncated);
    v.Number(unreadable);
  }
};

struct Data {
  static constexpr Kind kind = Kind::Data;
  Bytes data;
  template <typename V>
  void Fields(V& v) {
    v.Blob(data, ChunkBytesMax);
  }
};

struct DataEnd {
  static constexpr Kind kind = Kind::DataEnd;
  template <typename V>
  void Fields(V&) {}
};

struct ListeningPort {
  bool udp = false;
  bool any_address = false;  // not only loopback
  std::uint16_t port = 0;
  template <typename V>
  void Fields(V& v) {
    v.Flag(udp);
    v.Flag(any_address);
    v.Number(port);
  }
};

enum class ProcessEnd : std::uint8_t { Running, Ended, Killed, Survived };

struct Process {
  static constexpr Kind kind = Kind::Process;
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;
  std::uint32_t uid = 0;
  std::uint32_t exec = 0;         // id of the command that it descends from; 0 if none
  std::uint64_t start_ticks = 0;  // since boot, in 1/100 s
  std::uint8_t state = 0;         // as /proc shows it: R S D T Z …
  std::string argv;               // separated by NUL; a kernel name in brackets when there is none
  bool argv_cut = false;
  std::vector<ListeningPort> ports;
  ProcessEnd end = ProcessEnd::Running;  // set in the answer to EndProcesses
  template <typename V>
  void Fields(V& v) {
    v.Number(pid);
    v.Number(parent);
    v.Number(uid);
    v.Number(exec);
    v.Number(start_ticks);
    v.Number(state);
    v.Text(argv, ArgvBytesMax);
    v.Flag(argv_cut);
    v.List(ports, PortsMax);
    v.Choice(end, ProcessEnd::Survived);
  }
};

struct ProcessesEnd {
  static constexpr Kind kind = Kind::ProcessesEnd;
  std::uint32_t seen = 0;       // more than were sent when there are more than ProcessesMax
  std::uint32_t remaining = 0;  // after EndProcesses: what even SIGKILL did not end
  template <typename V>
  void Fields(V& v) {
    v.Number(seen);
    v.Number(remaining);
  }
};

// --- both ends -----------------------------------------------------------------------------------

// Appends a frame with `message` to `out`. TooLarge when a field is over its bound; `out` is then
// unchanged.
template <typename M>
Outcome AppendMessage(Bytes& out, std::uint32_t id, const M& message) {
  Encoder encoder;
  const_cast<M&>(message).Fields(encoder);
  if (!encoder.ok() || encoder.bytes().size() > FramePayloadBytesMax) {
    return Failure(FailureCode::TooLarge, "a field is over its bound in the guest protocol");
  }
  AppendFrame(out, M::kind, id, encoder.bytes());
  return Ok();
}

// The message of a frame whose kind is M's. Malformed when the payload is not exactly one.
template <typename M>
Result<M> DecodeMessage(const Frame& frame) {
  M message;
  Decoder decoder(frame.payload);
  message.Fields(decoder);
  if (frame.kind != M::kind || !decoder.Finished()) {
    return Failure(FailureCode::Malformed, "malformed message of kind " +
                                               std::to_string(static_cast<unsigned>(frame.kind)) +
                                               " in the guest protocol");
  }
  return message;
}

}  // namespace curfew::guest
