#include "runtime/egress/client_hello.h"

#include "compiler/values/host.h"

#include <bitset>
#include <optional>

#include <fmt/format.h>

namespace curfew::egress {
namespace {

constexpr std::uint8_t kHandshakeRecord = 22;
constexpr std::uint8_t kClientHello = 1;
constexpr std::size_t kRecordHeaderBytes = 5;
constexpr std::size_t kRecordBytesMax = 16 * 1024;
constexpr std::size_t kMessageHeaderBytes = 4;
constexpr std::uint16_t kServerName = 0;
constexpr std::uint16_t kEncryptedHello = 0xfe0d;
constexpr std::uint16_t kEncryptedServerName = 0xffce;  // the draft before it

HelloReading Refuse(Alert alert, std::string reason) {
  HelloReading reading;
  reading.state = HelloReading::State::Refused;
  reading.alert = alert;
  reading.reason = std::move(reason);
  return reading;
}

HelloReading Malformed(std::string_view what) {
  return Refuse(Alert::DecodeError, fmt::format("the ClientHello is malformed: {}", what));
}

HelloReading NeedMore(std::size_t bytes) {
  HelloReading reading;
  reading.needed = bytes;
  return reading;
}

// Reads forward within its bytes. After a failure everything is empty and `failed` stays set.
class Reader {
 public:
  explicit Reader(ByteView bytes) : rest_(bytes) {}
  ByteView Take(std::size_t size) {
    if (rest_.size() < size) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const ByteView taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  // A big-endian number of so many bytes.
  std::size_t Number(std::size_t bytes) {
    std::size_t number = 0;
    for (const std::uint8_t byte : Take(bytes)) number = number << 8 | byte;
    return number;
  }
  // A vector with its length in front.
  ByteView Vector(std::size_t length_bytes) { return Take(Number(length_bytes)); }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool is_empty() const { return rest_.empty(); }

 private:
  ByteView rest_;
  bool failed_ = false;
};

// One name, and only of the one kind that there is.
HelloReading ReadServerName(ByteView body) {
  Reader in(body);
  Reader list(in.Vector(2));
  if (in.failed() || !in.is_empty() || list.is_empty()) return Malformed("its server name");
  const std::size_t kind = list.Number(1);
  const ByteView name = list.Vector(2);
  if (list.failed() || name.empty()) return Malformed("its server name");
  if (kind != 0) return Malformed("its server name is of an unknown kind");
  if (!list.is_empty()) {
    return Refuse(Alert::UnrecognizedName, "the ClientHello names more than one server");
  }
  const std::string_view text = AsText(name);
  auto host = values::ParseHost(text);
  if (!host) {
    return Refuse(Alert::UnrecognizedName,
                  "the server name of the ClientHello is no host: " + host.error().message);
  }
  if (text.ends_with('.')) {
    return Refuse(Alert::UnrecognizedName,
                  "the server name of the ClientHello ends in a dot, which no server expects");
  }
  HelloReading reading;
  reading.state = HelloReading::State::Complete;
  reading.name = *std::move(host);
  return reading;
}

HelloReading ReadExtensions(ByteView bytes) {
  Reader in(bytes);
  std::bitset<65536> seen;
  HelloReading reading;
  reading.state = HelloReading::State::Complete;
  while (!in.is_empty()) {
    const std::size_t kind = in.Number(2);
    const ByteView body = in.Vector(2);
    if (in.failed()) return Malformed("an extension is cut short");
    if (seen[kind]) return Malformed("an extension stands twice");
    seen[kind] = true;
    if (kind == kEncryptedHello || kind == kEncryptedServerName) {
      return Refuse(Alert::AccessDenied,
                    "the ClientHello is encrypted (ECH), or pretends to be: nobody outside can "
                    "tell which name it asks for; turn ECH off in the client, or let the class "
                    "say `tls inspect`, under which it does not matter");
    }
    if (kind == kServerName) {
      reading = ReadServerName(body);
      if (reading.state == HelloReading::State::Refused) return reading;
    }
  }
  return reading;
}

HelloReading ReadHello(ByteView body) {
  Reader in(body);
  in.Take(2);   // the version that nobody reads any more
  in.Take(32);  // random
  const ByteView session = in.Vector(1);
  const ByteView suites = in.Vector(2);
  const ByteView compressions = in.Vector(1);
  if (in.failed() || session.size() > 32 || suites.size() < 2 || suites.size() % 2 != 0 ||
      compressions.empty()) {
    return Malformed("its fixed part");
  }
  if (in.is_empty()) return ReadExtensions({});
  const ByteView extensions = in.Vector(2);
  if (in.failed() || !in.is_empty()) return Malformed("the length of its extensions");
  return ReadExtensions(extensions);
}

}  // namespace

bool BeginsTls(ByteView bytes) {
  return !bytes.empty() && bytes[0] == kHandshakeRecord && (bytes.size() < 2 || bytes[1] == 3);
}

HelloReading ReadClientHello(ByteView bytes) {
  Bytes message;
  std::optional<std::size_t> whole;  // of the message, once its header is there
  for (std::size_t at = 0;;) {
    if (bytes.size() == at) return NeedMore(at + 1);
    if (bytes[at] != kHandshakeRecord) {
      return Refuse(Alert::UnexpectedMessage,
                    "a stream to this port must begin with a ClientHello");
    }
    if (bytes.size() - at < kRecordHeaderBytes) return NeedMore(at + kRecordHeaderBytes);
    const std::size_t size = static_cast<std::size_t>(bytes[at + 3]) << 8 | bytes[at + 4];
    if (bytes[at + 1] != 3 || size == 0 || size > kRecordBytesMax) return Malformed("its record");
    const std::size_t end = at + kRecordHeaderBytes + size;
    if (end > ClientHelloBytesMax) return Malformed("it is larger than 16 KiB");
    if (bytes.size() < end) return NeedMore(end);
    message.insert(message.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at + 5),
                   bytes.begin() + static_cast<std::ptrdiff_t>(end));
    at = end;
    if (!whole && message.size() >= kMessageHeaderBytes) {
      if (message[0] != kClientHello) {
        return Refuse(Alert::UnexpectedMessage, "the first message of TLS is a ClientHello");
      }
      whole = kMessageHeaderBytes + (static_cast<std::size_t>(message[1]) << 16 |
                                     static_cast<std::size_t>(message[2]) << 8 | message[3]);
      if (*whole > ClientHelloBytesMax) return Malformed("it is larger than 16 KiB");
    }
    if (!whole || message.size() < *whole) continue;
    if (message.size() > *whole) return Malformed("something follows it in its record");
    return ReadHello(ByteView(message).subspan(kMessageHeaderBytes));
  }
}

std::string AlertRecord(Alert alert) {
  constexpr char Head[] = {21, 3, 3, 0, 2, 2};
  std::string record(Head, sizeof(Head));
  record.push_back(static_cast<char>(alert));
  return record;
}

}  // namespace curfew::egress
