// What the search says of namespaces that somebody else looked into. With real ones:
// tests/lifecycle/network_residue_test.cpp.
#include "runtime/evidence/residue_networks.h"

#include "tests/fakes/fake_networks.h"

#include <map>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

namespace curfew::evidence {
namespace {

constexpr char Id[] = "cf-abcdefghij234567";

struct Scene {
  fakes::FakeNetworks networks;
  ResidueQuery query;
  bool same_boot = true;
  std::map<ResidueClass, int> looked_at;
  std::map<ResidueClass, int> destroyed;
  std::vector<std::tuple<ResidueClass, Fate, std::string>> found;

  Scene() {
    query.sandbox_id = Id;
    query.networks = {{.inode = 77, .cookie = 5}};
  }
  // Everybody has the namespace that was looked into.
  void Search(Result<host::NetworkSeen> seen, bool somebody_is_hidden = false) {
    networks.look = [&](const std::string&) { return seen; };
    NetworkResidue search(
        networks, query, same_boot,
        {.looked_at = [&](ResidueClass one) { ++looked_at[one]; },
         .destroyed = [&](ResidueClass one) { ++destroyed[one]; },
         .found = [&](ResidueClass one, Fate fate, const std::string& identity,
                      const std::string&) { found.emplace_back(one, fate, identity); }});
    search.LookInto("/proc/1/ns/net", "net:[77]", "pid 1");
    search.LookInto("/proc/2/ns/net", "net:[77]", "pid 2");
    search.Conclude(somebody_is_hidden);
  }
};

TEST_CASE("A namespace with the journalled cookie is kept") {
  Scene scene;
  scene.Search(host::NetworkSeen{.inode = 77, .cookie = 5, .links = {}, .tables = {}});
  REQUIRE(scene.found.size() == 1);
  CHECK(scene.found[0] == std::tuple(ResidueClass::NetworkNamespace, Fate::Kept, "77/5"));
  CHECK(scene.destroyed.empty());
  CHECK(scene.looked_at[ResidueClass::NetworkNamespace] == 1);
}

TEST_CASE("Another namespace that has the number now is a stranger") {
  Scene scene;
  scene.Search(host::NetworkSeen{.inode = 77, .cookie = 6, .links = {}, .tables = {}});
  CHECK(scene.found.empty());
  CHECK(scene.destroyed[ResidueClass::NetworkNamespace] == 1);
  CHECK(scene.destroyed[ResidueClass::Tap] == 1);
  CHECK(scene.destroyed[ResidueClass::PacketTable] == 1);
}

TEST_CASE("After another boot nothing that was journalled can be there") {
  Scene scene;
  scene.same_boot = false;
  scene.Search(host::NetworkSeen{.inode = 77, .cookie = 5, .links = {}, .tables = {}}, true);
  CHECK(scene.found.empty());
  CHECK(scene.destroyed[ResidueClass::NetworkNamespace] == 1);
}

TEST_CASE("A link or a table with the sandbox's name is kept wherever it is") {
  Scene scene;
  scene.Search(
      host::NetworkSeen{.inode = 1,
                        .cookie = 1,
                        .links = {{1, "lo", ""}, {2, "cf-abcdefghij23", ""}, {3, "eth9", Id}},
                        .tables = {{"inet", "filter", 1}, {"ip", Id, 2}}});
  REQUIRE(scene.found.size() == 3);
  CHECK(scene.found[0] == std::tuple(ResidueClass::Tap, Fate::Kept, "cf-abcdefghij23/2 in 1/1"));
  CHECK(scene.found[1] == std::tuple(ResidueClass::Tap, Fate::Kept, "eth9/3 in 1/1"));
  CHECK(scene.found[2] ==
        std::tuple(ResidueClass::PacketTable, Fate::Kept, std::string("ip ") + Id + "/2 in 1/1"));
  CHECK(scene.looked_at[ResidueClass::Tap] == 3);
  CHECK(scene.looked_at[ResidueClass::PacketTable] == 2);
}

TEST_CASE("What cannot be looked into is unknown, and so is what it may hide") {
  Scene scene;
  scene.Search(Failure(FailureCode::PermissionDenied, "no"));
  REQUIRE(scene.found.size() == 5);  // each way in, and the three that were journalled
  for (const auto& [one, fate, identity] : scene.found) CHECK(fate == Fate::Unknown);
  CHECK(scene.destroyed.empty());
}

TEST_CASE("A process that cannot be read may hold a namespace; one that has ended holds none") {
  Scene hidden;
  hidden.Search(host::NetworkSeen{.inode = 1, .cookie = 1, .links = {}, .tables = {}}, true);
  CHECK(hidden.found.size() == 3);
  Scene ended;
  ended.Search(Failure(FailureCode::NotFound, "gone"));
  CHECK(ended.found.empty());
  CHECK(ended.destroyed[ResidueClass::NetworkNamespace] == 1);
}

TEST_CASE("A descriptor of the sandbox's tap is residue, and of another's is not") {
  for (const bool is_own : {true, false}) {
    Scene scene;
    NetworkResidue search(
        scene.networks, scene.query, true,
        {.looked_at = [](ResidueClass) {},
         .destroyed = [](ResidueClass) {},
         .found = [&](ResidueClass one, Fate fate, const std::string& identity,
                      const std::string&) { scene.found.emplace_back(one, fate, identity); }});
    search.HeldTap(
        std::string("pos:\t0\nflags:\t0\niff:\tcf-abcdefghij2") + (is_own ? "3" : "4") + "\n",
        "descriptor 9 of pid 1");
    CHECK(scene.found.size() == (is_own ? 1 : 0));
  }
}

}  // namespace
}  // namespace curfew::evidence
