// What a keeper and the command that started it say to each other: one packet a message of a
// MessageSocket. A packet is a kind, an id (of a command or an export; 0 otherwise) and a payload:
// canonical JSON for all but Input and Output, which are bytes. Strict at both ends: what cannot be
// read ends the connection.
//
// Order: the first packet is Create. The keeper tells every Step, and answers with Decided; then
// Ready, or Failed and Closed. From Ready on the other side asks for what it likes, several things
// at a time; Ending says that authority is over (exports may still finish); Closed is the last.
#pragma once

#include "compiler/base/incarnation.h"
#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "runtime/evidence/canonical_json.h"
#include "runtime/gate/permit.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::keeper {

using evidence::Json;

inline constexpr int ProtocolVersion = 2;
inline constexpr std::size_t OutputChunkBytes = 32 * 1024;
inline constexpr std::size_t InputChunkBytes = 32 * 1024;
inline constexpr std::size_t ExportPatternsMax = 64;

enum class Kind : std::uint8_t {
// To the keeper.
#define CURFEW_VERB(name, number, action) name = number,
#define CURFEW_UNJUDGED(name, number, reason) name = number,
#include "runtime/keeper/verbs.def"
  // From the keeper.
  Step = 64,
  Decided = 65,
  Ready = 66,
  Started = 67,
  Output = 68,
  InputRoom = 69,
  Exited = 70,
  Exported = 71,
  ExportEnd = 72,
  Ending = 73,
  Closed = 74,
  Failed = 75,
  Reloaded = 76,
};

struct Packet {
  Kind kind = Kind::Close;
  std::uint32_t id = 0;
  Bytes payload;
};
Bytes EncodePacket(Kind kind, std::uint32_t id, ByteView payload);
Result<Packet> DecodePacket(ByteView bytes);

// --- to the keeper -------------------------------------------------------------------------------

// A policy set as the descriptors of a message hand it over: its sealed module, and the sealed
// image of that module's native code, or why there is none.
struct HandedPolicy {
  OwnedFd module;
  OwnedFd native_code;
  std::string no_native_code;
};

// Whom the request is for, where root says so; else the caller is the peer of the socket.
struct StatedCaller {
  std::string id;
  std::string caller_kind;  // human, service, agent
  std::vector<std::string> groups;
};

// With two descriptors: the sealed module, and the folder for exports. Behind them the sealed image
// of the module's native code, unless `no_native_code` says why there is none, and the network
// namespace to dial from, where `dials_elsewhere` says so.
struct CreateMessage {
  static constexpr Kind kind = Kind::Create;
  int version = ProtocolVersion;
  Incarnation sandbox;
  std::string state;            // the state directory
  std::string image_directory;  // holds the image that the request names by digest
  std::uint64_t generation = 1;
  Json request;  // as compiler/module/request_json.h reads it from a caller
  std::optional<StatedCaller> caller;
  std::string no_native_code;
  bool dials_elsewhere = false;
  std::vector<std::string> resolvers;  // to ask for allowed names; empty: those of this host
  Json ToJson() const;
  static Result<CreateMessage> FromJson(const JsonValue& json);
};

struct ExecMessage {
  static constexpr Kind kind = Kind::Exec;
  std::vector<std::string> argv;
  std::vector<std::string> env;
  std::string cwd = "/work";
  std::string user = "agent";
  std::uint64_t timeout_ms = 0;  // 0: none but the sandbox's own end
  bool background = false;
  bool input = false;
  Json ToJson() const;
  static Result<ExecMessage> FromJson(const JsonValue& json);
};

struct SignalMessage {
  static constexpr Kind kind = Kind::Signal;
  int number = 0;
  Json ToJson() const;
  static Result<SignalMessage> FromJson(const JsonValue& json);
};

struct ExportMessage {
  static constexpr Kind kind = Kind::Export;
  std::vector<std::string> patterns;
  Json ToJson() const;
  static Result<ExportMessage> FromJson(const JsonValue& json);
};

struct CloseMessage {
  static constexpr Kind kind = Kind::Close;
  std::string reason;  // "done", "interrupted", …
  std::optional<int> status;
  bool hurry = false;  // no grace for what still runs
  Json ToJson() const;
  static Result<CloseMessage> FromJson(const JsonValue& json);
};

// With the descriptor of the sealed module, and that of its native code, unless
// `no_native_code` says why there is none. Not on the connection of whoever started the sandbox,
// but on one of its own, which Reloaded ends.
struct ReloadMessage {
  static constexpr Kind kind = Kind::Reload;
  int version = ProtocolVersion;
  Incarnation sandbox;
  std::string no_native_code;
  Json ToJson() const;
  static Result<ReloadMessage> FromJson(const JsonValue& json);
};

// --- from the keeper -----------------------------------------------------------------------------

struct StepMessage {
  static constexpr Kind kind = Kind::Step;
  std::string name;
  std::string detail;
  bool done = false;
  Json ToJson() const;
  static Result<StepMessage> FromJson(const JsonValue& json);
};

// The gate's answer. For an export: to the file `subject`.
struct DecidedMessage {
  static constexpr Kind kind = Kind::Decided;
  std::string action;
  bool allowed = false;
  std::string subject;
  std::string class_name;
  std::vector<gate::Reason> reasons;
  Json ToJson() const;
  static Result<DecidedMessage> FromJson(const JsonValue& json);
};

struct ReadyMessage {
  static constexpr Kind kind = Kind::Ready;
  std::string isolation;
  std::string engine;            // that decides: native, interpreter
  std::string why_not_native;    // empty where it is native; not needed, or not to be had
  std::int64_t deadline_ms = 0;  // wall
  std::int64_t boot_ms = 0;
  Json ToJson() const;
  static Result<ReadyMessage> FromJson(const JsonValue& json);
};

struct StartedMessage {
  static constexpr Kind kind = Kind::Started;
  std::string program;
  Json ToJson() const;
  static Result<StartedMessage> FromJson(const JsonValue& json);
};

struct InputRoomMessage {
  static constexpr Kind kind = Kind::InputRoom;
  std::uint64_t bytes = 0;  // more than before
  Json ToJson() const;
  static Result<InputRoomMessage> FromJson(const JsonValue& json);
};

struct ExitedMessage {
  static constexpr Kind kind = Kind::Exited;
  std::optional<int> status;
  std::optional<int> signal;
  bool timed_out = false;
  std::string failure;  // it did not run, or nobody knows how it ended
  Json ToJson() const;
  static Result<ExitedMessage> FromJson(const JsonValue& json);
};

struct ExportedMessage {
  static constexpr Kind kind = Kind::Exported;
  std::string path;  // inside
  std::string name;  // in the folder
  std::uint64_t bytes = 0;
  std::string digest;   // empty when it failed
  std::string failure;  // of the transfer; a denial is Decided
  Json ToJson() const;
  static Result<ExportedMessage> FromJson(const JsonValue& json);
};

struct ExportEndMessage {
  static constexpr Kind kind = Kind::ExportEnd;
  std::uint64_t files = 0;
  std::string failure;  // the listing failed or is not whole
  Json ToJson() const;
  static Result<ExportEndMessage> FromJson(const JsonValue& json);
};

enum class EndingWhy { Deadline, Idle, MachineLost, Terminated, ClassGone };
std::string_view NameOf(EndingWhy why);
struct EndingMessage {
  static constexpr Kind kind = Kind::Ending;
  EndingWhy why = EndingWhy::Deadline;
  std::string detail;
  Json ToJson() const;
  static Result<EndingMessage> FromJson(const JsonValue& json);
};

struct ClosedMessage {
  static constexpr Kind kind = Kind::Closed;
  std::string cleanness;
  std::string failure;  // the books could not be closed; a sweep will
  Json ToJson() const;
  static Result<ClosedMessage> FromJson(const JsonValue& json);
};

struct FailedMessage {
  static constexpr Kind kind = Kind::Failed;
  std::string code;
  std::string message;
  Json ToJson() const;
  static Result<FailedMessage> FromJson(const JsonValue& json);
};

struct ReloadedMessage {
  static constexpr Kind kind = Kind::Reloaded;
  std::uint64_t generation = 0;  // that is in force now
  std::string engine;            // that decides now, as in ReadyMessage
  std::string why_not_native;
  std::uint64_t flows_cut = 0;
  bool closes = false;  // the new set does not have the sandbox's class
  std::string failure;  // nothing has changed, and why
  Json ToJson() const;
  static Result<ReloadedMessage> FromJson(const JsonValue& json);
};

template <typename M>
Result<Bytes> EncodeMessage(std::uint32_t id, const M& message) {
  CURFEW_TRY(const std::string text, evidence::Canonical(message.ToJson()));
  return EncodePacket(M::kind, id, AsBytes(text));
}

template <typename M>
Result<M> DecodeMessage(const Packet& packet) {
  if (packet.kind != M::kind) {
    return Failure(FailureCode::Malformed, "a packet of another kind than was expected");
  }
  CURFEW_TRY(const JsonValue json, evidence::ParseCanonical(AsText(packet.payload)));
  return M::FromJson(json);
}

}  // namespace curfew::keeper
