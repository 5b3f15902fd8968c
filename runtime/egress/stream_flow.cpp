// A stream of bytes: everything about it is judged before the first one passes.
#include "runtime/egress/connection.h"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

namespace curfew::egress {

namespace asio = boost::asio;
using schema::Stage;

namespace {
constexpr std::uint16_t kHttpsPort = 443;
}  // namespace

Connection::Task Connection::ServeStream(Scheme scheme) {
  facts_.scheme = scheme;
  facts_.http = Visible::Hidden;
  body_grows_ = true;
  gate::Answer answer = Consider(place_.host.empty() ? Stage::Address : Stage::Name);
  if (!answer.allowed) {
    co_await RefuseStream(std::move(answer), Alert::AccessDenied);
    co_return;
  }
  if (scheme == Scheme::Https || place_.port == kHttpsPort) {
    const bool agrees = co_await ReadHello();
    if (!agrees) co_return;
    // Another set may be in force by now, and what comes next asks a resolver.
    answer = Consider(place_.host.empty() ? Stage::Address : Stage::Name);
    if (!answer.allowed) {
      co_await RefuseStream(std::move(answer), Alert::AccessDenied);
      co_return;
    }
  }
  std::optional<Trouble> trouble = co_await OpenUpstream(place_);
  if (cut_) co_return;
  if (trouble && trouble->denied) {
    co_await RefuseStream(std::move(trouble->answer), Alert::AccessDenied);
    co_return;
  }
  if (trouble) {
    if (BeginsTls(AsBytes(guest_.in.view()))) {
      const std::string alert = AlertRecord(Alert::InternalError);
      Expect(core_.setup.limits.head_ms);
      co_await guest_.Write(alert);
      EndFlow(0, std::move(trouble->message));
      co_await LetGo();
    } else {
      EndFlow(0, std::move(trouble->message));
      guest_.Reset();
    }
    co_return;
  }
  co_await Relay();
}

// Whether the ClientHello names the one place that was judged. It stays where it is, to be sent.
Connection::Asks<bool> Connection::ReadHello() {
  sniffed_ = true;
  Expect(core_.setup.limits.first_byte_ms);
  HelloReading reading;
  for (;;) {
    const std::string_view seen = guest_.in.view();
    if (seen.size() >= reading.needed) reading = ReadClientHello(AsBytes(seen));
    if (reading.state != HelloReading::State::NeedMore) break;
    const bool more = co_await guest_.ReadMore(std::span(core_.room).first(16 * 1024));
    if (more) continue;
    reading.state = HelloReading::State::Refused;
    reading.reason = timed_out_ ? "no ClientHello came in time"
                                : "the stream ended before its ClientHello was whole";
    break;
  }
  if (reading.state == HelloReading::State::Complete && reading.name != place_.host) {
    reading.state = HelloReading::State::Refused;
    reading.alert = Alert::UnrecognizedName;
    if (reading.name.empty()) {
      reading.reason = "the ClientHello names no server, so nobody can say where it leads";
    } else if (place_.host.empty()) {
      reading.reason = fmt::format("the ClientHello names {}, and the connection is to an address",
                                   reading.name);
    } else {
      reading.reason = fmt::format("the ClientHello names {}, and the connection is to {}",
                                   reading.name, place_.host);
    }
  }
  if (reading.state == HelloReading::State::Complete) co_return true;
  co_await RefuseStream(OwnDenial(InvalidId, reading.reason), reading.alert);
  co_return false;
}

// With an alert where the guest speaks TLS, else with a reset.
Connection::Task Connection::RefuseStream(gate::Answer answer, Alert alert) {
  answer_ = std::move(answer);
  const bool tls = BeginsTls(AsBytes(guest_.in.view()));
  EndFlow(0);
  upstream_.Reset();
  if (!tls) {
    guest_.Reset();
    co_return;
  }
  const std::string record = AlertRecord(alert);
  Expect(core_.setup.limits.head_ms);
  co_await guest_.Write(record);
  co_await LetGo();
}

Connection::Task Connection::Relay() {
  out_ended_ = false;
  joined_.emplace(core_.io, asio::steady_timer::time_point::max());
  asio::co_spawn(core_.io, PumpOut(shared_from_this()), asio::detached);
  const bool whole = co_await Pump(upstream_, guest_);
  if (!whole) {
    guest_.Reset();
    upstream_.Reset();
  }
  if (!out_ended_) {
    co_await joined_->async_wait(asio::as_tuple(asio::use_awaitable));
  }
  EndFlow(0, timed_out_ ? "no byte came for too long" : whole ? "" : "the stream broke");
}

Connection::Task Connection::PumpOut(std::shared_ptr<Connection> self) {
  const bool whole = co_await self->Pump(self->guest_, self->upstream_);
  if (!whole) {
    self->guest_.Reset();
    self->upstream_.Reset();
  }
  self->out_ended_ = true;
  self->joined_->cancel();
}

// Everything that comes from one to the other; whether it came to its end.
Connection::Asks<bool> Connection::Pump(Peer& from, Peer& to) {
  const bool out = &from == &guest_;
  for (;;) {
    Expect(core_.setup.limits.idle_ms);
    std::string_view bytes = from.in.view();
    const bool kept = !bytes.empty();
    if (!kept) bytes = co_await from.Read(core_.room);
    if (bytes.empty()) {
      if (from.failed()) co_return false;
      to.Shut();
      co_return true;
    }
    if (out && !sniffed_) {
      // A stream to another port may be anything; TLS must still name the place.
      sniffed_ = true;
      if (BeginsTls(AsBytes(bytes))) {
        if (!kept && !from.in.Append(bytes)) co_return false;
        const bool agrees = co_await ReadHello();
        if (!agrees) co_return false;
        continue;
      }
    }
    Count(out ? bytes.size() : 0, out ? 0 : bytes.size());
    if (IsCutByCount()) co_return false;
    const std::array<std::string_view, 1> pieces = {bytes};
    const bool written = co_await to.Write(std::span<const std::string_view>(pieces));
    if (!written) co_return false;
    if (kept) from.in.Clear();
  }
}

}  // namespace curfew::egress
