#include "runtime/keeper/protocol.h"

#include "runtime/host/linux/message_socket.h"

#include <algorithm>

namespace curfew::keeper {

using evidence::ObjectReader;

namespace {

constexpr std::size_t PacketHeaderBytes = 5;

bool IsKind(std::uint8_t number) {
  switch (static_cast<Kind>(number)) {
#define CURFEW_VERB(name, number, action) case Kind::name:
#define CURFEW_UNJUDGED(name, number, reason) case Kind::name:
#include "runtime/keeper/verbs.def"
    case Kind::Step:
    case Kind::Decided:
    case Kind::Ready:
    case Kind::Started:
    case Kind::Output:
    case Kind::InputRoom:
    case Kind::Exited:
    case Kind::Exported:
    case Kind::ExportEnd:
    case Kind::Ending:
    case Kind::Reloaded:
    case Kind::Closed:
    case Kind::Failed:
      return true;
  }
  return false;
}

std::optional<int> OptionalInt(ObjectReader& reader, const char* key) {
  const std::optional<std::int64_t> value = reader.OptionalInteger(key);
  if (!value) return std::nullopt;
  if (*value < INT32_MIN || *value > INT32_MAX) {
    reader.Refuse(std::string(key) + " is out of range");
  }
  return static_cast<int>(*value);
}

// The value, once every field was there and nothing else.
template <typename M>
Result<M> Finished(ObjectReader& reader, M message) {
  CURFEW_TRY_VOID(reader.Finish());
  return message;
}

}  // namespace

Bytes EncodePacket(Kind kind, std::uint32_t id, ByteView payload) {
  Bytes bytes = {static_cast<std::uint8_t>(kind)};
  for (int shift = 0; shift < 32; shift += 8) {
    bytes.push_back(static_cast<std::uint8_t>(id >> shift));
  }
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

Result<Packet> DecodePacket(ByteView bytes) {
  if (bytes.size() < PacketHeaderBytes || bytes.size() > host::MessageBytesMax ||
      !IsKind(bytes[0])) {
    return Failure(FailureCode::Malformed, "a packet on the control socket is none");
  }
  Packet packet{.kind = static_cast<Kind>(bytes[0]), .id = 0, .payload = {}};
  for (unsigned i = 0; i < 4; ++i) packet.id |= std::uint32_t{bytes[1 + i]} << (8 * i);
  packet.payload.assign(bytes.begin() + PacketHeaderBytes, bytes.end());
  return packet;
}

Json CreateMessage::ToJson() const {
  Json json = {{"version", version},
               {"sandbox", sandbox.id},
               {"nonce", sandbox.nonce},
               {"state", state},
               {"image_directory", image_directory},
               {"generation", generation},
               {"request", request},
               {"no_native_code", no_native_code},
               {"dials_elsewhere", dials_elsewhere},
               {"resolvers", resolvers}};
  if (caller) {
    json["caller"] = {
        {"id", caller->id}, {"kind", caller->caller_kind}, {"groups", caller->groups}};
  }
  return json;
}

Result<CreateMessage> CreateMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "the message to create");
  CreateMessage message;
  if (reader.Integer("version") != ProtocolVersion) {
    reader.Refuse("the command and the keeper are of different versions");
  }
  message.sandbox = {.id = reader.Text("sandbox"), .nonce = reader.Text("nonce")};
  if (!IsSandboxId(message.sandbox.id) || !IsNonce(message.sandbox.nonce)) {
    reader.Refuse("the sandbox has no id");
  }
  message.state = reader.Text("state");
  message.image_directory = reader.Text("image_directory");
  message.generation = reader.Count("generation");
  message.request = evidence::JsonOf(reader.Object("request"));
  message.no_native_code = reader.Text("no_native_code");
  message.dials_elsewhere = reader.Flag("dials_elsewhere");
  message.resolvers = reader.Texts("resolvers");
  if (json.Find("caller") != nullptr) {
    ObjectReader who(reader.Object("caller"), "the stated caller");
    message.caller = StatedCaller{
        .id = who.Text("id"), .caller_kind = who.Text("kind"), .groups = who.Texts("groups")};
    CURFEW_TRY_VOID(who.Finish());
  }
  return Finished(reader, std::move(message));
}

Json ExecMessage::ToJson() const {
  return {{"argv", argv},
          {"env", env},
          {"cwd", cwd},
          {"user", user},
          {"timeout_ms", timeout_ms},
          {"background", background},
          {"input", input}};
}

Result<ExecMessage> ExecMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "the message to run a command");
  ExecMessage message;
  message.argv = reader.Texts("argv");
  if (message.argv.empty()) reader.Refuse("a command has no arguments");
  message.env = reader.Texts("env");
  message.cwd = reader.Text("cwd");
  message.user = reader.Text("user");
  message.timeout_ms = reader.Count("timeout_ms");
  message.background = reader.Flag("background");
  message.input = reader.Flag("input");
  return Finished(reader, std::move(message));
}

Json SignalMessage::ToJson() const { return {{"number", number}}; }

Result<SignalMessage> SignalMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "the message to signal");
  const std::int64_t number = reader.Integer("number");
  if (number < 1 || number > 31) reader.Refuse("there is no such signal");
  return Finished(reader, SignalMessage{.number = static_cast<int>(number)});
}

Json ExportMessage::ToJson() const { return {{"patterns", patterns}}; }

Result<ExportMessage> ExportMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "the message to export");
  ExportMessage message{.patterns = reader.Texts("patterns")};
  return Finished(reader, std::move(message));
}

Json CloseMessage::ToJson() const {
  Json json = {{"reason", reason}, {"hurry", hurry}};
  if (status) json["status"] = *status;
  return json;
}

Result<CloseMessage> CloseMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "the message to close");
  CloseMessage message{.reason = reader.Text("reason"),
                       .status = OptionalInt(reader, "status"),
                       .hurry = reader.Flag("hurry")};
  return Finished(reader, std::move(message));
}

Json ReloadMessage::ToJson() const {
  return {{"version", version},
          {"sandbox", sandbox.id},
          {"nonce", sandbox.nonce},
          {"no_native_code", no_native_code}};
}

Result<ReloadMessage> ReloadMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "the message to reload");
  if (reader.Integer("version") != ProtocolVersion) {
    reader.Refuse("the command and the keeper are of different versions");
  }
  ReloadMessage message;
  message.sandbox = {.id = reader.Text("sandbox"), .nonce = reader.Text("nonce")};
  message.no_native_code = reader.Text("no_native_code");
  return Finished(reader, std::move(message));
}

Json StepMessage::ToJson() const { return {{"name", name}, {"detail", detail}, {"done", done}}; }

Result<StepMessage> StepMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "a step");
  StepMessage message{
      .name = reader.Text("name"), .detail = reader.Text("detail"), .done = reader.Flag("done")};
  return Finished(reader, std::move(message));
}

Json DecidedMessage::ToJson() const {
  Json list = Json::array();
  for (const gate::Reason& reason : reasons) {
    list.push_back({{"id", reason.id},
                    {"message", reason.message},
                    {"file", reason.file},
                    {"line", reason.line}});
  }
  return {{"action", action},
          {"allowed", allowed},
          {"subject", subject},
          {"class", class_name},
          {"reasons", std::move(list)}};
}

Result<DecidedMessage> DecidedMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "a decision");
  DecidedMessage message{.action = reader.Text("action"),
                         .allowed = reader.Flag("allowed"),
                         .subject = reader.Text("subject"),
                         .class_name = reader.Text("class"),
                         .reasons = {}};
  for (const JsonValue& item : reader.Array("reasons").items) {
    ObjectReader inner(item, "a reason");
    message.reasons.push_back({.id = inner.Text("id"),
                               .message = inner.Text("message"),
                               .file = inner.Text("file"),
                               .line = static_cast<std::uint32_t>(inner.Count("line"))});
    CURFEW_TRY_VOID(inner.Finish());
  }
  return Finished(reader, std::move(message));
}

Json ReadyMessage::ToJson() const {
  return {{"isolation", isolation},
          {"engine", engine},
          {"why_not_native", why_not_native},
          {"deadline_ms", deadline_ms},
          {"boot_ms", boot_ms}};
}

Result<ReadyMessage> ReadyMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "the sandbox's readiness");
  ReadyMessage message{.isolation = reader.Text("isolation"),
                       .engine = reader.Text("engine"),
                       .why_not_native = reader.Text("why_not_native"),
                       .deadline_ms = reader.Integer("deadline_ms"),
                       .boot_ms = reader.Integer("boot_ms")};
  return Finished(reader, std::move(message));
}

Json StartedMessage::ToJson() const { return {{"program", program}}; }

Result<StartedMessage> StartedMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "the start of a command");
  StartedMessage message{.program = reader.Text("program")};
  return Finished(reader, std::move(message));
}

Json InputRoomMessage::ToJson() const { return {{"bytes", bytes}}; }

Result<InputRoomMessage> InputRoomMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "room for input");
  return Finished(reader, InputRoomMessage{.bytes = reader.Count("bytes")});
}

Json ExitedMessage::ToJson() const {
  Json json = {{"timed_out", timed_out}, {"failure", failure}};
  if (status) json["status"] = *status;
  if (signal) json["signal"] = *signal;
  return json;
}

Result<ExitedMessage> ExitedMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "the end of a command");
  ExitedMessage message{.status = OptionalInt(reader, "status"),
                        .signal = OptionalInt(reader, "signal"),
                        .timed_out = reader.Flag("timed_out"),
                        .failure = reader.Text("failure")};
  return Finished(reader, std::move(message));
}

Json ExportedMessage::ToJson() const {
  return {
      {"path", path}, {"name", name}, {"bytes", bytes}, {"digest", digest}, {"failure", failure}};
}

Result<ExportedMessage> ExportedMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "an export");
  ExportedMessage message{.path = reader.Text("path"),
                          .name = reader.Text("name"),
                          .bytes = reader.Count("bytes"),
                          .digest = reader.Text("digest"),
                          .failure = reader.Text("failure")};
  return Finished(reader, std::move(message));
}

Json ExportEndMessage::ToJson() const { return {{"files", files}, {"failure", failure}}; }

Result<ExportEndMessage> ExportEndMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "the end of an export");
  ExportEndMessage message{.files = reader.Count("files"), .failure = reader.Text("failure")};
  return Finished(reader, std::move(message));
}

std::string_view NameOf(EndingWhy why) {
  switch (why) {
    case EndingWhy::Deadline:
      return "deadline";
    case EndingWhy::Idle:
      return "idle";
    case EndingWhy::MachineLost:
      return "machine lost";
    case EndingWhy::Terminated:
      return "terminated";
    case EndingWhy::ClassGone:
      return "class.gone";
  }
  return "?";
}

Json EndingMessage::ToJson() const {
  return {{"why", std::string(NameOf(why))}, {"detail", detail}};
}

Result<EndingMessage> EndingMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "the end of authority");
  const std::string name = reader.Text("why");
  EndingMessage message{.why = EndingWhy::Deadline, .detail = reader.Text("detail")};
  bool known = false;
  for (const EndingWhy why : {EndingWhy::Deadline, EndingWhy::Idle, EndingWhy::MachineLost,
                              EndingWhy::Terminated, EndingWhy::ClassGone}) {
    if (NameOf(why) != name) continue;
    message.why = why;
    known = true;
  }
  if (!known) reader.Refuse("authority ended for a reason that is none");
  return Finished(reader, std::move(message));
}

Json ClosedMessage::ToJson() const { return {{"cleanness", cleanness}, {"failure", failure}}; }

Result<ClosedMessage> ClosedMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "the end of the sandbox");
  ClosedMessage message{.cleanness = reader.Text("cleanness"), .failure = reader.Text("failure")};
  return Finished(reader, std::move(message));
}

Json FailedMessage::ToJson() const { return {{"code", code}, {"message", message}}; }

Result<FailedMessage> FailedMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "a failure");
  FailedMessage message{.code = reader.Text("code"), .message = reader.Text("message")};
  return Finished(reader, std::move(message));
}

Json ReloadedMessage::ToJson() const {
  return {{"generation", generation}, {"engine", engine}, {"why_not_native", why_not_native},
          {"flows_cut", flows_cut},   {"closes", closes}, {"failure", failure}};
}

Result<ReloadedMessage> ReloadedMessage::FromJson(const JsonValue& json) {
  ObjectReader reader(json, "the answer to a reload");
  ReloadedMessage message{.generation = reader.Count("generation"),
                          .engine = reader.Text("engine"),
                          .why_not_native = reader.Text("why_not_native"),
                          .flows_cut = reader.Count("flows_cut"),
                          .closes = reader.Flag("closes"),
                          .failure = reader.Text("failure")};
  return Finished(reader, std::move(message));
}

}  // namespace curfew::keeper
