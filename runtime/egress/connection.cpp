#include "runtime/egress/connection.h"

#include "compiler/values/host.h"

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>

#include <fmt/format.h>

namespace curfew::egress {

namespace asio = boost::asio;
namespace slot = schema::slot;
using schema::Stage;

namespace {

// How far a flow may go beyond what was judged before it is judged again: so far, and the less the
// more there are, so that a bound on what all send together is kept to within kUnjudgedInAll.
constexpr std::size_t kUnjudgedBytesMax = 64 * 1024;
constexpr std::size_t kUnjudgedBytesMin = 256;
constexpr std::size_t kUnjudgedInAll = 1024 * 1024;
constexpr std::size_t kDialsMax = 8;
constexpr std::size_t kMethodBytesMax = 16;
constexpr std::int64_t kLetGoMs = 2'000;
constexpr std::size_t kLetGoBytesMax = 1024 * 1024;

void SetNoDelay(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

// What says no more than that no `allow` covers it (language.md section 5, rule 7: no label is
// `default`); and the bar of addresses, which was asked for the name itself.
bool IsSilence(const gate::Reason& reason) {
  return reason.id.ends_with(".network.default") || reason.id == "builtin.address";
}

bool IsToken(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

}  // namespace

gate::Answer OwnDenial(std::string_view id, std::string message) {
  gate::Answer answer;
  answer.action = schema::Action::Egress;
  answer.reasons.push_back(
      {.id = std::string(id), .message = std::move(message), .file = {}, .line = 0});
  return answer;
}

Connection::Connection(Core& core)
    : core_(core), guest_(core.io, core.meter), upstream_(core.io, core.meter) {
  core_.connections.insert(this);
}

Connection::~Connection() {
  if (in_flow_) EndFlow(0, "the gateway ended it");
  core_.connections.erase(this);
}

void Connection::Begin(Core& core, OwnedFd socket) {
  SetNoDelay(socket.get());
  const auto connection = std::make_shared<Connection>(core);
  if (!connection->guest_.Take(std::move(socket))) return;
  asio::co_spawn(core.io, Serve(connection), asio::detached);
}

Connection::Task Connection::Serve(std::shared_ptr<Connection> self) {
  Connection& me = *self;
  const Result<Endpoint> to = me.core_.setup.destination_of(me.guest_.fd());
  if (!to) {
    me.guest_.Reset();
    co_return;
  }
  if (to->address == me.core_.setup.own_address) {
    co_await me.ServeHttp(std::nullopt);
    co_return;
  }
  me.place_.port = to->port;
  if (!me.core_.names.IsOwn(to->address)) {
    me.place_.address = values::Unwrap(to->address);
  } else if (std::optional<std::string> name = me.core_.names.NameAt(to->address)) {
    me.place_.host = *std::move(name);
  } else {
    Place nameless;
    nameless.address = to->address;
    nameless.port = to->port;
    me.BeginFlow(nameless);
    co_await me.RefuseStream(
        OwnDenial(InvalidId,
                  "no name has this address: ask the resolver for a name, and dial what "
                  "it answers"),
        Alert::AccessDenied);
    co_return;
  }
  co_await me.ServePlace();
}

// What is asked of the place: a stream that is allowed by host and port, or what its first bytes
// show. Who only speaks when spoken to is therefore heard only where a stream is allowed.
Connection::Task Connection::ServePlace() {
  BeginFlow(place_);
  facts_.scheme = Scheme::Tcp;
  facts_.http = Visible::Hidden;
  const gate::Answer as_stream = Consider(place_.host.empty() ? Stage::Address : Stage::Name);
  if (as_stream.allowed) {
    co_await ServeStream(Scheme::Tcp);
    co_return;
  }
  Expect(core_.setup.limits.first_byte_ms);
  while (guest_.in.is_empty()) {
    const bool more = co_await guest_.ReadMore(std::span(core_.room).first(16 * 1024));
    if (more) continue;
    if (timed_out_) {
      co_await RefuseStream(as_stream, Alert::AccessDenied);
    } else {
      in_flow_ = false;  // nothing was asked
    }
    co_return;
  }
  if (BeginsTls(AsBytes(guest_.in.view()))) {
    co_await ServeStream(Scheme::Https);
    co_return;
  }
  const bool http = co_await SeesHttp();
  if (http) {
    in_flow_ = false;  // each request is a flow of its own
    co_await ServeHttp(place_);
  } else {
    co_await RefuseStream(as_stream, Alert::AccessDenied);
  }
}

// HTTP begins with a method and a space.
Connection::Asks<bool> Connection::SeesHttp() {
  for (;;) {
    const std::string_view seen = guest_.in.view();
    const auto end = std::find_if_not(seen.begin(), seen.end(), IsToken);
    if (end != seen.end()) co_return end != seen.begin() && *end == ' ';
    if (seen.size() > kMethodBytesMax) co_return false;
    const bool more = co_await guest_.ReadMore(std::span(core_.room).first(16 * 1024));
    if (!more) co_return false;
  }
}

void Connection::BeginFlow(const Place& place) {
  facts_ = EgressFacts{};
  facts_.host = place.host;
  facts_.port = place.port;
  if (place.host.empty()) facts_.ip = place.address;
  flow_started_ms_ = core_.now_ms();
  facts_.requests = core_.window.Count(flow_started_ms_) + 1;
  answer_ = {};
  overrides_.clear();
  flow_wall_ms_ = core_.clock.WallNowMs();
  flow_out_ = flow_in_ = 0;
  unjudged_ = 0;
  in_flow_ = true;
  live_ = body_grows_ = is_counted_ = false;
}

void Connection::EndFlow(unsigned status, std::string end) {
  if (!in_flow_) return;
  in_flow_ = live_ = false;
  Flow flow;
  flow.facts = std::move(facts_);
  flow.answer = std::move(answer_);
  flow.started_ms = flow_wall_ms_;
  flow.duration_ms = core_.now_ms() - flow_started_ms_;
  flow.bytes_out = flow_out_;
  flow.bytes_in = flow_in_;
  flow.status = status;
  flow.end = std::move(end);
  core_.records.Add(flow);
  // An upload may go on a little past its answer.
  facts_ = std::move(flow.facts);
  answer_ = std::move(flow.answer);
}

std::int64_t Connection::TotalWithThis() const {
  const auto left = static_cast<std::int64_t>(std::min<std::uint64_t>(flow_out_, INT64_MAX));
  const std::int64_t rest = body_grows_ ? 0 : std::max<std::int64_t>(0, facts_.bytes - left);
  std::int64_t total = 0;
  return __builtin_add_overflow(core_.total_bytes, rest, &total) ? INT64_MAX : total;
}

gate::Answer Connection::Consider(Stage stage) {
  facts_.stage = stage;
  facts_.total = TotalWithThis();
  return core_.judge.Consider(facts_);
}

// A method that a field asks for in place of the request's own must be allowed too, and a deny
// judges every alias of the name; an allow does not have to cover an alias.
std::optional<gate::Answer> Connection::DenialBeside() {
  const std::string method = facts_.method;
  for (const std::string& override_method : overrides_) {
    facts_.method = override_method;
    gate::Answer answer = Consider(facts_.stage);
    facts_.method = method;
    if (!answer.allowed) return answer;
  }
  if (facts_.stage == Stage::Name) return std::nullopt;
  const std::string host = facts_.host;
  for (const std::string& alias : aliases_) {
    if (alias == host) continue;
    facts_.host = alias;
    gate::Answer answer = Consider(facts_.stage);
    facts_.host = host;
    if (answer.allowed) continue;
    std::erase_if(answer.reasons, IsSilence);
    if (answer.reasons.empty()) continue;
    for (gate::Reason& reason : answer.reasons) {
      reason.message += fmt::format(" (of {}, an alias of {})", alias, host);
    }
    return answer;
  }
  return std::nullopt;
}

gate::Decision<schema::Action::Egress> Connection::Decide() {
  facts_.stage = Stage::Request;
  facts_.total = TotalWithThis();
  // Others were let out while this one waited for its addresses.
  if (!is_counted_) facts_.requests = core_.window.Count(core_.now_ms()) + 1;
  if (std::optional<gate::Answer> denial = DenialBeside()) {
    return {.answer = *std::move(denial), .permit = std::nullopt};
  }
  gate::Decision<schema::Action::Egress> decision = core_.judge.Decide(facts_);
  if (!decision.permit) return decision;
  live_ = true;
  if (!std::exchange(is_counted_, true)) core_.window.Add(core_.now_ms());
  return decision;
}

Connection::Asks<std::optional<Connection::Trouble>> Connection::OpenUpstream(const Place& place) {
  upstream_.Close();
  aliases_.clear();
  std::vector<values::Address> addresses;
  if (place.host.empty()) {
    addresses.push_back(place.address);
  } else {
    Expect(4 * core_.setup.limits.resolve_ms);  // the resolver keeps its own time
    Result<Resolved> resolved = co_await core_.resolver->Resolve(place.host);
    if (!resolved) {
      const bool late = resolved.error().code == FailureCode::TimedOut;
      co_return Trouble{.answer = {},
                        .status = late ? 504u : 502u,
                        .message = place.host + ": " + resolved.error().message};
    }
    addresses = std::move(resolved->addresses);
    aliases_ = std::move(resolved->aliases);
  }
  for (const values::Address& address : addresses) {
    facts_.ip = address;
    gate::Answer answer = Consider(Stage::Address);
    if (!answer.allowed)
      co_return Trouble{.denied = true, .answer = std::move(answer), .message = {}};
    if (std::optional<gate::Answer> beside = DenialBeside()) {
      co_return Trouble{.denied = true, .answer = *std::move(beside), .message = {}};
    }
  }
  if (addresses.size() > kDialsMax) addresses.resize(kDialsMax);
  bool late = false;
  for (const values::Address& address : addresses) {
    if (cut_) break;
    facts_.ip = address;
    gate::Decision<schema::Action::Egress> decision = Decide();
    if (!decision.permit) {
      co_return Trouble{.denied = true, .answer = std::move(decision.answer), .message = {}};
    }
    answer_ = std::move(decision.answer);
    Expect(core_.setup.limits.connect_ms);
    const bool dialled = co_await Dial(*decision.permit);
    if (dialled && !cut_) {
      upstream_place_ = place;
      upstream_ip_ = address;
      co_return std::nullopt;
    }
    late = timed_out_;
  }
  co_return Trouble{.answer = {},
                    .status = late ? 504u : 502u,
                    .message = fmt::format("{} {}", AuthorityOf(place, 0),
                                           late ? "does not answer" : "cannot be reached")};
}

// Exactly the address that the permit is for.
Connection::Asks<bool> Connection::Dial(const gate::Permit<schema::Action::Egress>& permit) {
  const std::optional<std::string> ip = permit.facts().Text(slot::EgressIp);
  const std::optional<std::int64_t> port = permit.facts().Integer(slot::EgressPort);
  if (!ip || ip->size() != 16 || !port) co_return false;
  values::Address address;
  std::memcpy(address.bytes.data(), ip->data(), 16);
  sockaddr_storage to{};
  socklen_t size = 0;
  if (values::IsIpv4(address)) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&to);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<std::uint16_t>(*port));
    std::memcpy(&v4->sin_addr, address.bytes.data() + 12, 4);
    size = sizeof(sockaddr_in);
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&to);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<std::uint16_t>(*port));
    std::memcpy(&v6->sin6_addr, address.bytes.data(), 16);
    size = sizeof(sockaddr_in6);
  }
  Result<OwnedFd> socket = core_.outside.Socket(to.ss_family, SOCK_STREAM);
  if (!socket) co_return false;
  SetNoDelay(socket->get());
  const int begun = ::connect(socket->get(), reinterpret_cast<const sockaddr*>(&to), size);
  if (begun != 0 && errno != EINPROGRESS) co_return false;
  if (!upstream_.Take(*std::move(socket))) co_return false;
  if (begun != 0) {
    const bool writable = co_await upstream_.WaitWritable();
    int error = 0;
    socklen_t error_size = sizeof(error);
    if (!writable || ::getsockopt(upstream_.fd(), SOL_SOCKET, SO_ERROR, &error, &error_size) != 0 ||
        error != 0) {
      upstream_.Close();
      co_return false;
    }
  }
  co_return true;
}

void Connection::Count(std::size_t out, std::size_t in) {
  flow_out_ += out;
  flow_in_ += in;
  core_.total_bytes += static_cast<std::int64_t>(out + in);
  if (body_grows_) facts_.bytes += static_cast<std::int64_t>(out);
  unjudged_ += out + in;
}

bool Connection::IsCutByCount() {
  const std::size_t most =
      std::clamp(kUnjudgedInAll / core_.connections.size(), kUnjudgedBytesMin, kUnjudgedBytesMax);
  return cut_ || (unjudged_ >= most && Rejudge());
}

std::optional<gate::Answer> Connection::DenialNow() {
  unjudged_ = 0;
  facts_.stage = Stage::Request;
  facts_.total = TotalWithThis();
  gate::Answer answer = core_.judge.Consider(facts_);
  if (!answer.allowed) return answer;
  return DenialBeside();
}

bool Connection::Rejudge() {
  if (!live_ || cut_) return cut_;
  std::optional<gate::Answer> denial = DenialNow();
  if (!denial) return false;
  Cut(*denial);
  return true;
}

void Connection::Cut(const gate::Answer& why) {
  if (cut_) return;
  cut_ = true;
  if (in_flow_) {
    answer_ = why;
    EndFlow(0, "cut");
  }
  guest_.Reset();
  upstream_.Reset();
}

void Connection::Expect(std::int64_t ms) {
  deadline_ms_ = core_.DeadlineIn(ms);
  timed_out_ = false;
}

void Connection::OnTick(std::int64_t now_ms) {
  if (awaits_answer_ && !guest_left_ && !(upload_ && upload_->running) && guest_.IsGone()) {
    guest_left_ = true;
    upstream_.Cancel();
  }
  if (deadline_ms_ == 0 || now_ms < deadline_ms_) return;
  deadline_ms_ = 0;
  timed_out_ = true;
  guest_.Cancel();
  upstream_.Cancel();
}

// Closes so that the guest gets what was sent last: a reset, which unread bytes would cause, could
// take it away.
Connection::Task Connection::LetGo() {
  upstream_.Close();
  guest_.in.Clear();
  guest_.Shut();
  Expect(kLetGoMs);
  for (std::size_t read = 0; read < kLetGoBytesMax;) {
    const std::string_view got = co_await guest_.Read(std::span(core_.room).first(16 * 1024));
    if (got.empty()) break;
    read += got.size();
  }
  guest_.Close();
}

}  // namespace curfew::egress
