// Bundles: made by `compile`, taken in place of files by what decides and what shows.
#include "tests/command_line/program.h"

#include <catch2/catch.hpp>

namespace curfew::tests {
namespace {

using Catch::Matchers::Contains;

constexpr std::string_view kPolicy = R"(language 1
package acme.work
use "images.curfew"
hosts npm from "npm.txt"
sandbox work when task.kind == "work" {
  image    { allow base  isolation any  size cpu 1 at most 2 }
  lifetime { ttl 1h at most 2h }
  network  { tls inspect  npm: allow GET npm }
}
deny exec when exec.program == "/bin/sh" because "no shell"
)";
constexpr std::string_view kImages =
    "image base { digest "
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }\n";
constexpr std::string_view kRequest = R"({"version": 1, "action": "egress",
 "caller": {"id": "user:ana", "kind": "human", "groups": [], "operator": false},
 "task": {"id": "t", "owner": "user:ana", "team": "t", "kind": "work", "trigger": "human"},
 "sandbox": {"class": "work", "creator": "user:ana", "ttl_left": "1h", "age": "5m"},
 "egress": {"scheme": "https", "host": "npm.example", "ip": "93.184.216.34", "port": 443,
            "method": "GET", "path": "/x", "bytes": "0B", "requests": 1, "total": "0B"}}
)";

void WriteSet(const Workplace& place) {
  place.Write("p/work.curfew", kPolicy);
  place.Write("p/images.curfew", kImages);
  place.Write("p/npm.txt", "npm.example\n");
  place.Write("request.json", kRequest);
}
void MakeKeys(const Workplace& place) {
  const Ran made = place.Shell(
      "umask 077 && for k in ours theirs; do openssl genpkey -algorithm ed25519 -out $k.key && "
      "openssl pkey -in $k.key -pubout -out $k.pub; done");
  REQUIRE(made.status == 0);
}

TEST_CASE("a bundle decides as its files do, and is the same bytes every time") {
  const Workplace place;
  WriteSet(place);
  const Ran made = place.Shell("curfew compile p -o a.bundle");
  INFO(made.err);
  REQUIRE(made.status == 0);
  CHECK_THAT(made.out, Contains("a.bundle: 3 files of sha256:") && Contains("not signed"));
  CHECK(place
            .Shell("curfew compile p/images.curfew p/work.curfew -o b.bundle && cmp a.bundle "
                   "b.bundle && curfew compile p -o - | cmp - a.bundle")
            .status == 0);
  const Ran files = place.Shell("curfew eval p --request request.json --format json");
  const Ran bundle = place.Shell("curfew eval a.bundle --request request.json --format json");
  CHECK(files.status == 0);
  CHECK(bundle.status == 0);
  CHECK(bundle.out == files.out);
  CHECK_THAT(bundle.out, Contains("work.network.npm"));
  // Another text is another bundle; what was there is replaced whole.
  place.Write("p/npm.txt", "npm.example\nother.example\n");
  CHECK(place.Shell("curfew compile p -o b.bundle && cmp a.bundle b.bundle").status == 1);
  CHECK(place.Shell("ls | grep -c bundle").out == "2\n");
}

TEST_CASE("with a key to trust, nothing but a bundle that it signed is taken") {
  const Workplace place;
  WriteSet(place);
  MakeKeys(place);
  REQUIRE(place.Shell("curfew compile p -o signed.bundle --sign ours.key").status == 0);
  REQUIRE(place.Shell("curfew compile p -o plain.bundle").status == 0);
  const auto eval = [&](const std::string& what) {
    return place.Shell("curfew eval " + what + " --request request.json");
  };
  CHECK(eval("signed.bundle").status == 0);
  CHECK(eval("signed.bundle --trust ours.pub").status == 0);
  CHECK(eval("signed.bundle --trust theirs.pub --trust ours.pub").status == 0);
  for (const auto& [what, why] : std::vector<std::pair<std::string, std::string>>{
           {"signed.bundle --trust theirs.pub", "is signed by sha256:"},
           {"plain.bundle --trust ours.pub", "nobody signed"},
           {"p --trust ours.pub", "only a bundle of a trusted signer"}}) {
    const Ran refused = eval(what);
    INFO(what);
    CHECK(refused.status == 2);
    CHECK(refused.out.empty());
    CHECK_THAT(refused.err, Contains(why));
  }
  CHECK(place.Shell("CURFEW_TRUST=ours.pub curfew eval p --request request.json").status == 2);
  // One bit of the signature, then one of the texts.
  for (const char* at : {"90", "500"}) {
    const Ran changed = place.Shell(
        "python3 -c \"b = bytearray(open('signed.bundle', 'rb').read()); b[" + std::string(at) +
        "] ^= 1; open('changed.bundle', 'wb').write(b)\" && curfew eval changed.bundle --request "
        "request.json");
    CHECK(changed.status == 2);
  }
}

TEST_CASE("what cannot be compiled, signed or written is said, and nothing is left behind") {
  const Workplace place;
  WriteSet(place);
  MakeKeys(place);
  place.Write("bad.curfew", "sandbox {");
  CHECK(place.Shell("curfew compile bad.curfew -o x.bundle").status == 3);
  CHECK(place.Shell("chmod 644 ours.key; curfew compile p -o x.bundle --sign ours.key").status ==
        1);
  CHECK(place.Shell("curfew compile p -o x.bundle --sign theirs.pub").status == 1);
  CHECK(place.Shell("curfew compile p -o no/where/x.bundle").status == 1);
  CHECK(place.Shell("mkdir d && curfew compile p -o d").status == 1);
  CHECK(place.Shell("ls | grep -c x.bundle").out == "0\n");
  CHECK(place.Shell("curfew compile p -o a.bundle && curfew eval a.bundle p --request request.json")
            .status == 1);
  CHECK(place.Shell("head -c 100 a.bundle > cut && curfew inspect cut").status == 1);
}

TEST_CASE("inspect shows what holds in the end, of files and of a bundle alike") {
  const Workplace place;
  WriteSet(place);
  REQUIRE(place.Shell("curfew compile p -o a.bundle").status == 0);
  const Ran files = place.Shell("curfew inspect p");
  INFO(files.err);
  REQUIRE(files.status == 0);
  CHECK_THAT(files.out, Contains("packages  acme.work") && Contains("class work") &&
                            Contains("    cpu        1 at most 2\n") &&
                            Contains("    ttl        1h at most 2h\n") &&
                            Contains("    retain     90d\n") &&
                            Contains("    allow      work.network.npm  p/work.curfew:8\n") &&
                            Contains("rules of the set\n") && Contains("no shell"));
  const Ran bundle = place.Shell("curfew inspect a.bundle | grep -v ^signed");
  CHECK(bundle.out == files.out);
  const Ran json = place.Shell(
      "curfew inspect a.bundle --format json | python3 -c 'import json, sys; d = json.load("
      "sys.stdin); print(d[\"signed_by\"], [c[\"class\"] for c in d[\"classes\"]], "
      "[f[\"name\"] for f in d[\"files\"]])'");
  CHECK(json.out == "None ['work', 'set'] ['p/images.curfew', 'p/npm.txt', 'p/work.curfew']\n");
  CHECK_THAT(place.Shell("curfew inspect a.bundle --files").out, Contains(std::string(kPolicy)));
  CHECK(place.Shell("curfew inspect p --class nobody").status == 1);
}

}  // namespace
}  // namespace curfew::tests
