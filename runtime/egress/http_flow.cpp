// HTTP between the guest and its upstreams: one request at a time, each judged, written anew and
// answered. A body that goes out and an answer that comes in move at the same time, each as fast as
// its receiver takes it.
#include "runtime/egress/connection.h"

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <utility>

#include <fmt/format.h>

namespace curfew::egress {

namespace asio = boost::asio;
using schema::Stage;
using Event = MessageReader::Event;

namespace {

constexpr std::size_t kHeadRead = 16 * 1024;
constexpr std::size_t kPiecesMax = 48;
constexpr unsigned kInterimMax = 8;

std::string_view PhraseOf(unsigned status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 408:
      return "Request Timeout";
    case 417:
      return "Expectation Failed";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Refused";
  }
}

// What stands between the guest and its answer, for a person and for a program: the rule's id in a
// field of its own, every reason in the body.
std::string RefusalText(unsigned status, const EgressFacts& facts, const gate::Answer& answer,
                        bool keep_alive) {
  // Put together by hand: a guest that insists has it written for each of its requests.
  std::string body;
  body.reserve(512);
  body += "Curfew refused this request.\n";
  if (facts.http == Visible::Seen) body.append(Describe(facts)).append("\n");
  const std::size_t reasons_begin = body.size();
  std::size_t first_reason_end = reasons_begin;
  for (const gate::Reason& reason : answer.reasons) {
    body.append(Printable(gate::Describe(reason), 1024));
    if (first_reason_end == reasons_begin) first_reason_end = body.size();
    body += '\n';
  }
  std::string text;
  text.reserve(body.size() + 512);
  text.append("HTTP/1.1 ").append(std::to_string(status)).append(" ").append(PhraseOf(status));
  text += "\r\nContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n";
  if (!answer.reasons.empty()) {
    const std::string_view why = std::string_view(body).substr(0, first_reason_end);
    text.append("Curfew-Rule: ").append(answer.reasons.front().id);
    text.append("\r\nCurfew-Reason: ").append(why.substr(reasons_begin)).append("\r\n");
  }
  text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  if (!keep_alive) text += "Connection: close\r\n";
  text += "\r\n";
  if (facts.method != "HEAD") text += body;
  return text;
}

}  // namespace

// The next head from a peer. `size`: its bytes, which stay in `in` until they are consumed.
// NeedMore: the stream ended, broke, or took too long.
Connection::Asks<Event> Connection::ReadHead(Peer& from, MessageReader& reader, std::size_t& size) {
  bool begun = !from.in.is_empty();
  for (;;) {
    const MessageReader::Step step = reader.Read(from.in.view());
    size = step.consumed;
    if (step.event != Event::NeedMore) co_return step.event;
    const bool more = co_await from.ReadMore(std::span(core_.room).first(kHeadRead));
    if (!more) co_return Event::NeedMore;
    // From its first byte on a head has its own time.
    if (!begun && &from == &guest_) Expect(core_.setup.limits.head_ms);
    begun = true;
  }
}

Connection::Task Connection::ServeHttp(std::optional<Place> direct) {
  const Limits& limits = core_.setup.limits;
  MessageReader reader(MessageReader::Kind::Request, limits.http);
  for (bool first = true;; first = false) {
    Expect(first ? limits.first_byte_ms : limits.kept_ms);
    if (!guest_.in.is_empty()) Expect(limits.head_ms);
    if (!first) reader.Restart();
    std::size_t size = 0;
    const Event event = co_await ReadHead(guest_, reader, size);
    if (cut_) co_return;
    if (event == Event::NeedMore && guest_.in.is_empty()) break;
    std::variant<HttpRequest, HttpRefusal> read;
    if (event == Event::NeedMore) {
      read = HttpRefusal{.status = timed_out_ ? 408u : 400u,
                         .message = "the request did not come to its end"};
    } else if (event == Event::Refused) {
      read = HttpRefusal{.status = reader.refusal_status(), .message = reader.refusal()};
    } else {
      read = ReadRequest(reader.head(), direct);
    }
    if (const auto* refusal = std::get_if<HttpRefusal>(&read)) {
      BeginFlow(direct ? *direct : Place{});
      if (!direct) facts_.ip.reset();
      facts_.scheme = Scheme::Http;
      co_await Respond(refusal->status, OwnDenial(InvalidId, refusal->message), false);
      co_return;
    }
    Exchange exchange;
    exchange.request = std::get<HttpRequest>(std::move(read));
    if (exchange.request.is_connect) {
      guest_.in.Consume(size);
      co_await ServeConnect(exchange.request);
      co_return;
    }
    exchange.framing = reader.head().framing;
    exchange.version = reader.head().version;
    exchange.keep_alive = reader.head().keep_alive && exchange.version == 11;
    exchange.length = reader.head().length;
    guest_.in.Consume(size);
    bool again = false;
    if (std::optional<gate::Answer> denial = BeginRequest(exchange)) {
      const bool keeps = exchange.keep_alive && exchange.framing == Framing::None;
      // A guest that insists costs no more than it must: most often this is all.
      again = RespondNow(403, *std::move(denial), keeps);
      if (!again) again = co_await FinishResponse(keeps);
    } else {
      again = co_await ServeRequest(exchange, reader);
    }
    if (!again) co_return;
  }
  upstream_.Close();
  guest_.Close();
}

// Nothing is said of what will come; whether anything could be allowed there is known.
Connection::Task Connection::ServeConnect(const HttpRequest& request) {
  place_ = request.place;
  BeginFlow(place_);
  gate::Answer answer = Consider(place_.host.empty() ? Stage::Address : Stage::Name);
  if (!answer.allowed) {
    co_await Respond(403, std::move(answer), false);
    co_return;
  }
  in_flow_ = false;
  const bool told =
      co_await guest_.Write(std::string_view("HTTP/1.1 200 Connection established\r\n\r\n"));
  if (told) co_await ServePlace();
}

// Why the request is refused by all that can be known without asking the world.
std::optional<gate::Answer> Connection::BeginRequest(const Exchange& exchange) {
  const HttpRequest& request = exchange.request;
  BeginFlow(request.place);
  facts_.scheme = Scheme::Http;
  facts_.http = Visible::Seen;
  facts_.method = request.method;
  facts_.path = request.path;
  facts_.query = request.query;
  facts_.bytes = static_cast<std::int64_t>(std::min<std::uint64_t>(exchange.length, INT64_MAX));
  overrides_ = request.overrides;
  body_grows_ = exchange.framing == Framing::Chunked;
  if (upstream_place_ != request.place) upstream_.Close();
  if (!upstream_.is_open()) aliases_.clear();

  gate::Answer answer = Consider(request.place.host.empty() ? Stage::Address : Stage::Name);
  if (!answer.allowed) return answer;
  return DenialBeside();
}

Connection::Asks<bool> Connection::ServeRequest(Exchange& exchange, MessageReader& reader) {
  // What the head was read from is still there: nobody has read on.
  exchange.head = HeadForUpstream(reader.head(), exchange.request);
  // Said there, and kept in the facts: a request may wait long.
  exchange.request.path = {};
  exchange.request.query.reset();
  upload_.reset();
  std::optional<Trouble> trouble = co_await Send(exchange);
  if (cut_) co_return false;
  if (trouble) co_return co_await RespondTrouble(exchange, *std::move(trouble));
  if (exchange.framing != Framing::None) {
    MessageReader next(MessageReader::Kind::Request, core_.setup.limits.http);
    upload_.emplace(Upload{.reader = std::exchange(reader, std::move(next)),
                           .framing = exchange.framing,
                           .denial = {}});
    asio::co_spawn(core_.io, RunUpload(shared_from_this()), asio::detached);
  }
  const bool again = co_await Answer(exchange);
  if (!exchange.is_stale) co_return again;

  // The upstream had closed a kept connection just then: once more, on a new one.
  exchange.is_stale = false;
  upstream_.Close();
  trouble = co_await Send(exchange);
  if (cut_) co_return false;
  if (trouble) co_return co_await RespondTrouble(exchange, *std::move(trouble));
  co_return co_await Answer(exchange);
}

// The head, to an upstream that the permit is for: the one that is open, which is judged for this
// request as the first time, or a new one.
Connection::Asks<std::optional<Connection::Trouble>> Connection::Send(Exchange& exchange) {
  exchange.reused = upstream_.IsQuiet();
  if (exchange.reused) {
    facts_.ip = upstream_ip_;
    gate::Decision<schema::Action::Egress> decision = Decide();
    if (!decision.permit) co_return Trouble{.denied = true, .answer = std::move(decision.answer)};
    answer_ = std::move(decision.answer);
  } else {
    std::optional<Trouble> trouble = co_await OpenUpstream(exchange.request.place);
    if (trouble) co_return trouble;
  }
  Expect(core_.setup.limits.answer_ms);
  bool sent = upstream_.WriteNow(exchange.head);
  if (upstream_.has_rest()) sent = co_await upstream_.WriteRest();
  if (!exchange.reused) std::string().swap(exchange.head);  // nobody sends it again
  if (sent || exchange.reused) co_return std::nullopt;
  co_return Trouble{.message = "the upstream takes no request"};
}

// Reads what there is to read from `from`, and gathers the pieces of its body in `core_.pieces`, in
// the form that they go on in. `End`: they are the last.
Connection::Asks<Connection::Took> Connection::Take(Peer& from, MessageReader& reader,
                                                    bool chunked) {
  bool must_read = from.in.is_empty();
  for (;;) {
    std::string_view bytes;
    bool fresh = false;
    // The end of a message may need no more bytes.
    MessageReader::Step step = reader.Read({});
    if (step.event == Event::NeedMore) {
      if (must_read) {
        bytes = co_await from.Read(core_.room);
        if (bytes.empty()) {
          if (from.failed()) co_return Took::Gone;
          step = reader.ReadEnd();
          if (step.event != Event::End) co_return Took::Refused;
        }
        fresh = from.in.is_empty();
        if (!fresh) {
          if (!from.in.Append(bytes)) co_return Took::Gone;
          bytes = from.in.view();
        }
      } else {
        bytes = from.in.view();
      }
    }
    // From here to the caller's Write nobody else runs, so all may share the room.
    core_.pieces.clear();
    core_.chunk_heads.clear();
    core_.chunk_heads.reserve(kPiecesMax * 24);  // pieces point into it
    piece_bytes_ = 0;
    std::size_t used = 0;
    while (step.event != Event::End && core_.pieces.size() + 4 < kPiecesMax) {
      step = reader.Read(bytes.substr(used));
      used += step.consumed;
      if (step.event == Event::Refused) co_return Took::Refused;
      if (step.event != Event::Body) break;
      piece_bytes_ += step.body.size();
      if (chunked) {
        const std::size_t begin = core_.chunk_heads.size();
        core_.chunk_heads += fmt::format("{:x}\r\n", step.body.size());
        core_.pieces.emplace_back(std::string_view(core_.chunk_heads).substr(begin));
      }
      core_.pieces.push_back(step.body);
      if (chunked) core_.pieces.emplace_back("\r\n");
    }
    if (fresh) {
      if (!from.in.Append(bytes.substr(used))) co_return Took::Gone;
    } else {
      from.in.Consume(used);
    }
    if (step.event == Event::End) {
      if (chunked) core_.pieces.emplace_back("0\r\n\r\n");
      co_return Took::End;
    }
    if (!core_.pieces.empty()) co_return Took::Some;
    must_read = true;
  }
}

Connection::Task Connection::RunUpload(std::shared_ptr<Connection> self) {
  Connection& me = *self;
  Upload& upload = *me.upload_;
  for (;;) {
    me.Expect(me.core_.setup.limits.idle_ms);
    const Took took =
        co_await me.Take(me.guest_, upload.reader, upload.framing == Framing::Chunked);
    if (me.cut_) break;
    if (took == Took::Refused) upload.denial = OwnDenial(InvalidId, upload.reader.refusal());
    if (took == Took::Gone)
      upload.denial = OwnDenial(InvalidId, "the request did not come to its end");
    if (upload.denial) break;
    me.Count(me.piece_bytes_, 0);
    // A body whose size nobody said is judged as it grows, before it goes on.
    if (me.body_grows_) upload.denial = me.DenialNow();
    if (upload.denial || me.IsCutByCount()) break;
    const bool written =
        co_await me.upstream_.Write(std::span<const std::string_view>(me.core_.pieces));
    // An upstream may answer early and read no more: its answer says so.
    if (!written || took == Took::End) break;
  }
  // Half a request must not look like a whole one.
  if (upload.denial) me.upstream_.Reset();
  upload.running = false;
}

Connection::Asks<bool> Connection::Answer(Exchange& exchange) {
  const bool to_head = exchange.request.method == "HEAD";
  for (unsigned interim = 0;; ++interim) {
    Expect(core_.setup.limits.answer_ms);
    MessageReader reader(
        to_head ? MessageReader::Kind::ResponseToHead : MessageReader::Kind::Response,
        core_.setup.limits.http);
    std::size_t size = 0;
    awaits_answer_ = true;
    const Event event = co_await ReadHead(upstream_, reader, size);
    awaits_answer_ = false;
    if (cut_) co_return false;
    if (guest_left_) {
      EndFlow(0, "the guest went away before its answer");
      upstream_.Reset();
      guest_.Close();
      co_return false;
    }
    const bool nothing_came = event == Event::NeedMore && upstream_.in.is_empty();
    Trouble trouble;
    if (event == Event::NeedMore && timed_out_) {
      trouble.status = 504;
      trouble.message = "the upstream gave no answer in time";
    } else if (upload_ && upload_->denial) {
      trouble.denied = true;
      trouble.answer = *upload_->denial;
    } else if (exchange.reused && nothing_came && !upload_ && interim == 0 &&
               exchange.request.method != "POST" && exchange.request.method != "PATCH") {
      exchange.is_stale = true;
      co_return false;
    } else if (event == Event::NeedMore) {
      trouble.message = "the upstream ended before its answer";
    } else if (event == Event::Refused) {
      trouble.message = "the upstream's answer cannot be read: " + reader.refusal();
    } else if (reader.head().status == 101) {
      trouble.message = "the upstream changes the protocol, which nobody asked it to";
    } else if (reader.head().status < 100 || interim > kInterimMax) {
      trouble.message = "the upstream's answer makes no sense";
    } else if (reader.head().status >= 200) {
      co_return co_await SendAnswer(exchange, reader, size);
    } else {
      const std::string head = HeadForGuest(reader.head(), Framing::None, true);
      upstream_.in.Consume(size);
      if (exchange.version == 11) co_await guest_.Write(head);
      continue;
    }
    upstream_.Reset();
    co_return co_await RespondTrouble(exchange, std::move(trouble));
  }
}

Connection::Asks<bool> Connection::SendAnswer(Exchange& exchange, MessageReader& reader,
                                              std::size_t head_size) {
  const MessageHead& head = reader.head();
  exchange.status = head.status;
  const bool has_body =
      exchange.request.method != "HEAD" && head.status != 204 && head.status != 304;
  Framing framing = head.framing;
  if (!has_body) {
    framing = framing == Framing::Length ? Framing::Length : Framing::None;
  } else if (framing == Framing::Chunked || framing == Framing::UntilClose) {
    framing = exchange.version == 11 ? Framing::Chunked : Framing::UntilClose;
  }
  const bool keeps =
      exchange.keep_alive && framing != Framing::UntilClose && !(upload_ && upload_->running);
  const bool upstream_keeps = head.keep_alive && head.framing != Framing::UntilClose;
  const std::string text = HeadForGuest(head, framing, keeps);
  upstream_.in.Consume(head_size);
  const bool chunked = has_body && framing == Framing::Chunked;
  bool begun = false;
  for (;;) {
    Expect(core_.setup.limits.idle_ms);
    // The head does not wait for a body that is still to come.
    if (!begun && has_body && upstream_.in.is_empty() && head.length > 0) {
      begun = true;
      const bool told = co_await guest_.Write(text);
      if (!told) break;
    }
    const Took took = co_await Take(upstream_, reader, chunked);
    if (cut_) co_return false;
    if (took == Took::Refused || took == Took::Gone) {
      if (upload_ && upload_->denial) answer_ = *upload_->denial;
      EndFlow(exchange.status, timed_out_ ? "the upstream stopped within its answer"
                                          : "the upstream broke off within its answer");
      upstream_.Reset();
      guest_.Reset();
      co_return false;
    }
    Count(0, piece_bytes_);
    if (IsCutByCount()) co_return false;
    if (!begun) core_.pieces.insert(core_.pieces.begin(), text);
    begun = true;
    bool written = guest_.WriteNow(core_.pieces);
    if (guest_.has_rest()) written = co_await guest_.WriteRest();
    if (cut_) co_return false;
    if (!written) break;
    if (took != Took::End) continue;
    EndFlow(exchange.status);
    // What it says beyond its answer is nobody's answer.
    if (!upstream_keeps || !upstream_.in.is_empty() || (upload_ && upload_->running)) {
      upstream_.Close();
    }
    if (!keeps) co_await LetGo();
    co_return keeps;
  }
  EndFlow(exchange.status, "the guest went away within its answer");
  upstream_.Reset();
  guest_.Close();
  co_return false;
}

bool Connection::RespondNow(unsigned status, gate::Answer answer, bool keep_alive) {
  answer_ = std::move(answer);
  const std::string text = RefusalText(status, facts_, answer_, keep_alive);
  EndFlow(status);
  Expect(core_.setup.limits.head_ms);
  return guest_.WriteNow(text) && !guest_.has_rest() && keep_alive;
}

Connection::Asks<bool> Connection::FinishResponse(bool keep_alive) {
  bool written = !guest_.failed();
  if (guest_.has_rest()) written = co_await guest_.WriteRest();
  if (written && keep_alive) co_return true;
  co_await LetGo();
  co_return false;
}

Connection::Asks<bool> Connection::Respond(unsigned status, gate::Answer answer, bool keep_alive) {
  if (RespondNow(status, std::move(answer), keep_alive)) co_return true;
  co_return co_await FinishResponse(keep_alive);
}

Connection::Asks<bool> Connection::RespondTrouble(const Exchange& exchange, Trouble trouble) {
  const bool keeps = exchange.keep_alive && exchange.framing == Framing::None;
  if (trouble.denied) {
    const bool invalid = trouble.answer.reasons.front().id == InvalidId;
    co_return co_await Respond(invalid ? 400 : 403, std::move(trouble.answer), keeps);
  }
  const std::string body = fmt::format("Curfew could not reach the upstream.\n{}\n{}\n",
                                       Describe(facts_), Printable(trouble.message, 1024));
  const std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n"
      "{}\r\n{}",
      trouble.status, PhraseOf(trouble.status), body.size(), keeps ? "" : "Connection: close\r\n",
      exchange.request.method == "HEAD" ? "" : body);
  EndFlow(trouble.status, std::move(trouble.message));
  Expect(core_.setup.limits.head_ms);
  const bool written = co_await guest_.Write(text);
  if (written && keeps) co_return true;
  co_await LetGo();
  co_return false;
}

}  // namespace curfew::egress
