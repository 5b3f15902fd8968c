#include "runtime/keeper/egress_desk.h"

#include "runtime/egress/gateway.h"
#include "runtime/keeper/resolver_place.h"
#include "runtime/network/namespace.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace curfew::keeper {
namespace {

constexpr std::size_t DenialsQueuedMax = 256;

std::vector<evidence::NamedRule> RulesOf(const std::vector<gate::Reason>& reasons) {
  std::vector<evidence::NamedRule> rules;
  for (const gate::Reason& reason : reasons) {
    rules.push_back(
        {.id = reason.id, .message = reason.message, .file = reason.file, .line = reason.line});
  }
  return rules;
}

values::Address AddressOf(std::uint32_t ipv4) {
  values::Address address;
  address.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  for (std::size_t i = 0; i < 4; ++i) {
    address.bytes[12 + i] = static_cast<std::uint8_t>(ipv4 >> (24 - 8 * i));
  }
  return address;
}

Result<egress::Endpoint> DestinationOf(int connection) {
  CURFEW_TRY(const network::Destination meant, network::OriginalDestination(connection));
  return egress::Endpoint{.address = AddressOf(meant.address), .port = meant.port};
}

class EgressGateway final : public RunningGateway {
 public:
  static Result<std::unique_ptr<RunningGateway>> Open(const GatewayRequest& request) {
    egress::Setup setup;
    for (const std::string& text : request.resolvers) {
      CURFEW_TRY(const ResolverPlace resolver, ParseResolver(text));
      setup.resolvers.push_back({.address = resolver.address, .port = resolver.port});
    }
    setup.streams = std::move(request.wire.tcp_listener);
    setup.dns_datagrams = std::move(request.wire.dns_udp);
    setup.dns_streams = std::move(request.wire.dns_tcp);
    setup.destination_of = DestinationOf;
    setup.own_address = AddressOf(network::NumberOf(network::GatewayAddress));
    setup.names_base = AddressOf(network::NumberOf(network::NamesNetwork));
    CURFEW_TRY(std::unique_ptr<EgressDesk> desk, EgressDesk::Open(request));
    std::unique_ptr<EgressGateway> gateway(new EgressGateway(request, std::move(desk)));
    CURFEW_TRY_VOID(gateway->Start(std::move(setup)));
    return std::unique_ptr<RunningGateway>(std::move(gateway));
  }

  ~EgressGateway() override {
    {
      const LetGo wait(lock_);
      gateway_.reset();
    }
    loop_.Remove(*desk_);
  }

  std::size_t Rejudge() override {
    const LetGo wait(lock_);
    return gateway_->Rejudge();
  }

 private:
  EgressGateway(const GatewayRequest& request, std::unique_ptr<EgressDesk> desk)
      : lock_(request.lock),
        loop_(request.loop),
        clock_(request.clock),
        dial_from_(request.dial_from),
        desk_(std::move(desk)) {
    loop_.Add(*desk_);
  }

  // The gateway's thread is born where it is to dial from, and so never has to go anywhere.
  Outcome Start(egress::Setup setup) {
    const auto start = [&]() -> Outcome {
      CURFEW_TRY(gateway_,
                 egress::Gateway::Start(std::move(setup), *desk_, outside_, *desk_, clock_));
      return Ok();
    };
    const LetGo wait(lock_);
    if (dial_from_ < 0) return start();
    return network::InNamespace(dial_from_, start);
  }

  std::mutex& lock_;
  host::EventLoop& loop_;
  const host::Clock& clock_;
  int dial_from_;
  std::unique_ptr<EgressDesk> desk_;
  egress::SameNamespace outside_;
  std::unique_ptr<egress::Gateway> gateway_;
};

}  // namespace

Result<std::unique_ptr<EgressDesk>> EgressDesk::Open(const GatewayRequest& request) {
  OwnedFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.is_open()) return SystemFailure(errno, "make an eventfd");
  return std::unique_ptr<EgressDesk>(new EgressDesk(request, std::move(wake)));
}

EgressDesk::EgressDesk(const GatewayRequest& request, OwnedFd wake)
    : request_(request),
      flows_(request.clock,
             [this](const egress::Flow& flow, std::uint64_t times) { Write(flow, times); }),
      wake_(std::move(wake)) {}

EgressDesk::~EgressDesk() {
  flows_.WriteAll();
  TellDenials();
  if (lost_ > 0) request_.note_lost_flows(lost_);
}

gate::Answer EgressDesk::Consider(const egress::EgressFacts& facts) {
  const std::lock_guard held(request_.lock);
  return request_.gate.Consider(request_.questions.AskEgress(facts, request_.sandbox_facts()));
}

gate::Decision<schema::Action::Egress> EgressDesk::Decide(const egress::EgressFacts& facts) {
  const std::lock_guard held(request_.lock);
  return request_.gate.Decide<schema::Action::Egress>(
      request_.questions.AskEgress(facts, request_.sandbox_facts()));
}

std::int64_t EgressDesk::WindowMs() {
  const std::lock_guard held(request_.lock);
  return request_.window_ms();
}

void EgressDesk::Add(const egress::Flow& flow) {
  const std::lock_guard held(request_.lock);
  flows_.Add(flow);
}

void EgressDesk::OnTick() {
  const std::lock_guard held(request_.lock);
  flows_.WriteDue();
}

// On record, and said to the task where it was refused.
void EgressDesk::Write(const egress::Flow& flow, std::uint64_t times) {
  evidence::FlowRecord record = RecordOf(flow);
  record.times = times;
  if (!request_.books.Append(evidence::RecordKind::Flow, evidence::FlowFacts(record))) {
    lost_ += times;
  }
  if (!flow.is_refused()) return;
  std::string line =
      egress::DenialLine(flow.started_ms + flow.duration_ms, flow.facts, flow.answer);
  if (times > 1) line += fmt::format(" ({} times more)", times);
  Denied(std::move(line));
}

void EgressDesk::Denied(std::string line) {
  const std::lock_guard held(queue_lock_);
  if (queue_.size() >= DenialsQueuedMax) {
    ++missed_;
    return;
  }
  queue_.push_back(std::move(line));
  if (queue_.size() > 1) return;  // whoever takes the first takes this too
  const std::uint64_t one = 1;
  static_cast<void>(write(wake_.get(), &one, sizeof one));  // full: it is awake already
}

std::vector<host::EventSource::Watch> EgressDesk::Watches() const {
  return {{.fd = wake_.get(), .events = POLLIN}};
}

void EgressDesk::OnReady() { TellDenials(); }

void EgressDesk::TellDenials() {
  std::uint64_t count = 0;
  static_cast<void>(read(wake_.get(), &count, sizeof count));
  std::deque<std::string> lines;
  std::size_t missed = 0;
  {
    const std::lock_guard held(queue_lock_);
    lines.swap(queue_);
    missed = std::exchange(missed_, 0);
  }
  for (std::string& line : lines) request_.note_denial(std::move(line));
  if (missed > 0) request_.note_untold_denials(missed);
}

evidence::FlowRecord RecordOf(const egress::Flow& flow) {
  evidence::FlowRecord record;
  const egress::EgressFacts& facts = flow.facts;
  if (facts.scheme) record.scheme = egress::WordOf(*facts.scheme);
  record.host = facts.host;
  if (facts.ip) record.ip = values::ToString(*facts.ip);
  record.port = facts.port;
  record.method = facts.method;
  record.path = facts.path;
  record.query = facts.query;
  record.stage = schema::WordOf(facts.stage);
  record.allowed = flow.answer.allowed;
  record.rules = RulesOf(flow.answer.reasons);
  record.trials = RulesOf(flow.answer.trials);
  record.class_name = flow.answer.class_name;
  record.generation = flow.answer.generation;
  record.started_ms = flow.started_ms;
  record.duration_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(flow.duration_ms, 0));
  record.bytes_out = flow.bytes_out;
  record.bytes_in = flow.bytes_in;
  record.status = flow.status;
  record.end = flow.end;
  return record;
}

Result<std::unique_ptr<RunningGateway>> OpenEgressGateway(const GatewayRequest& request) {
  return EgressGateway::Open(request);
}

}  // namespace curfew::keeper
