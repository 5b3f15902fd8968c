// The program curfew-verify, run as people run it.
#include "runtime/evidence/chain.h"
#include "runtime/evidence/heads.h"
#include "runtime/evidence/sample_receipt.h"
#include "runtime/evidence/seal.h"
#include "runtime/host/linux/linux_host.h"
#include "tests/fakes/fake_host.h"
#include "tests/fakes/places.h"

#include <cstdlib>
#include <sys/wait.h>

#include <catch2/catch.hpp>

namespace curfew::evidence {
namespace {

struct Program {
  fakes::TemporaryDirectory directory;
  host::StateDirectory state{directory.path() + "/state"};
  host::LinuxHost host;
  Receipt receipt = SampleReceipt();
  std::string out;
  std::string err;

  Program() {
    REQUIRE(state.Prepare(*host.files));
    const SigningKey key = Key();
    REQUIRE(state.PrepareSandbox(*host.files, receipt.sandbox.id));
    ChainWriter chain = *ChainWriter::Open(*host.files, *host.clock,
                                           state.Records(receipt.sandbox.id), receipt.sandbox);
    REQUIRE(SealReceipt(*host.files, state, key, chain, receipt));
  }
  [[nodiscard]] SigningKey Key() const {
    return *SigningKey::LoadOrCreate(*host.files, *host.entropy, state.ReceiptKey(),
                                     state.ReceiptPublicKey());
  }
  // The exit status; out and err are what was printed.
  int Run(const std::string& arguments) {
    const std::string base = directory.path() + "/";
    const std::string command = "env CURFEW_STATE=" + state.root + " " + CURFEW_VERIFY + " >" +
                                base + "out 2>" + base + "err </dev/null " + arguments;
    const int status = std::system(command.c_str());
    out = *host::ReadText(*host.files, base + "out", 1 << 20);
    err = *host::ReadText(*host.files, base + "err", 1 << 20);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_CASE("curfew-verify says 0, 2 or 1, and why") {
  Program program;
  const std::string& id = program.receipt.sandbox.id;
  CHECK(program.Run(id) == 0);
  CHECK(program.out.find("valid: " + id) == 0);
  CHECK(program.out.find(program.Key().key_id()) != std::string::npos);
  CHECK(program.out.find("\nverdict    clean\n") != std::string::npos);
  CHECK(program.err.empty());
  CHECK(program.Run(program.state.Sandbox(id) + "/") == 0);
  CHECK(program.Run("--format json " + id) == 0);
  CHECK(ParseJson(program.out)->Find("standing")->text == "valid");

  SECTION("a pinned key and a witness") {
    const std::string key = program.state.ReceiptPublicKey();
    CHECK(program.Run("--key " + key + " " + id) == 0);
    CHECK(program.out.find("named by --key") != std::string::npos);
    const auto heads =
        ReadHeads(*program.host.files, program.state.Heads(), program.Key().public_key())->heads;
    CHECK(program.Run("--witness 0:" + ToString(heads[0].hash) + " " + id) == 0);
    CHECK(program.Run("--witness 1:" + ToString(heads[0].hash) + " " + id) == 2);
    CHECK(program.Run("--witness nonsense " + id) == 1);
    CHECK(program.Run("--key /nowhere " + id) == 1);
  }
  SECTION("no such sandbox, and none named") {
    CHECK(program.Run("cf-zzzzzzzzzzzzzzzz") == 2);
    CHECK(program.out.find("absent") == 0);
    CHECK(program.Run("") == 1);
    CHECK(program.Run("../../nowhere") == 1);
    CHECK(program.Run(program.state.Heads()) == 1);
    CHECK(program.Run("--bogus " + id) == 1);
    CHECK(program.Run("--help") == 0);
    CHECK(program.out.find("curfew-verify --key") != std::string::npos);
  }
  SECTION("another sandbox's receipt under this name") {
    const std::string other = program.state.Sandbox("cf-zzzzzzzzzzzzzzzz");
    REQUIRE(std::system(("cp -r " + program.state.Sandbox(id) + " " + other).c_str()) == 0);
    CHECK(program.Run("cf-zzzzzzzzzzzzzzzz") == 2);
    CHECK(program.Run(other) == 2);
  }
  SECTION("tampered") {
    fakes::Overwrite(program.state.Records(id), AsBytes(""));
    CHECK(program.Run(id) == 2);
    CHECK(program.out.find("tampered: records") == 0);
  }
  SECTION("an answer that nobody hears is no success") {
    CHECK(program.Run(id + " >/dev/full") == 1);
  }
}

}  // namespace
}  // namespace curfew::evidence
