// What a guest sends as HTTP: any bytes, cut in two at any place. However they are cut the reading
// is the same, and a request that is sent on reads as itself again: what was judged is what is
// sent.
#include "runtime/egress/http_request.h"

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace curfew::egress;
using Event = MessageReader::Event;

namespace {

struct Reading {
  Event end = Event::NeedMore;
  std::string body;
  std::string sent;  // the head as it goes on
  Place place;       // and where to
  std::size_t consumed = 0;
};

void Must(bool holds) {
  if (!holds) std::abort();
}

Reading Read(std::string_view text, std::size_t first, const std::optional<Place>& direct) {
  MessageReader reader(MessageReader::Kind::Request, {});
  Reading reading;
  std::size_t there = first;
  for (;;) {
    const MessageReader::Step step =
        reader.Read(text.substr(reading.consumed, there - reading.consumed));
    Must(step.consumed <= there - reading.consumed);
    reading.consumed += step.consumed;
    reading.body += step.body;
    if (step.event == Event::Head) {
      const auto read = ReadRequest(reader.head(), direct);
      if (const auto* request = std::get_if<HttpRequest>(&read)) {
        reading.place = request->place;
        if (!request->is_connect) reading.sent = HeadForUpstream(reader.head(), *request);
      }
    } else if (step.event == Event::End || step.event == Event::Refused) {
      reading.end = step.event;
      return reading;
    } else if (step.event == Event::NeedMore) {
      if (there == text.size()) return reading;
      there = text.size();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 64 * 1024) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Place place{.host = "a.example", .address = {}, .port = 80};
  const std::optional<Place> direct = data[0] % 2 == 0 ? std::optional(place) : std::nullopt;
  const Reading whole = Read(text, text.size(), direct);
  const Reading halves = Read(text, text.size() * data[0] / 256, direct);
  Must(whole.end == halves.end && whole.body == halves.body && whole.sent == halves.sent);
  if (!whole.sent.empty()) {
    std::string again = whole.sent;
    MessageReader reader(MessageReader::Kind::Request, {.head_bytes = 128 * 1024, .fields = 128});
    const MessageReader::Step step = reader.Read(again);
    Must(step.event == Event::Head && step.consumed == again.size());
    const auto read = ReadRequest(reader.head(), whole.place);
    Must(std::holds_alternative<HttpRequest>(read));
    Must(HeadForUpstream(reader.head(), std::get<HttpRequest>(read)) == whole.sent);
  }
  MessageReader answer(MessageReader::Kind::Response, {});
  std::string_view rest = text;
  for (;;) {
    const MessageReader::Step step = answer.Read(rest);
    Must(step.consumed <= rest.size());
    rest.remove_prefix(step.consumed);
    if (step.event == Event::Head) (void)HeadForGuest(answer.head(), answer.head().framing, true);
    if (step.event != Event::Head && step.event != Event::Body) break;
  }
  return 0;
}
