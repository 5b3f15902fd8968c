// What a receipt says was reached and refused, in its own form and against the records.
#include "runtime/evidence/sample_receipt.h"
#include "runtime/evidence/seal.h"
#include "runtime/evidence/verify.h"
#include "runtime/host/linux/linux_host.h"
#include "tests/fakes/fake_host.h"
#include "tests/fakes/places.h"

#include <catch2/catch.hpp>

namespace curfew::evidence {
namespace {

FlowRecord Refused() {
  FlowRecord flow;
  flow.scheme = "http";
  flow.host = "files.example";
  flow.port = 80;
  flow.stage = "name";
  flow.rules = {{"work.network.default", "no `allow` covers it", "a.curfew", 7}};
  return flow;
}

TEST_CASE("a receipt keeps the summary of its flows, and shows it") {
  Receipt receipt = SampleReceipt();
  receipt.flows.reached = {{.place = "http://files.example:80",
                            .requests = 3,
                            .failed = 1,
                            .bytes_out = 5,
                            .bytes_in = 1234}};
  receipt.flows.refused = {{"tcp://203.0.113.7:22", "work.network.default (a.curfew:7)", 2}};
  receipt.flows.refused_omitted = 4;
  receipt.flows.lost = 1;
  const Result<Receipt> back = DecodeStatement(*EncodeStatement(receipt));
  REQUIRE(back);
  CHECK(back->flows == receipt.flows);
  const std::string table = RenderReceipt(receipt);
  CHECK(table.find("http://files.example:80  3 requests") != std::string::npos);
  CHECK(table.find("1234 bytes in") != std::string::npos);
  CHECK(table.find("by work.network.default (a.curfew:7)") != std::string::npos);
  CHECK(table.find("and 4 more") != std::string::npos);
}

TEST_CASE("a summary that does not follow from the records is seen") {
  const fakes::TemporaryDirectory directory;
  const host::StateDirectory state{.root = directory.path() + "/state"};
  const std::unique_ptr<host::Files> files = host::MakeLinuxFiles();
  fakes::FakeClock clock;
  fakes::FakeEntropy entropy;
  Receipt receipt = SampleReceipt();
  const std::string& id = receipt.sandbox.id;
  REQUIRE(state.Prepare(*files));
  REQUIRE(state.PrepareSandbox(*files, id));
  const SigningKey key =
      *SigningKey::LoadOrCreate(*files, entropy, state.ReceiptKey(), state.ReceiptPublicKey());
  const bool says_so = GENERATE(true, false);
  if (says_so) {
    receipt.flows.refused = {{"http://files.example:80", "work.network.default (a.curfew:7)", 1}};
  }
  {
    ChainWriter chain = *ChainWriter::Open(*files, clock, state.Records(id), receipt.sandbox);
    REQUIRE(chain.Append(RecordKind::Flow, FlowFacts(Refused()), Durability::SurvivesProcess));
    REQUIRE(SealReceipt(*files, state, key, chain, receipt));
  }
  const Verification verification =
      Verify(*files, {state.Receipt(id), state.Records(id), state.Heads(), state.ReceiptPublicKey(),
                      false, id, std::nullopt});
  INFO(verification.where << ": " << verification.why);
  CHECK(verification.standing == (says_so ? Standing::Valid : Standing::Tampered));
  if (!says_so) CHECK(verification.why.find("reached and refused") != std::string::npos);
}

}  // namespace
}  // namespace curfew::evidence
