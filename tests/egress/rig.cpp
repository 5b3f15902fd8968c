#include "tests/egress/rig.h"

#include "compiler/interpret/interpreter.h"
#include "compiler/module/policy_module.h"
#include "compiler/tool/compile_set.h"
#include "runtime/egress/sample_hello.h"
#include "runtime/gate/policy_in_force.h"
#include "runtime/host/linux/linux_host.h"
#include "tests/fakes/places.h"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

#include <fmt/format.h>

namespace curfew::egress {

namespace slot = schema::slot;

namespace {

constexpr const char* Allows = R"(language 1
package tests.egress
image python311 {{
  digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
}}
sandbox work when task.kind == "work" {{
  image {{
    allow     python311
    exec      any
    size      cpu 1, memory 256MiB
    isolation any
  }}
  network {{
    files:   allow GET, HEAD "http://files.example/pub/**"
    writes:  allow POST, PUT "http://files.example/in/**"
    port:    allow GET "http://files.example/**" port 8080
    wild:    allow GET "http://*.wild.example/**"
    api:     allow any "http://api.example/**"
    inside:  allow GET "http://inside.example/**" at "10.20.0.0/16"
    literal: allow GET "http://198.51.100.9/**"
    db:      allow connect "db.example:5432"
    web:     allow connect "web.example:443"
    secure:  allow any "https://secure.example"
    secret:  deny any "http://files.example/pub/secret/**"
    alias:   deny any "http://*.forbidden.example"
    {}
  }}
  lifetime {{ ttl 10m }}
}}
{}
)";

void Must(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "the rig: %s\n", what.c_str());
  std::abort();
}

OwnedFd Listening(int type, std::uint16_t& port) {
  OwnedFd fd(socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  Must(bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0, "bind");
  if (type == SOCK_STREAM) Must(listen(fd.get(), 4096) == 0, "listen");
  socklen_t size = sizeof(at);
  getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &size);
  port = ntohs(at.sin_port);
  return fd;
}

std::uint16_t PeerPort(int fd) {
  sockaddr_in at{};
  socklen_t size = sizeof(at);
  getpeername(fd, reinterpret_cast<sockaddr*>(&at), &size);
  return ntohs(at.sin_port);
}

}  // namespace

class Policy final : public gate::DecisionSink {
 public:
  Policy(const std::string& more, const std::string& set) {
    const fakes::TemporaryDirectory directory;
    const std::string path = directory.path() + "/egress.curfew";
    std::ofstream(path) << fmt::format(fmt::runtime(Allows), more, set);
    const std::vector<std::string> paths = {path};
    Result<Bytes> compiled = tool::CompileModule(paths);
    Must(compiled.has_value(), compiled ? "" : compiled.error().message);
    bytes_ = *std::move(compiled);
    engine_ = std::make_unique<interpret::Interpreter>(*module::PolicyModule::Load(bytes_, 1));
    policy_ = std::make_unique<gate::PolicyInForce>(*engine_);
    gate_ = std::make_unique<gate::Gate>(*policy_, *this);
  }
  gate::Answer Consider(const EgressFacts& facts) {
    module::Request request = About(facts);
    return gate_->Consider(request);
  }
  gate::Decision<schema::Action::Egress> Decide(const EgressFacts& facts) {
    module::Request request = About(facts);
    return gate_->Decide<schema::Action::Egress>(request);
  }
  Outcome Record(const gate::Answer&, const module::Request*) override { return Ok(); }

 private:
  // What a keeper knows of its sandbox.
  static module::Request About(const EgressFacts& facts) {
    module::Request request(schema::Action::Egress, facts.stage);
    request.SetNow(1'800'000'000'000);
    request.SetText(slot::CallerId, "user:ana");
    request.SetInteger(slot::CallerKind, 0);
    request.Set(slot::CallerGroups, module::Value::OfItems({}));
    request.SetInteger(slot::CallerOperator, 0);
    request.Set(slot::HostCapabilities, module::Value::OfItems({}));
    request.SetText(slot::TaskId, "t1");
    request.SetText(slot::TaskOwner, "user:ana");
    request.SetText(slot::TaskTeam, "platform");
    request.SetText(slot::TaskKind, "work");
    request.SetInteger(slot::TaskTrigger, 0);
    request.SetText(slot::SandboxId, "s1");
    request.SetText(slot::SandboxClass, "work");
    request.SetInteger(slot::SandboxAge, 1000);
    request.SetInteger(slot::SandboxIdle, 0);
    request.SetInteger(slot::SandboxTtlLeft, 599'000);
    static const Digest image{};
    request.SetDigest(slot::SandboxImage, image);
    request.SetInteger(slot::SandboxIsolation, 0);
    request.SetText(slot::SandboxCreator, "user:ana");
    request.SetInteger(slot::TokenValid, 1);
    request.SetInteger(slot::TokenExpiresIn, 599'000);
    State(facts, request);
    return request;
  }

  Bytes bytes_;
  std::unique_ptr<interpret::Interpreter> engine_;
  std::unique_ptr<gate::PolicyInForce> policy_;
  std::unique_ptr<gate::Gate> gate_;
};

Rig::Rig(const Limits& limits, const std::string& more, const std::string& set)
    : policy_(std::make_shared<Policy>(more, set)), clock_(host::MakeLinuxClock()) {
  for (const char* name : {"files.example", "api.example", "a.wild.example", "web.example",
                           "db.example", "secure.example"}) {
    resolver.Say(name, {.addresses = {"198.51.100.7"}});
  }
  Setup setup;
  setup.streams = Listening(SOCK_STREAM, streams_port_);
  // Streams first: a port of theirs may still be taken by a connection that has ended.
  setup.dns_streams = Listening(SOCK_STREAM, dns_port_);
  setup.dns_datagrams = Listening(SOCK_DGRAM, dns_port_);
  setup.destination_of = [this](int fd) -> Result<Endpoint> {
    const std::lock_guard lock(mutex_);
    return destinations_.at(PeerPort(fd));
  };
  setup.own_address = *values::ParseAddress(OwnAddress);
  setup.names_base = *values::ParseAddress("198.18.0.0");
  setup.resolvers = {{*values::ParseAddress(PlayedResolver::Address), 53}};
  setup.limits = limits;
  auto started = Gateway::Start(std::move(setup), *this, outside_, *this, *clock_);
  Must(started.has_value(), started ? "" : started.error().message);
  gateway_ = *std::move(started);
}

Rig::~Rig() = default;

Stream Rig::Dial(const std::string& address, std::uint16_t port) {
  const OwnedFd held(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Must(bind(held.get(), reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0, "bind");
  Stream stream(dup(held.get()));
  {
    const std::lock_guard lock(mutex_);
    destinations_[stream.local_port()] = {*values::ParseAddress(address), port};
  }
  at.sin_port = htons(streams_port_);
  Must(connect(stream.fd(), reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0, "connect");
  return stream;
}

Stream Rig::DialName(const std::string& name, std::uint16_t port) {
  const std::string answer = AskDns(name);
  Must(answer.size() > 16 && answer[7] == 1, "no address for " + name);
  char text[INET_ADDRSTRLEN];
  inet_ntop(AF_INET, answer.data() + answer.size() - 4, text, sizeof(text));
  return Dial(text, port);
}

std::string Rig::Ask(Stream stream, std::string_view text) {
  stream.Send(text);
  return stream.ReadAll();
}

std::string Rig::Get(const std::string& host, const std::string& target, const std::string& head) {
  return Ask(DialName(host),
             fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}\r\n", target, host,
                         head));
}

std::string Rig::AskDns(const std::string& name) {
  std::string wire;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    wire += WithLength(1, std::string_view(name).substr(at, dot - at));
    at = dot + 1;
  }
  return AskDnsRaw(BigEndian(77, 2) + BigEndian(0x0100, 2) + BigEndian(1, 2) + BigEndian(0, 6) +
                   wire + std::string(1, '\0') + BigEndian(1, 2) + BigEndian(1, 2));
}

std::string Rig::AskDnsRaw(std::string_view query, bool tcp) {
  if (tcp) {
    Stream stream = DialDns();
    stream.Send(WithLength(2, query));
    const std::string length = stream.ReadBytes(2);
    if (length.size() < 2) return {};
    return stream.ReadBytes(static_cast<std::size_t>(static_cast<unsigned char>(length[0])) << 8 |
                            static_cast<unsigned char>(length[1]));
  }
  const OwnedFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const timeval patience{.tv_sec = 2, .tv_usec = 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(dns_port_);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sendto(fd.get(), query.data(), query.size(), 0, reinterpret_cast<const sockaddr*>(&at),
         sizeof(at));
  char room[4096];
  const ssize_t got = recv(fd.get(), room, sizeof(room), 0);
  return got < 0 ? std::string() : std::string(room, static_cast<std::size_t>(got));
}

std::shared_ptr<Policy> Rig::policy() {
  const std::lock_guard lock(mutex_);
  return policy_;
}

std::size_t Rig::Reload(const std::string& more, const std::string& set) {
  auto next = std::make_shared<Policy>(more, set);
  {
    const std::lock_guard lock(mutex_);
    policy_ = std::move(next);
  }
  return gateway_->Rejudge();
}

gate::Answer Rig::Consider(const EgressFacts& facts) { return policy()->Consider(facts); }
gate::Decision<schema::Action::Egress> Rig::Decide(const EgressFacts& facts) {
  gate::Decision<schema::Action::Egress> decision = policy()->Decide(facts);
  if (decision.permit) ++permits_;
  return decision;
}

void Rig::Add(const Flow& flow) {
  const std::lock_guard lock(mutex_);
  flows_.push_back(flow);
  if (flow.is_refused()) {
    denials_.push_back(DenialLine(flow.started_ms + flow.duration_ms, flow.facts, flow.answer));
  }
}

void Rig::Denied(std::string line) {
  const std::lock_guard lock(mutex_);
  denials_.push_back(std::move(line));
}

std::vector<Flow> Rig::Flows(std::size_t count) {
  for (int i = 0; i < 1000; ++i) {
    {
      const std::lock_guard lock(mutex_);
      if (flows_.size() >= count) return flows_;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const std::lock_guard lock(mutex_);
  return flows_;
}

std::vector<std::string> Rig::denials() {
  const std::lock_guard lock(mutex_);
  return denials_;
}

}  // namespace curfew::egress
