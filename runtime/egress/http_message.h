// One HTTP/1.1 message read from a stream: its head, then its body piece by piece. The grammar is
// Boost.Beast's parser; around it stands everything that two servers could read in two ways, and
// that is refused here: bare CR or LF, folded lines, two lengths of any kind, codings other than
// `chunked`, names that only differ by an underscore. What passes is never forwarded as it came,
// but written anew (http_request.h). RFC 9112.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::egress {

struct HttpBounds {
  std::size_t head_bytes = 32 * 1024;
  std::size_t fields = 128;
};

struct Field {
  std::string_view name;
  std::string_view value;
};

// ASCII case does not matter in names of fields.
bool SameName(std::string_view a, std::string_view b);

enum class Framing : std::uint8_t { None, Length, Chunked, UntilClose };

// Borrows the bytes that it was read from.
struct MessageHead {
  std::string_view method;
  std::string_view target;
  unsigned status = 0;
  std::string_view reason;
  unsigned version = 11;  // or 10
  std::vector<Field> fields;
  Framing framing = Framing::None;
  std::uint64_t length = 0;  // of the body, with Framing::Length
  bool keep_alive = false;   // what the sender is ready for
};

class MessageReader {
 public:
  enum class Kind : std::uint8_t { Request, Response, ResponseToHead };
  enum class Event : std::uint8_t { NeedMore, Head, Body, End, Refused };
  struct Step {
    Event event = Event::NeedMore;
    std::size_t consumed = 0;
    std::string_view body = {};  // a piece of the body, within what was consumed
  };

  MessageReader(Kind kind, const HttpBounds& bounds);
  MessageReader(MessageReader&&) noexcept;
  MessageReader& operator=(MessageReader&&) noexcept;
  ~MessageReader();
  // Forgets the message that was read, and begins with the next one of its kind.
  void Restart();

  // The next thing in `bytes`, which begin with what no step consumed yet. A head is read once it
  // is there as a whole. After End and Refused nothing more is read.
  Step Read(std::string_view bytes);
  // The stream is over: End if the message may end so, else Refused.
  Step ReadEnd();

  // After Head, as long as the bytes that it was read from stay where they are.
  [[nodiscard]] const MessageHead& head() const;
  // After Refused: the status that says so (400, 431, 501, 505), and why.
  [[nodiscard]] unsigned refusal_status() const;
  [[nodiscard]] const std::string& refusal() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace curfew::egress
