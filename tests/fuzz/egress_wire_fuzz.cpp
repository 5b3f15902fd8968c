// What a guest sends to the name server, and as the first bytes of TLS. An answer of the name
// server always has the id of its question and fits a datagram; a hello that is read whole is read
// the same whatever follows it, and never before its last byte.
#include "runtime/egress/client_hello.h"
#include "runtime/egress/dns_message.h"

#include <cstdint>
#include <cstdlib>

using namespace curfew;
using namespace curfew::egress;

namespace {

void Must(bool holds) {
  if (!holds) std::abort();
}

void AskDns(ByteView bytes) {
  Names names(*values::ParseAddress("198.18.0.0"));
  const auto answer = AnswerDns(bytes, names);
  Must(names.All().size() <= 1);
  if (!answer) return;
  Must(answer->size() >= 12 && answer->size() <= 512);
  Must((*answer)[0] == bytes[0] && (*answer)[1] == bytes[1]);
  Must(((*answer)[2] & 0x80) != 0);
  Must(AnswerDns(bytes, names) == answer);  // the same name, the same address
  Must(!AnswerDns(*answer, names));         // an answer is never answered
}

void ReadHello(ByteView bytes) {
  using State = HelloReading::State;
  const HelloReading reading = ReadClientHello(bytes);
  if (reading.state == State::NeedMore) {
    Must(reading.needed > bytes.size() && reading.needed <= ClientHelloBytesMax);
    return;
  }
  Must(reading.state == State::Complete || !reading.reason.empty());
  Bytes more(bytes.begin(), bytes.end());
  more.push_back('x');
  const HelloReading again = ReadClientHello(more);
  Must(again.state == reading.state && again.name == reading.name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 64 * 1024) return 0;
  const ByteView bytes(data + 1, size - 1);
  if (data[0] % 2 == 0) {
    AskDns(bytes);
  } else {
    ReadHello(bytes);
  }
  return 0;
}
