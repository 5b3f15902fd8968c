#include "tests/bench/judged_gateway.h"

#include "compiler/module/capability.h"
#include "compiler/tool/compile_set.h"
#include "compiler/tool/engine_choice.h"
#include "runtime/host/linux/linux_host.h"
#include "runtime/keeper/admission.h"
#include "runtime/keeper/egress_desk.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <mutex>
#include <netinet/in.h>
#include <resolv.h>
#include <sys/socket.h>

namespace curfew::bench {
namespace {

constexpr std::uint16_t ProxyPort = 3128;

Result<OwnedFd> ListenAnywhere(int type, std::uint16_t& port) {
  OwnedFd fd(socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof at;
  auto* address = reinterpret_cast<sockaddr*>(&at);
  if (bind(fd.get(), address, size) != 0 || (type == SOCK_STREAM && listen(fd.get(), 4096) != 0) ||
      getsockname(fd.get(), address, &size) != 0) {
    return SystemFailure(errno, "listen");
  }
  port = ntohs(at.sin_port);
  return fd;
}

// Where the guest meant to go, by the address that it dialled.
Result<egress::Endpoint> DestinationOf(int connection, const values::Address& proxy) {
  sockaddr_in at{};
  socklen_t size = sizeof at;
  if (getsockname(connection, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
    return SystemFailure(errno, "ask where a connection goes");
  }
  if (at.sin_addr.s_addr == htonl(INADDR_LOOPBACK)) {
    return egress::Endpoint{.address = proxy, .port = ProxyPort};
  }
  char text[INET_ADDRSTRLEN];
  inet_ntop(AF_INET, &at.sin_addr, text, sizeof text);
  return egress::Endpoint{.address = *values::ParseAddress(text), .port = 80};
}

evidence::Json CreateRequest(const std::string& image) {
  return {{"version", 1},
          {"action", "create"},
          {"task",
           {{"id", "bench"},
            {"owner", "user:ana"},
            {"team", "platform"},
            {"kind", "work"},
            {"trigger", "human"}}},
          {"create", {{"image", image}}}};
}

}  // namespace

// Later members rest on earlier ones.
struct JudgedGateway::Parts {
  host::LinuxHost host;
  host::StateDirectory state;
  Incarnation incarnation;
  Bytes module;
  tool::EngineChoice engine;
  std::unique_ptr<gate::PolicyInForce> policy;
  std::unique_ptr<keeper::Questions> questions;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<evidence::SigningKey> key;
  std::unique_ptr<lifecycle::Books> books;
  std::unique_ptr<keeper::RecordedDecisions> decisions;
  std::unique_ptr<gate::Gate> gate;
  keeper::SandboxFacts facts;
  network::Wire wire;
  std::mutex lock;
  std::unique_ptr<host::EventLoop> loop;
  egress::SameNamespace outside;
  std::uint16_t port = 0;
  std::uint16_t dns_port = 0;
  std::unique_ptr<keeper::EgressDesk> desk;
  std::unique_ptr<egress::Gateway> gateway;

  Outcome LoadPolicy(const std::string& path);
  Outcome OpenBooks(const std::string& directory);
  Outcome StartGateway(const std::string& resolver);
};

Outcome JudgedGateway::Parts::LoadPolicy(const std::string& path) {
  const std::string paths[] = {path};
  CURFEW_TRY(module, tool::CompileModule(paths));
  CURFEW_TRY(engine, tool::ChooseEngine(module, tool::EngineWish::Auto));
  policy = std::make_unique<gate::PolicyInForce>(*engine.engine);
  std::set<std::string, std::less<>> capabilities;
  for (const std::string_view word : module::capability::All) capabilities.emplace(word);
  questions = std::make_unique<keeper::Questions>(*policy, *host.clock,
                                                  keeper::Caller{.id = "user:ana", .groups = {}},
                                                  std::move(capabilities));
  const auto own = policy->module().FindClass("work");
  if (!own) return Failure(FailureCode::NotFound, path + " has no class named work");
  facts.image = policy->module().plan(*own).images.front().digest;
  facts.class_name = "work";
  facts.creator = "user:ana";
  facts.ttl_left_ms = facts.token_expires_in_ms = 600'000;
  facts.token_valid = true;
  return questions->StateCreate(CreateRequest(ToString(facts.image)));
}

Outcome JudgedGateway::Parts::OpenBooks(const std::string& directory) {
  CURFEW_TRY(incarnation, host::DrawIncarnation(*host.entropy));
  facts.id = incarnation.id;
  state.root = directory;
  CURFEW_TRY_VOID(state.Prepare(*host.files));
  CURFEW_TRY_VOID(state.PrepareSandbox(*host.files, incarnation.id));
  CURFEW_TRY(store::Store opened, store::Store::Open(state.Database()));
  store = std::make_unique<store::Store>(std::move(opened));
  CURFEW_TRY(evidence::SigningKey signing,
             evidence::SigningKey::LoadOrCreate(*host.files, *host.entropy, state.ReceiptKey(),
                                                state.ReceiptPublicKey()));
  key = std::make_unique<evidence::SigningKey>(std::move(signing));
  store::Sandbox row;
  row.incarnation = incarnation;
  row.owner = row.creator = "user:ana";
  row.task_id = "bench";
  row.created_ms = host.clock->WallNowMs();
  row.boot_id = host.clock->BootId();
  row.policy_digest = ToString(policy->module().manifest().policy);
  row.policy_generation = 1;
  row.image_digest = ToString(facts.image);
  CURFEW_TRY_VOID(store->Create(row));
  CURFEW_TRY(lifecycle::Books opened_books, lifecycle::Books::Open({.files = *host.files,
                                                                    .processes = *host.processes,
                                                                    .clock = *host.clock,
                                                                    .state = state,
                                                                    .store = *store,
                                                                    .key = *key,
                                                                    .search = {},
                                                                    .checkpoint = {}},
                                                                   incarnation));
  books = std::make_unique<lifecycle::Books>(std::move(opened_books));
  decisions = std::make_unique<keeper::RecordedDecisions>(*books, *policy);
  gate = std::make_unique<gate::Gate>(*policy, *decisions);
  return Ok();
}

Outcome JudgedGateway::Parts::StartGateway(const std::string& resolver) {
  loop = std::make_unique<host::EventLoop>(*host.clock);
  CURFEW_TRY(desk,
             keeper::EgressDesk::Open({.wire = wire,
                                       .gate = *gate,
                                       .questions = *questions,
                                       .books = *books,
                                       .clock = *host.clock,
                                       .lock = lock,
                                       .loop = *loop,
                                       .resolvers = {},
                                       .sandbox_facts = [this] { return facts; },
                                       .window_ms = [] { return module::EgressLimits().window_ms; },
                                       .note_denial = [](const std::string&) {},
                                       .note_untold_denials = [](std::size_t) {},
                                       .note_lost_flows = [](std::uint64_t) {}}));
  egress::Setup setup;
  CURFEW_TRY(setup.streams, ListenAnywhere(SOCK_STREAM, port));
  CURFEW_TRY(setup.dns_datagrams, ListenAnywhere(SOCK_DGRAM, dns_port));
  setup.own_address = *values::ParseAddress("10.0.2.2");
  setup.names_base = *values::ParseAddress("198.18.0.0");
  setup.destination_of = [proxy = setup.own_address](int connection) {
    return DestinationOf(connection, proxy);
  };
  setup.resolvers = {{*values::ParseAddress(resolver), 53}};
  CURFEW_TRY(gateway, egress::Gateway::Start(std::move(setup), *desk, outside, *desk, *host.clock));
  return Ok();
}

Result<std::unique_ptr<JudgedGateway>> JudgedGateway::Open(const std::string& policy_path,
                                                           const std::string& directory,
                                                           const std::string& resolver) {
  auto parts = std::make_unique<Parts>();
  CURFEW_TRY_VOID(parts->LoadPolicy(policy_path));
  CURFEW_TRY_VOID(parts->OpenBooks(directory));
  CURFEW_TRY_VOID(parts->StartGateway(resolver));
  return std::unique_ptr<JudgedGateway>(new JudgedGateway(std::move(parts)));
}

JudgedGateway::JudgedGateway(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
JudgedGateway::~JudgedGateway() {
  parts_->gateway.reset();
  const std::lock_guard held(parts_->lock);
  parts_->desk.reset();
}

std::uint16_t JudgedGateway::port() const { return parts_->port; }
Result<std::string> JudgedGateway::AddressOf(const std::string& name) const {
  struct __res_state resolver{};
  if (res_ninit(&resolver) != 0) return Failure(FailureCode::NotFound, "no resolver can be asked");
  resolver.nscount = 1;
  resolver.nsaddr_list[0].sin_family = AF_INET;
  resolver.nsaddr_list[0].sin_port = htons(parts_->dns_port);
  resolver.nsaddr_list[0].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::array<unsigned char, 512> answer;
  const int size = res_nquery(&resolver, name.c_str(), ns_c_in, ns_t_a, answer.data(),
                              static_cast<int>(answer.size()));
  res_nclose(&resolver);
  if (size < 4) return Failure(FailureCode::NotFound, "the gateway has no address for " + name);
  // The address is the answer's last field.
  char text[INET_ADDRSTRLEN];
  inet_ntop(AF_INET, answer.data() + size - 4, text, sizeof text);
  return std::string(text);
}
egress::Gateway& JudgedGateway::gateway() { return *parts_->gateway; }
std::string JudgedGateway::engine() const { return std::string(parts_->engine.engine->kind()); }

}  // namespace curfew::bench
