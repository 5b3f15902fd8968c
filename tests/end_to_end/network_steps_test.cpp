// The keeper's driver does the steps of a sandbox that may let something out, on a real machine,
// with a gateway that the test plays: in their order, to their use, and back to nothing.
#include "runtime/evidence/residue.h"
#include "runtime/host/linux/linux_host.h"
#include "runtime/keeper/sandbox_driver.h"
#include "runtime/network/kernel_networks.h"
#include "tests/end_to_end/guest_rig.h"
#include "tests/fakes/places.h"

#include <algorithm>
#include <cstdlib>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::tests {
namespace {

constexpr std::int64_t PatienceMs = 120'000;
constexpr std::uint32_t TestUid = 64'998;

std::string ImageFolder() {
  const char* folder = std::getenv("CURFEW_IMAGE");
  return folder != nullptr ? folder : CURFEW_IMAGE_FOLDER;
}

// Says "welcome" on each connection, and notes where it was meant to go.
class PlayedGateway final : public keeper::RunningGateway, public host::EventSource {
 public:
  PlayedGateway(host::EventLoop& loop, network::Wire& wire, std::vector<std::string>& history)
      : loop_(loop), listener_(std::move(wire.tcp_listener)), history_(history) {
    loop_.Add(*this);
    history_.emplace_back("gateway opened");
  }
  ~PlayedGateway() override {
    loop_.Remove(*this);
    history_.emplace_back("gateway closed");
  }
  std::size_t Rejudge() override { return 0; }
  [[nodiscard]] std::vector<Watch> Watches() const override {
    return {{.fd = listener_.get(), .events = POLLIN}};
  }
  void OnReady() override {
    const OwnedFd accepted(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!accepted.is_open()) return;
    const Result<network::Destination> meant = network::OriginalDestination(accepted.get());
    history_.push_back(meant ? fmt::format("{:x}:{}", meant->address, meant->port) : "nowhere");
    CHECK(write(accepted.get(), "welcome", 7) == 7);
  }

 private:
  host::EventLoop& loop_;
  OwnedFd listener_;
  std::vector<std::string>& history_;
};

struct Scene {
  host::LinuxHost host;
  network::KernelNetworks networks;
  fakes::TemporaryDirectory directory;
  host::StateDirectory state{.root = directory.path()};
  host::EventLoop loop{*host.clock};
  std::unique_ptr<store::Store> store;
  std::unique_ptr<evidence::SigningKey> key;
  Incarnation sandbox = *host::DrawIncarnation(*host.entropy);
  std::int64_t created_ms = host.clock->MonotonicNowMs();
  std::vector<std::string> history;
  std::unique_ptr<keeper::SandboxDriver> driver;

  Scene() {
    REQUIRE(state.Prepare(*host.files));
    REQUIRE(state.PrepareSandbox(*host.files, sandbox.id));
    store = std::make_unique<store::Store>(*store::Store::Open(state.Database()));
    key = std::make_unique<evidence::SigningKey>(*evidence::SigningKey::LoadOrCreate(
        *host.files, *host.entropy, state.TokenKey(), state.TokenPublicKey()));
    store::Sandbox row;
    row.incarnation = sandbox;
    row.boot_id = host.clock->BootId();
    REQUIRE(store->Create(row));
    driver = std::make_unique<keeper::SandboxDriver>(keeper::SandboxSetting{
        .sandbox = sandbox,
        .task_id = "t",
        .owner = "user:root",
        .class_name = "work",
        .image_directory = ImageFolder(),
        .machine_uid = TestUid,
        .capabilities = machine::Probe(),
        .over_ms = created_ms + 10 * PatienceMs,
        .loop = loop,
        .clock = *host.clock,
        .entropy = *host.entropy,
        .state = state,
        .store = *store,
        .token_key = *key,
        .keeper_program = CURFEW_KEEPER,
        .open_gateway =
            [this](network::Wire& wire) -> Result<std::unique_ptr<keeper::RunningGateway>> {
          return std::unique_ptr<keeper::RunningGateway>(
              std::make_unique<PlayedGateway>(loop, wire, history));
        },
        .is_interrupted = [] { return false; },
        .is_hurried = [] { return true; },
        .on_processes = [this](const guest::Processes&) { history.emplace_back("processes"); }});
  }

  std::vector<plan::Step> Steps() {
    const Result<image::Image> image = image::Open(ImageFolder());
    REQUIRE(image);
    return {plan::OpenImage{.digest = image->digest},
            plan::MakeCgroups{.name = sandbox.id, .guest_bytes = 256 << 20},
            plan::MakeWire{.name = sandbox.id},
            plan::StartMachine{
                .vcpus = 1, .memory_bytes = 256 << 20, .isolation = plan::Isolation::Emulated},
            plan::JoinAgent{.host_name = sandbox.id},
            plan::StartGateway{}};
  }

  bool Drive(const std::function<bool()>& done) {
    return loop.RunUntil(done, host.clock->MonotonicNowMs() + PatienceMs);
  }

  // What a command inside prints.
  std::string Say(const std::vector<std::string>& arguments) {
    std::string out;
    bool over = false;
    guest::Session& session = *driver->session();
    guest::Prepare prepare;
    prepare.arguments = arguments;
    prepare.directory = "/";
    prepare.user = "agent";
    std::uint32_t id = 0;
    id = session.AskProgram(prepare, [&](Result<guest::Prepared> prepared) {
      over = !prepared.has_value();
      if (!prepared) return;
      guest::ExecEvents events;
      events.on_output = [&](guest::Stream stream, ByteView data) {
        out += AsText(data);
        session.Consumed(id, stream, data.size());
      };
      events.on_exit = [&](Result<guest::Exited>) { over = true; };
      session.Run(id, std::move(events));
    });
    CHECK(Drive([&] { return over; }));
    return out;
  }

  evidence::ResidueReport Search(const std::vector<execute::Resource>& acquired) {
    evidence::ResidueQuery query;
    query.sandbox_id = sandbox.id;
    query.boot_id = host.clock->BootId();
    query.created_boot_ms = created_ms;
    query.machine_uid = TestUid;
    query.state_directory = state.Sandbox(sandbox.id);
    query.evidence_names = {"exports", "run", "reserve"};
    query.unrevoked_tokens = [] { return std::vector<std::string>(); };
    for (const execute::Resource& resource : acquired) {
      if (resource.resource_class != "network-namespace") continue;
      const std::size_t slash = resource.identity.find('/');
      query.networks.push_back({.inode = std::stoull(resource.identity.substr(0, slash)),
                                .cookie = std::stoull(resource.identity.substr(slash + 1))});
    }
    REQUIRE(query.networks.size() == 1);
    return evidence::SearchResidue(*host.files, networks, *host.clock, query);
  }
};

std::vector<std::string> ClassesOf(const std::vector<execute::Ended>& ended) {
  std::vector<std::string> classes;
  for (const execute::Ended& end : ended) {
    INFO(end.resource.resource_class << " " << end.resource.identity << " " << end.detail);
    CHECK(end.fate == execute::Fate::Destroyed);
    if (end.resource.resource_class != "cgroup") classes.push_back(end.resource.resource_class);
  }
  return classes;
}

}  // namespace

TEST_CASE("the steps of a sandbox with a network are done, serve, and are taken back in order") {
  const std::string missing = GuestRig::Missing();
  if (!missing.empty()) {
    WARN("not run: " << missing);
    return;
  }
  Scene scene;
  const std::vector<plan::Step> steps = scene.Steps();
  std::vector<execute::Resource> acquired;
  for (const plan::Step& step : steps) {
    Result<std::vector<execute::Resource>> done = scene.driver->Act(step);
    INFO(plan::NameOf(step) << " " << (done ? std::string() : done.error().message));
    REQUIRE(done);
    acquired.insert(acquired.end(), done->begin(), done->end());
  }
  CHECK(scene.history == std::vector<std::string>{"gateway opened"});
  CHECK(scene.Search(acquired).verdict() == evidence::Cleanness::Dirty);

  CHECK(
      scene.Say({"python3", "-c",
                 "import socket; print(socket.create_connection(('198.18.0.1', 443)).recv(9))"}) ==
      "b'welcome'\n");
  CHECK(scene.history.back() == "c6120001:443");

  // More refusals than are on their way at once: none blocks, and what was left out is counted.
  for (int i = 0; i < 200; ++i) scene.driver->NoteDenial(fmt::format("refusal {}", i));
  CHECK(scene.Say({"sh", "-c", "wc -l < /run/curfew/denials"}) == "64\n");
  scene.driver->NoteDenial("the next");
  CHECK(scene.Say({"tail", "-n", "1", "/run/curfew/denials"}) ==
        "(136 more before this one were not told) the next\n");

  scene.history.clear();
  std::vector<execute::Ended> ended;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const std::vector<execute::Ended> one = scene.driver->Undo(*step);
    ended.insert(ended.end(), one.begin(), one.end());
  }
  CHECK(scene.history == std::vector<std::string>{"gateway closed", "processes"});
  CHECK(ClassesOf(ended) == std::vector<std::string>{"gateway", "machine", "watchdog", "nft-table",
                                                     "tap", "network-namespace"});
  CHECK(ended.size() == acquired.size());
  const evidence::ResidueReport left = scene.Search(acquired);
  for (const evidence::ResidueFinding& finding : left.findings) {
    UNSCOPED_INFO(NameOf(finding.residue_class) << " " << finding.identity << ": " << finding.why);
  }
  CHECK(left.verdict() == evidence::Cleanness::Clean);
  // Repeating it finds nothing, and says nothing.
  CHECK(scene.driver->Undo(steps[5]).empty());
  CHECK(scene.driver->Undo(steps[2]).empty());
}

}  // namespace curfew::tests
