#include "runtime/evidence/verify.h"

#include "runtime/evidence/chain.h"
#include "runtime/evidence/heads.h"
#include "runtime/evidence/sample_receipt.h"
#include "runtime/evidence/seal.h"
#include "runtime/evidence/standing.h"
#include "runtime/host/linux/linux_host.h"
#include "tests/fakes/fake_host.h"
#include "tests/fakes/faulty_files.h"
#include "tests/fakes/places.h"

#include <set>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace curfew::evidence {
namespace {

using fakes::FaultyFiles;

struct Run {
  explicit Run(std::string root = "") : state{std::move(root)} {
    if (state.root.empty()) state.root = directory.path() + "/state";
    REQUIRE(state.Prepare(*files));
    REQUIRE(state.PrepareSandbox(*files, receipt.sandbox.id));
  }
  fakes::TemporaryDirectory directory;
  host::StateDirectory state;
  std::unique_ptr<host::Files> files = host::MakeLinuxFiles();
  fakes::FakeClock clock;
  fakes::FakeEntropy entropy;
  Receipt receipt = SampleReceipt();

  [[nodiscard]] SigningKey Key() {
    return *SigningKey::LoadOrCreate(*files, entropy, state.ReceiptKey(), state.ReceiptPublicKey());
  }
  // What a sweep does before anything else.
  Outcome TakeUp(bool keep = true, bool name = true) {
    CURFEW_TRY(ChainWriter chain, ChainWriter::Open(*files, clock, Records(), receipt.sandbox));
    CURFEW_TRY(const std::optional<StandingReceipt> standing,
               FindStandingReceipt(*files, state, Key(), receipt.sandbox));
    Reopening reopening{.why = "the test says so", .covered = std::nullopt};
    if (standing) {
      if (keep) CURFEW_TRY_VOID(KeepSuperseded(*files, state, *standing));
      reopening.covered = {.receipt = standing->digest, .records = standing->receipt.record_count};
      if (name) receipt.supersedes = standing->digest;
    }
    return chain.Append(RecordKind::Reopened, ReopenedFacts(reopening),
                        Durability::SurvivesProcess);
  }
  // `count` notes after what is there, then the receipt.
  Outcome Seal(host::Files& through, int count) {
    CURFEW_TRY(const SigningKey key, SigningKey::LoadOrCreate(through, entropy, state.ReceiptKey(),
                                                              state.ReceiptPublicKey()));
    CURFEW_TRY(ChainWriter chain, ChainWriter::Open(through, clock, Records(), receipt.sandbox));
    for (int i = 0; i < count; ++i) {
      CURFEW_TRY_VOID(chain.Append(RecordKind::Note, {{"i", i}}, Durability::SurvivesProcess));
    }
    return SealReceipt(through, state, key, chain, receipt);
  }
  [[nodiscard]] std::string Records() const { return state.Records(receipt.sandbox.id); }
  [[nodiscard]] std::string ReceiptPath() const { return state.Receipt(receipt.sandbox.id); }
  [[nodiscard]] VerifyRequest Request() const {
    return {ReceiptPath(), Records(),          state.Heads(), state.ReceiptPublicKey(),
            false,         receipt.sandbox.id, std::nullopt};
  }
  Verification Check() { return Verify(*files, Request()); }
  [[nodiscard]] Bytes Read(const std::string& path) {
    return *files->ReadWhole(path, ChainBytesMax);
  }
  void Put(const std::string& path, ByteView bytes) const { fakes::Overwrite(path, bytes); }
};

TEST_CASE("An untouched run is valid, and the answer names the key") {
  Run run;
  REQUIRE(run.Seal(*run.files, 3));
  const Verification verification = run.Check();
  CHECK(verification.standing == Standing::Valid);
  CHECK(ExitStatusOf(verification.standing) == 0);
  REQUIRE(verification.receipt);
  CHECK(verification.receipt->record_count == 4);
  CHECK(verification.key_id == run.Key().key_id());
  const std::string text = RenderVerification(verification);
  CHECK(text.find("valid: cf-") == 0);
  CHECK(text.find(run.Key().key_id()) != std::string::npos);
  CHECK(text.find("this host's own") != std::string::npos);
  CHECK(ParseJson(RenderVerificationJson(verification))->Find("standing")->text == "valid");
  VerifyRequest pinned = run.Request();
  pinned.key_pinned = true;
  CHECK(RenderVerification(Verify(*run.files, pinned)).find("named by --key") != std::string::npos);
}

TEST_CASE("A flipped byte anywhere in receipt, records or heads is seen and placed") {
  Run run;
  REQUIRE(run.Seal(*run.files, 3));
  const std::pair<std::string, std::string> parts[] = {
      {run.ReceiptPath(), "receipt"}, {run.Records(), "records"}, {run.state.Heads(), "heads"}};
  for (const auto& [path, where] : parts) {
    const Bytes whole = run.Read(path);
    // Each single byte is turned in the tests of the parts; here it is where the answer points.
    for (std::size_t byte = 0; byte < whole.size(); byte += 23) {
      Bytes flipped = whole;
      flipped[byte] ^= static_cast<std::uint8_t>(1U << (byte % 8));
      run.Put(path, flipped);
      const Verification verification = run.Check();
      REQUIRE(verification.standing == Standing::Tampered);
      REQUIRE(verification.where == where);
      REQUIRE(ExitStatusOf(verification.standing) == 2);
    }
    run.Put(path, whole);
  }
  CHECK(run.Check().standing == Standing::Valid);
}

TEST_CASE("A cut at any byte, to zero, or a missing log is seen") {
  Run run;
  REQUIRE(run.Seal(*run.files, 2));
  for (const std::string& path : {run.ReceiptPath(), run.Records(), run.state.Heads()}) {
    const Bytes whole = run.Read(path);
    std::set<std::size_t> cuts = {0, whole.size() - 1};
    for (std::size_t keep = 1; keep < whole.size(); keep += 41) cuts.insert(keep);
    if (path != run.ReceiptPath()) {  // at each record, too
      for (std::size_t at = 0; at < whole.size();
           at += ReadU32(ByteView(whole).subspan(at + 4, 4)) + HeaderBytes + TrailerBytes) {
        cuts.insert(at);
      }
    }
    for (const std::size_t keep : cuts) {
      run.Put(path, ByteView(whole).first(keep));
      REQUIRE(run.Check().standing == Standing::Tampered);
    }
    REQUIRE(*run.files->Remove(path));
    const Verification missing = run.Check();
    CHECK(missing.standing == (path == run.ReceiptPath() ? Standing::Absent : Standing::Tampered));
    CHECK(ExitStatusOf(missing.standing) == 2);
    run.Put(path, whole);
  }
  CHECK(run.Check().standing == Standing::Valid);
}

TEST_CASE("Of two receipts of one incarnation the later names the earlier, and it alone is valid") {
  Run run;
  REQUIRE(run.Seal(*run.files, 3));
  const Bytes first = run.Read(run.ReceiptPath());
  const std::string copy = run.state.Superseded(run.receipt.sandbox.id) + "/4.json";

  SECTION("the chain of the two holds") {
    REQUIRE(run.TakeUp());
    REQUIRE(run.Seal(*run.files, 2));
    const Verification second = run.Check();
    INFO(second.where << ": " << second.why);
    REQUIRE(second.standing == Standing::Valid);
    CHECK(second.receipt->supersedes == Sha256(first));
    CHECK(RenderVerification(second).find("it supersedes the receipt " + ToString(Sha256(first))) !=
          std::string::npos);
    CHECK(RenderReceipt(*second.receipt).find("supersedes the receipt sha256:") !=
          std::string::npos);
    CHECK(ParseJson(RenderVerificationJson(second))->Find("supersedes")->text ==
          ToString(Sha256(first)));
    CHECK(run.Read(copy) == first);
    // Whoever kept the first learns that it is not the last word.
    const Bytes last = run.Read(run.ReceiptPath());
    run.Put(run.ReceiptPath(), first);
    const Verification earlier = run.Check();
    CHECK(earlier.standing == Standing::Superseded);
    CHECK(ExitStatusOf(earlier.standing) == 2);
    run.Put(run.ReceiptPath(), last);
    // And a third.
    REQUIRE(run.TakeUp());
    REQUIRE(run.Seal(*run.files, 0));
    CHECK(run.Check().standing == Standing::Valid);
    CHECK(run.Check().receipt->supersedes == Sha256(last));

    SECTION("not without the first") {
      REQUIRE(*run.files->Remove(copy));
      CHECK(run.Check().standing == Standing::Tampered);
    }
    SECTION("nor with any byte of it changed") {
      for (std::size_t byte = 0; byte < first.size(); byte += 97) {
        Bytes flipped = first;
        flipped[byte] ^= 4;
        run.Put(copy, flipped);
        REQUIRE(run.Check().standing == Standing::Tampered);
      }
    }
    SECTION("nor with another valid one in its place") {
      run.Put(copy, last);
      CHECK(run.Check().standing == Standing::Tampered);
    }
  }
  SECTION("a second that does not name the first is refused") {
    REQUIRE(run.TakeUp(true, false));
    REQUIRE(run.Seal(*run.files, 2));
    const Verification second = run.Check();
    CHECK(second.standing == Standing::Tampered);
    CHECK(second.why.find("does not say that it supersedes it") != std::string::npos);
  }
  SECTION("so is one whose records do not tell of the first") {
    REQUIRE(run.Seal(*run.files, 2));
    const Verification second = run.Check();
    CHECK(second.standing == Standing::Tampered);
    CHECK(second.where == "heads, record 0");
  }
  SECTION("and one that names what never was") {
    run.receipt.supersedes = Sha256(AsBytes("another"));
    REQUIRE(run.Seal(*run.files, 0));
    CHECK(run.Check().standing == Standing::Tampered);
  }
}

TEST_CASE("A torn end of the heads is told, and counts only where it is the receipt's own head") {
  Run run;
  REQUIRE(run.Seal(*run.files, 1));
  const Bytes heads = run.Read(run.state.Heads());
  Bytes torn = heads;
  torn.insert(torn.end(), heads.begin(), heads.begin() + 60);
  run.Put(run.state.Heads(), torn);
  const Verification verification = run.Check();
  CHECK(verification.standing == Standing::Valid);
  REQUIRE(verification.notes.size() == 1);
  CHECK(verification.notes[0].find("end in 60 bytes of an unfinished one") != std::string::npos);
  CHECK(RenderVerification(verification).find("note: the host's heads") != std::string::npos);
  CHECK(ParseJson(RenderVerificationJson(verification))->Find("notes")->items.size() == 1);

  run.Put(run.state.Heads(), ByteView(heads).first(heads.size() - 1));
  const Verification without = run.Check();
  CHECK(without.standing == Standing::Tampered);
  CHECK(without.why.find("no head for this sandbox; it is torn at its end") != std::string::npos);
}

TEST_CASE("Many receipts of one host are verified with one reading of its heads") {
  Run run;
  REQUIRE(run.Seal(*run.files, 1));
  const Result<HeadsLog> heads = ReadHeads(*run.files, run.state.Heads(), run.Key().public_key());
  FaultyFiles faulty(*run.files);
  faulty.RefuseReading(run.state.Heads(), Failure(FailureCode::PermissionDenied, "read again"));
  CHECK(Verify(faulty, run.Request()).standing == Standing::CouldNotRun);
  CHECK(Verify(faulty, run.Request(), heads).standing == Standing::Valid);
  CHECK(Verify(faulty, run.Request(), Failure(FailureCode::Tampered, "x")).where == "heads");
}

TEST_CASE("A run without a receipt is absent, not valid") {
  Run run;
  {
    ChainWriter chain =
        *ChainWriter::Open(*run.files, run.clock, run.Records(), run.receipt.sandbox);
  }
  const Verification verification = run.Check();
  CHECK(verification.standing == Standing::Absent);
  CHECK(verification.where == "receipt");
}

TEST_CASE("Whoever holds the real key cannot rewrite what the host's heads saw") {
  Run run;
  REQUIRE(run.Seal(*run.files, 3));
  const Bytes heads = run.Read(run.state.Heads());
  // A new chain, a new receipt with a good signature, the old heads.
  REQUIRE(*run.files->Remove(run.Records()));
  REQUIRE(run.Seal(*run.files, 3));
  CHECK(run.Check().standing == Standing::Valid);  // same content and clock: the same chain
  REQUIRE(*run.files->Remove(run.Records()));
  run.clock.Advance(1);
  REQUIRE(run.Seal(*run.files, 3));
  run.Put(run.state.Heads(), heads);
  Verification verification = run.Check();
  CHECK(verification.standing == Standing::Tampered);
  CHECK(verification.where == "heads, record 0");
  // A shorter chain.
  REQUIRE(*run.files->Remove(run.Records()));
  REQUIRE(run.Seal(*run.files, 1));
  verification = run.Check();
  CHECK(verification.standing == Standing::Tampered);
  CHECK(verification.why.find("saw 4 records and there are 2") != std::string::npos);
}

TEST_CASE("Records after the receipt, and another sandbox's receipt, are seen") {
  Run run;
  REQUIRE(run.Seal(*run.files, 1));
  SECTION("a record after the end") {
    ChainWriter chain =
        *ChainWriter::Open(*run.files, run.clock, run.Records(), run.receipt.sandbox);
    REQUIRE(chain.Append(RecordKind::Note, {}, Durability::SurvivesProcess));
    const Verification verification = run.Check();
    CHECK(verification.standing == Standing::Tampered);
    CHECK(verification.where == "records");
  }
  SECTION("a valid receipt in the wrong folder") {
    VerifyRequest request = run.Request();
    request.sandbox_id = "cf-zzzzzzzzzzzzzzzz";
    const Verification verification = Verify(*run.files, request);
    CHECK(verification.standing == Standing::Tampered);
    CHECK(verification.where == "receipt");
  }
  SECTION("a host chain that began anew") {
    const Digest witnessed =
        ReadHeads(*run.files, run.state.Heads(), run.Key().public_key())->heads.at(0).hash;
    VerifyRequest request = run.Request();
    request.witnessed = {0, witnessed};
    CHECK(Verify(*run.files, request).standing == Standing::Valid);
    request.witnessed = {1, witnessed};
    CHECK(Verify(*run.files, request).standing == Standing::Tampered);
    request.witnessed = {0, Digest{}};
    CHECK(Verify(*run.files, request).standing == Standing::Tampered);
  }
}

TEST_CASE("What cannot be read says nothing of the receipt") {
  Run run;
  REQUIRE(run.Seal(*run.files, 1));
  SECTION("the key is not there") {
    VerifyRequest request = run.Request();
    request.key_path += "x";
    const Verification verification = Verify(*run.files, request);
    CHECK(verification.standing == Standing::CouldNotRun);
    CHECK(ExitStatusOf(verification.standing) == 1);
  }
  SECTION("the key is no key") {
    VerifyRequest request = run.Request();
    request.key_path = run.ReceiptPath();
    CHECK(Verify(*run.files, request).standing == Standing::CouldNotRun);
  }
  SECTION("another trusted key") {
    const SigningKey other = *SigningKey::LoadOrCreate(
        *run.files, run.entropy, run.directory.path() + "/k", run.directory.path() + "/k.pub");
    VerifyRequest request = run.Request();
    request.key_path = run.directory.path() + "/k.pub";
    const Verification verification = Verify(*run.files, request);
    CHECK(verification.standing == Standing::Tampered);
    CHECK(verification.why.find(other.key_id()) != std::string::npos);
  }
  SECTION("a part may not be read") {
    for (const std::string& path : {run.ReceiptPath(), run.Records(), run.state.Heads()}) {
      FaultyFiles faulty(*run.files);
      faulty.RefuseReading(path, Failure(FailureCode::PermissionDenied, "no"));
      CHECK(Verify(faulty, run.Request()).standing == Standing::CouldNotRun);
    }
  }
}

TEST_CASE("Sealing may die at every change; until it is repeated the run is absent") {
  for (const auto fault : {FaultyFiles::Fault::CrashBefore, FaultyFiles::Fault::CrashAmid,
                           FaultyFiles::Fault::CrashAfter}) {
    for (std::uint64_t change = 1;; ++change) {
      Run run;
      static_cast<void>(run.Key());
      FaultyFiles faulty(*run.files);
      faulty.Plan(fault, change);
      bool crashed = false;
      try {
        const Outcome sealed = run.Seal(faulty, 2);
        CHECK(sealed);
      } catch (const fakes::Crash&) {
        crashed = true;
      }
      if (!crashed) break;
      const Standing before = run.Check().standing;
      const bool last = run.files->Inspect(run.ReceiptPath(), host::Follow::No).has_value();
      CHECK(before == (last ? Standing::Valid : Standing::Absent));
      if (before == Standing::Valid) continue;
      REQUIRE(run.TakeUp());
      REQUIRE(run.Seal(*run.files, 1));
      const Verification after = run.Check();
      INFO(after.where << ": " << after.why);
      CHECK(after.standing == Standing::Valid);
      CHECK_FALSE(after.receipt->supersedes);
    }
  }
}

TEST_CASE("Each write of sealing may fail; then the failure is told and repeating it is right") {
  for (std::uint64_t change = 1; change < 12; ++change) {
    Run run;
    static_cast<void>(run.Key());
    FaultyFiles faulty(*run.files);
    faulty.Plan(FaultyFiles::Fault::KeepsFailing, change);
    const Outcome sealed = run.Seal(faulty, 2);
    if (sealed) {
      CHECK(run.Check().standing == Standing::Valid);
      continue;
    }
    CHECK(sealed.error().code == FailureCode::OutOfSpace);
    CHECK(run.Check().standing == Standing::Absent);
    REQUIRE(run.Seal(*run.files, 0));
    CHECK(run.Check().standing == Standing::Valid);
  }
}

TEST_CASE("With a full disk the reserve still lets the receipt be written") {
  const fakes::SmallFileSystem disk(4 * 1024 * 1024);
  if (!disk.is_mounted()) {
    WARN("needs root");
    return;
  }
  Run run(disk.path() + "/state");
  static_cast<void>(run.Key());
  disk.Fill();
  const Outcome full = run.Seal(*run.files, 2);
  REQUIRE_FALSE(full);
  CHECK(full.error().code == FailureCode::OutOfSpace);
  CHECK(full.error().message.find("free some space") != std::string::npos);
  REQUIRE(run.state.RemoveTemporary(*run.files, run.receipt.sandbox.id));
  REQUIRE(run.Seal(*run.files, 2));
  CHECK(run.Check().standing == Standing::Valid);
  // A new sandbox is not even begun where its end could not be recorded.
  disk.Fill();
  CHECK(run.state.PrepareSandbox(*run.files, "cf-yyyyyyyyyyyyyyyy").error().code ==
        FailureCode::OutOfSpace);
}

TEST_CASE("Receipts of neighbours do not disturb each other") {
  Run run;
  REQUIRE(run.Seal(*run.files, 1));
  const Receipt first = run.receipt;
  run.receipt.sandbox = {"cf-zzzzzzzzzzzzzzzz", std::string(32, 'b')};
  REQUIRE(run.state.PrepareSandbox(*run.files, run.receipt.sandbox.id));
  REQUIRE(run.Seal(*run.files, 5));
  CHECK(run.Check().standing == Standing::Valid);
  run.receipt = first;
  CHECK(run.Check().standing == Standing::Valid);
}

}  // namespace
}  // namespace curfew::evidence
