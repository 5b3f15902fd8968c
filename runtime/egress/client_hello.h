// The first message of TLS, read without answering it: which name does the client ask for? Strict
// where two readers could differ: records, lengths, a second name, a second extension of a kind.
// Nothing else of TLS is known here. RFC 8446 section 4.1.2, RFC 6066 section 3.
#pragma once

#include "compiler/base/text.h"

#include <cstdint>
#include <string>

namespace curfew::egress {

// Of records, headers included. Today's largest, with post-quantum shares, are below 2 KiB.
inline constexpr std::size_t ClientHelloBytesMax = 16 * 1024;

// The descriptions of fatal alerts (RFC 8446 section 6).
enum class Alert : std::uint8_t {
  UnexpectedMessage = 10,
  AccessDenied = 49,
  DecodeError = 50,
  InternalError = 80,
  UnrecognizedName = 112
};

struct HelloReading {
  enum class State : std::uint8_t { NeedMore, Complete, Refused };
  State state = State::NeedMore;
  std::size_t needed = 0;  // bytes from the beginning without which reading again is no use
  std::string name;        // canonical; empty: the client names nobody
  Alert alert = Alert::DecodeError;
  std::string reason;  // where Refused
};

// Whether these first bytes can only become a record of a TLS handshake.
bool BeginsTls(ByteView bytes);

// `bytes` from the first one of the connection; what follows the message is not looked at, but for
// the rest of its own record, which must be empty.
HelloReading ReadClientHello(ByteView bytes);

// The record of a fatal alert.
std::string AlertRecord(Alert alert);

}  // namespace curfew::egress
