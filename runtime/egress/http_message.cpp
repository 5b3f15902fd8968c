#include "runtime/egress/http_message.h"

#include "compiler/base/text.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/basic_parser.hpp>
#include <optional>

#include <fmt/format.h>

namespace curfew::egress {
namespace {

namespace http = boost::beast::http;
using BeastView = boost::beast::string_view;
using BeastError = boost::beast::error_code;

// A chunk's first line, or the trailer behind the last chunk.
constexpr std::size_t kChunkHeadBytesMax = 8 * 1024;

// Most heads have no more.
constexpr std::size_t kUsualFields = 16;

std::string_view ViewOf(BeastView view) { return {view.data(), view.size()}; }

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool IsLetterOrDigit(char c) {
  const char lower = Lower(c);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

// Where a server that maps `-` and other marks to one (CGI does) would see a field that is judged,
// dropped or refused under its own name.
bool IsDisguised(std::string_view name) {
  const auto is_odd = [](char c) { return !IsLetterOrDigit(c) && c != '-'; };
  if (std::none_of(name.begin(), name.end(), is_odd)) return false;
  constexpr std::array<std::string_view, 20> Weighty = {"content-length",
                                                        "transfer-encoding",
                                                        "host",
                                                        "connection",
                                                        "content-type",
                                                        "authorization",
                                                        "keep-alive",
                                                        "proxy-connection",
                                                        "x-http-method-override",
                                                        "x-http-method",
                                                        "x-method-override",
                                                        "x-original-url",
                                                        "x-rewrite-url",
                                                        "x-original-uri",
                                                        "x-forwarded-host",
                                                        "x-forwarded-server",
                                                        "x-host",
                                                        "x-original-host",
                                                        "x-http-host-override",
                                                        "http2-settings"};
  std::string plain(name);
  std::replace_if(plain.begin(), plain.end(), is_odd, '-');
  return std::any_of(Weighty.begin(), Weighty.end(),
                     [&](std::string_view weighty) { return SameName(plain, weighty); });
}

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A size of 64 bits is negative to some servers, and no rule can name it.
constexpr std::uint64_t kLengthMax = INT64_MAX;

std::string WhyOf(const BeastError& error) {
  if (error == http::error::bad_content_length || error == http::error::bad_transfer_encoding) {
    return "the length of the body is given in more than one way, or in none that is known";
  }
  if (error == http::error::multiple_content_length) return "there are two Content-Length";
  return "not a message of HTTP/1.1: " + error.message();
}

// What the parser of a request and that of a response have in common.
struct Reading {
  MessageHead head;
  HttpBounds bounds;
  bool head_done = false;
  unsigned lengths = 0;
  unsigned codings = 0;
  std::string problem;
  unsigned problem_status = 400;
  std::string_view piece;

  void Refuse(std::string why, unsigned status = 400) {
    if (!problem.empty()) return;
    problem = std::move(why);
    problem_status = status;
  }

  void OnField(std::string_view name, std::string_view value) {
    if (head_done) return;  // a trailer: dropped
    if (head.fields.size() == bounds.fields) {
      Refuse(fmt::format("more than {} header fields", bounds.fields), 431);
      return;
    }
    if (IsDisguised(name)) {
      Refuse(fmt::format("`{}` is read by some servers as another field", Printable(name)));
    } else if (SameName(name, "content-length")) {
      if (++lengths > 1) Refuse("there are two Content-Length");
      if (!IsNumber(value)) Refuse("Content-Length is no number");
    } else if (SameName(name, "transfer-encoding")) {
      if (++codings > 1) Refuse("there are two Transfer-Encoding");
      if (!SameName(value, "chunked")) {
        Refuse("`chunked` is the only Transfer-Encoding that is passed on", 501);
      }
    }
    head.fields.push_back({name, value});
  }

  void OnHead() {
    if (lengths > 0 && codings > 0) Refuse("there are both Content-Length and Transfer-Encoding");
    if (codings > 0 && head.version < 11) Refuse("HTTP/1.0 has no Transfer-Encoding");
  }
};

// `value` of a field lies in the head's bytes, since folded lines never come this far.
template <bool IsRequest>
class Parser final : public http::basic_parser<IsRequest> {
 public:
  explicit Parser(Reading& reading) : reading_(reading) {
    this->header_limit(static_cast<std::uint32_t>(reading.bounds.head_bytes));
    this->body_limit(boost::none);
  }

 protected:
  void on_request_impl(http::verb, BeastView method, BeastView target, int version,
                       BeastError&) override {
    reading_.head.method = ViewOf(method);
    reading_.head.target = ViewOf(target);
    reading_.head.version = static_cast<unsigned>(version);
  }
  void on_response_impl(int code, BeastView reason, int version, BeastError&) override {
    reading_.head.status = static_cast<unsigned>(code);
    reading_.head.reason = ViewOf(reason);
    reading_.head.version = static_cast<unsigned>(version);
  }
  void on_field_impl(http::field, BeastView name, BeastView value, BeastError& error) override {
    reading_.OnField(ViewOf(name), ViewOf(value));
    Stop(error);
  }
  void on_header_impl(BeastError& error) override {
    reading_.OnHead();
    Stop(error);
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, BeastError&) override {}
  std::size_t on_body_impl(BeastView body, BeastError&) override {
    reading_.piece = ViewOf(body);
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, BeastView, BeastError&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, BeastView body, BeastError&) override {
    reading_.piece = ViewOf(body);
    return body.size();
  }
  void on_finish_impl(BeastError&) override {}

 private:
  void Stop(BeastError& error) {
    if (!reading_.problem.empty()) error = http::error::bad_field;
  }
  Reading& reading_;
};

// The checks of a head's raw bytes. `from` is the first byte that was not looked at before.
std::optional<std::string> ProblemOf(std::string_view bytes, std::size_t from) {
  for (std::size_t i = from; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '\0') return "a NUL byte in the head";
    if (c == '\n' && (i == 0 || bytes[i - 1] != '\r')) return "a line that ends in a bare LF";
    if ((c == ' ' || c == '\t') && i > 0 && bytes[i - 1] == '\n') {
      return "a header line that is folded";
    }
  }
  return std::nullopt;
}

}  // namespace

bool SameName(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return Lower(x) == Lower(y); });
}

struct MessageReader::State {
  Kind kind;
  Reading reading;
  std::optional<Parser<true>> request;
  std::optional<Parser<false>> response;
  std::size_t seen = 0;  // of a head that is not whole
  bool over = false;

  State(Kind the_kind, const HttpBounds& bounds) : kind(the_kind) {
    reading.bounds = bounds;
    reading.head.fields.reserve(kUsualFields);
    Restart();
  }
  void Restart() {
    Reading fresh;
    fresh.bounds = reading.bounds;
    // Their room is kept.
    fresh.head.fields = std::move(reading.head.fields);
    fresh.head.fields.clear();
    reading = std::move(fresh);
    seen = 0;
    over = false;
    if (is_request()) {
      request.emplace(reading);
    } else {
      response.emplace(reading);
      if (kind == Kind::ResponseToHead) response->skip(true);
    }
  }
  [[nodiscard]] bool is_request() const { return kind == Kind::Request; }

  std::size_t Put(std::string_view bytes, BeastError& error) {
    const boost::asio::const_buffer buffer(bytes.data(), bytes.size());
    return is_request() ? request->put(buffer, error) : response->put(buffer, error);
  }
  [[nodiscard]] bool IsDone() const {
    return is_request() ? request->is_done() : response->is_done();
  }
  Step Refuse(std::string why, unsigned status = 400) {
    reading.Refuse(std::move(why), status);
    over = true;
    return {.event = Event::Refused};
  }
  Step ReadHead(std::string_view bytes);
  Step ReadBody(std::string_view bytes);

  template <typename P>
  void Describe(const P& parser) {
    MessageHead& head = reading.head;
    head.keep_alive = parser.keep_alive();
    if (parser.chunked()) {
      head.framing = Framing::Chunked;
    } else if (parser.content_length()) {
      head.framing = Framing::Length;
      head.length = *parser.content_length();
    } else {
      head.framing = parser.need_eof() ? Framing::UntilClose : Framing::None;
    }
  }
};

MessageReader::MessageReader(Kind kind, const HttpBounds& bounds)
    : state_(std::make_unique<State>(kind, bounds)) {}
MessageReader::MessageReader(MessageReader&&) noexcept = default;
MessageReader& MessageReader::operator=(MessageReader&&) noexcept = default;
MessageReader::~MessageReader() = default;

void MessageReader::Restart() { state_->Restart(); }

MessageReader::Step MessageReader::State::ReadHead(std::string_view bytes) {
  // Not beyond the head: a body may hold anything.
  const std::size_t from = seen >= 3 ? seen - 3 : 0;
  const std::size_t blank = bytes.find("\r\n\r\n", from);
  const bool is_whole = blank != std::string_view::npos;
  const std::string_view head = is_whole ? bytes.substr(0, blank + 4) : bytes;
  if (const auto problem = ProblemOf(head, seen)) return Refuse(*problem);
  if (head.size() > reading.bounds.head_bytes) {
    return Refuse(fmt::format("the head has more than {} bytes", reading.bounds.head_bytes), 431);
  }
  seen = head.size();
  if (!is_whole) return {.event = Event::NeedMore};

  BeastError error;
  const std::size_t consumed = Put(head, error);
  if (error == http::error::bad_version) return Refuse(WhyOf(error), 505);
  if (error || consumed != head.size()) return Refuse(WhyOf(error));
  if (is_request()) {
    Describe(*request);
  } else {
    Describe(*response);
  }
  if (reading.head.length > kLengthMax) return Refuse("Content-Length is too large");
  reading.head_done = true;
  return {.event = Event::Head, .consumed = consumed};
}

MessageReader::Step MessageReader::State::ReadBody(std::string_view bytes) {
  std::size_t consumed = 0;
  reading.piece = {};
  while (!IsDone()) {
    if (consumed == bytes.size()) return {.event = Event::NeedMore, .consumed = consumed};
    BeastError error;
    const std::size_t step = Put(bytes.substr(consumed), error);
    consumed += step;
    if (!reading.piece.empty()) {
      if (error) break;
      return {.event = Event::Body, .consumed = consumed, .body = reading.piece};
    }
    if (error == http::error::need_more) {
      if (bytes.size() - consumed > kChunkHeadBytesMax) {
        return Refuse("the line before a chunk, or the trailer, is too long");
      }
      return {.event = Event::NeedMore, .consumed = consumed};
    }
    if (error) return Refuse(WhyOf(error));
  }
  if (!IsDone()) return Refuse("the body is malformed");
  over = true;
  return {.event = Event::End, .consumed = consumed};
}

MessageReader::Step MessageReader::Read(std::string_view bytes) {
  if (state_->over) {
    return {.event = state_->reading.problem.empty() ? Event::End : Event::Refused};
  }
  return state_->reading.head_done ? state_->ReadBody(bytes) : state_->ReadHead(bytes);
}

MessageReader::Step MessageReader::ReadEnd() {
  if (state_->over) return Read({});
  if (state_->reading.head_done) {
    if (state_->IsDone() || state_->reading.head.framing == Framing::UntilClose) {
      state_->over = true;
      return {.event = Event::End};
    }
  }
  return state_->Refuse("the stream ended within a message");
}

const MessageHead& MessageReader::head() const { return state_->reading.head; }
unsigned MessageReader::refusal_status() const { return state_->reading.problem_status; }
const std::string& MessageReader::refusal() const { return state_->reading.problem; }

}  // namespace curfew::egress
