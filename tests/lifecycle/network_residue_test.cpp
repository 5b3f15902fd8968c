// Residue of each class that a wire is made of, planted on the real kernel: the search finds it, an
// independent one finds it, a receipt over it would not be clean; and once it is gone both say so.
#include "runtime/evidence/residue.h"
#include "runtime/host/linux/linux_host.h"
#include "runtime/network/kernel_networks.h"
#include "runtime/network/namespace.h"
#include "runtime/network/network.h"
#include "runtime/network/ruleset.h"
#include "tests/fakes/fake_networks.h"
#include "tests/fakes/places.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <set>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::evidence {
namespace {

struct Scene {
  std::unique_ptr<host::Files> files = host::MakeLinuxFiles();
  std::unique_ptr<host::Clock> clock = host::MakeLinuxClock();
  network::KernelNetworks networks;
  fakes::TemporaryDirectory directory;
  std::string id = host::DrawIncarnation(*host::MakeLinuxEntropy())->id;
  ResidueQuery query;

  Scene() {
    query.sandbox_id = id;
    query.boot_id = clock->BootId();
    query.created_boot_ms = clock->MonotonicNowMs();
    query.unrevoked_tokens = [] { return std::vector<std::string>(); };
  }
  ResidueReport Search() { return SearchResidue(*files, networks, *clock, query); }
  void Journal(const network::WireIdentity& wire) {
    query.networks = {{.inode = wire.namespace_inode, .cookie = wire.namespace_cookie}};
  }
  // The classes that tests/lifecycle/scan.py finds.
  [[nodiscard]] std::set<std::string> Scan() const {
    const std::string lines = directory.path() + "/scan.txt";
    const int status =
        std::system(fmt::format("PYTHONDONTWRITEBYTECODE=1 python3 {} {} --allow {} > {}",
                                CURFEW_SCAN, id, directory.path(), lines)
                        .c_str());
    std::set<std::string> classes;
    std::ifstream said(lines);
    for (std::string line; std::getline(said, line);) {
      classes.insert(line.substr(0, line.find('\t')));
    }
    CHECK(WEXITSTATUS(status) == (classes.empty() ? 0 : 2));
    return classes;
  }
};

std::string Describe(const ResidueReport& report) {
  std::string text(NameOf(report.verdict()));
  for (const ResidueFinding& finding : report.findings) {
    text += fmt::format("\n{} {} {}: {}", NameOf(finding.residue_class), NameOf(finding.fate),
                        finding.identity, finding.why);
  }
  return text;
}

void CheckKept(const ResidueReport& report, std::initializer_list<ResidueClass> classes) {
  INFO(Describe(report));
  CHECK(report.verdict() == Cleanness::Dirty);
  for (const ResidueClass one : ResidueClasses) {
    const bool is_kept = std::find(classes.begin(), classes.end(), one) != classes.end();
    INFO(NameOf(one));
    CHECK((report.classes[static_cast<std::size_t>(one)].kept > 0) == is_kept);
  }
}

void CheckClean(const ResidueReport& report) {
  INFO(Describe(report));
  CHECK(report.verdict() == Cleanness::Clean);
}

constexpr ResidueClass Namespace = ResidueClass::NetworkNamespace;
constexpr ResidueClass Tap = ResidueClass::Tap;
constexpr ResidueClass Table = ResidueClass::PacketTable;

TEST_CASE(
    "a wire that is still there is residue in each of its classes, and gone when it is closed") {
  Scene scene;
  std::optional<network::Wire> wire = *network::MakeWire(scene.id);
  scene.Journal(wire->identity);
  CheckKept(scene.Search(), {Namespace, Tap, Table});
  CHECK(scene.Scan() == std::set<std::string>{"network-namespace", "tap", "nft-table"});
  wire.reset();
  const ResidueReport after = scene.Search();
  CheckClean(after);
  for (const ResidueClass one : {Namespace, Tap, Table}) {
    CHECK(after.classes[static_cast<std::size_t>(one)].destroyed == 1);
  }
  CHECK(after.classes[static_cast<std::size_t>(Namespace)].looked_at > 0);
  CHECK(after.classes[static_cast<std::size_t>(Tap)].looked_at > 0);
  CHECK(scene.Scan().empty());
}

TEST_CASE("a tap that somebody holds from another namespace is residue") {
  Scene scene;
  network::Wire wire = *network::MakeWire(scene.id);
  wire.namespace_fd.Reset();
  wire.tcp_listener.Reset();
  wire.dns_udp.Reset();
  wire.dns_tcp.Reset();
  CheckKept(scene.Search(), {Tap});
  CHECK(scene.Scan() == std::set<std::string>{"tap"});
  wire.tap.Reset();
  CheckClean(scene.Search());
  CHECK(scene.Scan().empty());
}

TEST_CASE("a packet table with the sandbox's name is residue, also among the host's own") {
  Scene scene;
  const std::string name = "left-by-" + scene.id;
  REQUIRE(network::LoadRuleset(fmt::format("add table ip {}", name)));
  const ResidueReport report = scene.Search();
  const std::set<std::string> scanned = scene.Scan();
  const std::vector<std::string> seen = *SandboxesSeen(*scene.files, scene.networks);
  REQUIRE(network::LoadRuleset(fmt::format("delete table ip {}", name)));
  CheckKept(report, {Table});
  CHECK(scanned.contains("nft-table"));
  CHECK(std::ranges::count(seen, scene.id) == 1);
  CheckClean(scene.Search());
  CHECK(scene.Scan().empty());
}

TEST_CASE("an empty namespace is residue by its cookie, whoever keeps it") {
  Scene scene;
  network::Wire wire = *network::MakeWire(scene.id);
  scene.Journal(wire.identity);
  wire.tap.Reset();
  REQUIRE(network::InNamespace(wire.namespace_fd.get(),
                               [] { return network::LoadRuleset("flush ruleset"); }));
  CheckKept(scene.Search(), {Namespace});

  SECTION("a process that lives in it") {
    const pid_t child = fork();
    if (child == 0) {
      if (setns(wire.namespace_fd.get(), CLONE_NEWNET) != 0) _exit(1);
      close_range(3, ~0u, 0);
      for (;;) pause();
    }
    while (network::KernelNetworks().Look(fmt::format("/proc/{}/ns/net", child))->cookie !=
           wire.identity.namespace_cookie) {
      usleep(1000);
    }
    wire = network::Wire();
    CheckKept(scene.Search(), {Namespace});
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  SECTION("a thread of ours that stays in it") {
    std::atomic<int> stage = 0;
    std::thread inside([&] {
      if (setns(wire.namespace_fd.get(), CLONE_NEWNET) == 0) stage = 1;
      while (stage < 2) usleep(1000);
    });
    while (stage < 1) usleep(1000);
    wire = network::Wire();
    CheckKept(scene.Search(), {Namespace});
    stage = 2;
    inside.join();
  }
  SECTION("a mount") {
    const std::string place = scene.directory.path() + "/kept";
    std::ofstream(place).put('x');
    const std::string source = fmt::format("/proc/self/fd/{}", wire.namespace_fd.get());
    REQUIRE(mount(source.c_str(), place.c_str(), nullptr, MS_BIND, nullptr) == 0);
    wire = network::Wire();
    CheckKept(scene.Search(), {Namespace});
    REQUIRE(umount(place.c_str()) == 0);
  }
  wire = network::Wire();
  CheckClean(scene.Search());
}

TEST_CASE("somebody who only passes through a namespace does not make it residue") {
  Scene scene;
  std::optional<network::Wire> wire = *network::MakeWire(scene.id);
  scene.Journal(wire->identity);
  std::atomic<bool> is_inside = false;
  std::thread passing([&] {
    const bool entered = setns(wire->namespace_fd.get(), CLONE_NEWNET) == 0;
    is_inside = true;
    if (entered) usleep(200'000);
  });
  while (!is_inside) usleep(1000);
  wire.reset();
  CheckClean(scene.Search());
  passing.join();
}

TEST_CASE("a namespace that nobody may look into is unknown, and never clean") {
  Scene scene;
  std::optional<network::Wire> wire = *network::MakeWire(scene.id);
  scene.Journal(wire->identity);
  wire.reset();
  fakes::FakeNetworks blind;
  blind.look = [](const std::string&) -> Result<host::NetworkSeen> {
    return Failure(FailureCode::PermissionDenied, "the test says no");
  };
  const ResidueReport report = SearchResidue(*scene.files, blind, *scene.clock, scene.query);
  CHECK(report.verdict() == Cleanness::Unknown);
  for (const ResidueClass one : {Namespace, Tap, Table}) {
    CHECK(report.classes[static_cast<std::size_t>(one)].unknown > 0);
    CHECK(report.classes[static_cast<std::size_t>(one)].destroyed == 0);
  }
}

TEST_CASE("another sandbox's wire, with the inode's number used again, is no residue of this one") {
  Scene scene;
  std::optional<network::Wire> first = *network::MakeWire(scene.id);
  scene.Journal(first->identity);
  const std::uint64_t cookie = first->identity.namespace_cookie;
  first.reset();
  const Scene other;
  const network::Wire second = *network::MakeWire(other.id);
  CHECK(second.identity.namespace_cookie != cookie);
  scene.query.networks[0].inode = second.identity.namespace_inode;
  CheckClean(scene.Search());
}

}  // namespace
}  // namespace curfew::evidence
