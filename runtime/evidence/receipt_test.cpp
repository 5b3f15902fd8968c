#include "runtime/evidence/receipt.h"

#include "runtime/evidence/canonical_json.h"
#include "runtime/evidence/format.h"
#include "runtime/evidence/sample_receipt.h"
#include "runtime/host/linux/linux_host.h"
#include "tests/fakes/fake_host.h"
#include "tests/fakes/places.h"

#include <catch2/catch.hpp>

namespace curfew::evidence {
namespace {

struct Signer {
  fakes::TemporaryDirectory directory;
  std::unique_ptr<host::Files> files = host::MakeLinuxFiles();
  fakes::FakeEntropy entropy;
  SigningKey key =
      *SigningKey::LoadOrCreate(*files, entropy, directory.path() + "/k", directory.path() + "/p");
};

// The sample's statement, changed by a function; decoded again.
Result<Receipt> DecodeChanged(const std::function<void(Json&)>& change) {
  Json json = JsonOf(*ParseJson(*EncodeStatement(SampleReceipt())));
  change(json);
  return DecodeStatement(*Canonical(json));
}

TEST_CASE("A receipt comes back as it was written") {
  const Receipt sample = SampleReceipt();
  const std::string statement = *EncodeStatement(sample);
  const Receipt receipt = *DecodeStatement(statement);
  CHECK(*EncodeStatement(receipt) == statement);
  CHECK(receipt.sandbox == sample.sandbox);
  CHECK(receipt.processes[1].argv == sample.processes[1].argv);
  CHECK(receipt.commands[2].signal == 9);
  CHECK(receipt.exports[0].digest == sample.exports[0].digest);
  CHECK(receipt.isolation == Isolation::Emulated);
  CHECK(statement.find("emulation is no security boundary") != std::string::npos);
  CHECK(statement.find("\"export/out/report%201.json\"") != std::string::npos);
  CHECK(statement.find("\"sandbox/cf-aaaabbbbcccc2345/") != std::string::npos);
}

TEST_CASE("The statement is an in-toto Statement v1 with our predicate") {
  const Json json = Json::parse(*EncodeStatement(SampleReceipt()));
  CHECK(json.size() == 4);
  CHECK(json["_type"] == "https://in-toto.io/Statement/v1");
  CHECK(json["predicateType"] == "urn:curfew:receipt:v1");
  REQUIRE(json["subject"].size() == 2);
  CHECK(json["subject"][1]["digest"]["sha256"] == Hex(Sha256(AsBytes("report")).bytes));
}

TEST_CASE("Each member of a receipt is needed, typed, and nothing else is taken") {
  const Json sample = JsonOf(*ParseJson(*EncodeStatement(SampleReceipt())));
  int changes = 0;
  // Every member at every depth: taken away, made another type, renamed.
  const std::function<void(const Json&, const Json::json_pointer&)> walk =
      [&](const Json& value, const Json::json_pointer& at) {
        if (value.is_array()) {
          for (std::size_t i = 0; i < value.size(); ++i) walk(value[i], at / i);
          return;
        }
        if (!value.is_object()) return;
        for (const auto& [name, member] : value.items()) {
          // Optional ones may be away.
          const bool optional = name == "ready_ms" || name == "deadline_ms" ||
                                name == "exit_status" || name == "signal" || name == "allowed";
          if (!optional) {
            CHECK_FALSE(DecodeChanged([&](Json& json) { json[at].erase(name); }));
          }
          const Json other = member.is_boolean() ? Json(7) : Json(true);
          CHECK_FALSE(DecodeChanged([&](Json& json) { json[at][name] = other; }));
          CHECK_FALSE(DecodeChanged([&](Json& json) { json[at][name] = nullptr; }));
          CHECK_FALSE(DecodeChanged([&](Json& json) { json[at][name + "x"] = member; }));
          ++changes;
          walk(member, at / name);
        }
      };
  walk(sample, Json::json_pointer());
  CHECK(changes > 100);
}

TEST_CASE("A receipt may not contradict itself") {
  const auto refused = [](const char* pointer, const Json& value) {
    const auto decoded =
        DecodeChanged([&](Json& json) { json[Json::json_pointer(pointer)] = value; });
    return !decoded && decoded.error().code == FailureCode::Malformed;
  };
  CHECK(refused("/predicate/verdict", "dirty"));
  CHECK(refused("/predicate/residue/verdict", "dirty"));
  CHECK(refused("/predicate/residue/classes/0/kept", 1));  // the verdict still says clean
  CHECK(refused("/predicate/isolation/statement", "safe"));
  CHECK(refused("/subject/0/name", "sandbox/other"));
  CHECK(refused("/subject/1/digest/sha256", std::string(64, '0')));
  CHECK(refused("/predicate/version", 2));
  CHECK(refused("/predicate/sandbox/id", "../../etc"));
  CHECK(refused("/predicate/decisions/allowed", -1));
  CHECK_FALSE(DecodeStatement("{}"));
  CHECK_FALSE(DecodeStatement(""));
}

TEST_CASE("A receipt says by how much the end was late, and cannot say another thing") {
  Receipt receipt = SampleReceipt();
  const std::int64_t over_ms = *receipt.deadline_ms + receipt.grace_ms;
  CHECK(receipt.overrun_ms() == 0);
  receipt.ended_ms = over_ms + OverrunMaxMs;
  CHECK(receipt.overrun_ms() == OverrunMaxMs);
  CHECK_FALSE(receipt.is_late());
  CHECK(RenderReceipt(receipt).find("overrun    10.0 s after deadline and grace: what") !=
        std::string::npos);
  receipt.ended_ms = over_ms + OverrunMaxMs + 1'500;
  CHECK(receipt.is_late());
  CHECK(RenderReceipt(receipt).find("overrun    LATE: seen to be gone 11.5 s after deadline and "
                                    "grace, 2026-02-02T02:50:16Z") != std::string::npos);
  const Json json = Json::parse(*EncodeStatement(receipt));
  CHECK(json["predicate"]["late"] == true);
  CHECK(json["predicate"]["times"]["overrun_ms"] == OverrunMaxMs + 1'500);
  CHECK(json["predicate"]["times"]["grace_ms"] == 5'000);
  CHECK(DecodeStatement(*EncodeStatement(receipt))->is_late());
  for (const auto& [pointer, value] :
       {std::pair("/predicate/late", Json(true)), {"/predicate/times/overrun_ms", Json(1)}}) {
    CHECK_FALSE(
        DecodeChanged([&](Json& changed) { changed[Json::json_pointer(pointer)] = value; }));
  }
  // Without a deadline, or with nothing that ended, nothing can be late.
  receipt.deadline_ms.reset();
  CHECK_FALSE(receipt.overrun_ms());
  CHECK_FALSE(receipt.is_late());
  CHECK(DecodeStatement(*EncodeStatement(receipt)));
}

TEST_CASE("A verdict is clean only if everything is known and gone") {
  Receipt receipt = SampleReceipt();
  CHECK(receipt.verdict() == Cleanness::Clean);
  receipt.resources[0].fate = Fate::Unknown;
  CHECK(receipt.verdict() == Cleanness::Unknown);
  receipt.residue.classes[2].kept = 1;
  CHECK(receipt.verdict() == Cleanness::Dirty);
  receipt = SampleReceipt();
  receipt.residue.classes[2].unknown = 1;
  CHECK(receipt.verdict() == Cleanness::Unknown);
  receipt = SampleReceipt();
  receipt.residue.classes.pop_back();
  CHECK(receipt.verdict() == Cleanness::Unknown);
  CHECK(ResidueReport{}.verdict() == Cleanness::Unknown);
}

TEST_CASE("The signature covers what DSSE says, and any flipped bit is seen") {
  CHECK(AsText(PreAuthentication("http://example.com/HelloWorld", "hello world")) ==
        "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
  const Signer signer;
  const std::string statement = *EncodeStatement(SampleReceipt());
  const std::string envelope = SealEnvelope(statement, signer.key);
  CHECK(*OpenEnvelope(envelope, signer.key.public_key()) == statement);
  for (std::size_t byte = 0; byte < envelope.size(); byte += byte < 40 ? 1 : 3) {
    std::string flipped = envelope;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << (byte % 7)));
    const auto opened = OpenEnvelope(flipped, signer.key.public_key());
    REQUIRE_FALSE(opened);
    REQUIRE(opened.error().code == FailureCode::Tampered);
  }
  for (std::size_t keep = 0; keep < envelope.size(); keep += 7) {
    REQUIRE_FALSE(OpenEnvelope(envelope.substr(0, keep), signer.key.public_key()));
  }
  CHECK_FALSE(OpenEnvelope(envelope + "\n", signer.key.public_key()));
  CHECK_FALSE(OpenEnvelope(" " + envelope, signer.key.public_key()));
}

TEST_CASE("An envelope by another key, or with two signatures, is refused") {
  const Signer signer;
  Signer stranger;
  stranger.key = *SigningKey::LoadOrCreate(*stranger.files, stranger.entropy,
                                           stranger.directory.path() + "/k2",
                                           stranger.directory.path() + "/p2");
  const std::string envelope = SealEnvelope(*EncodeStatement(SampleReceipt()), stranger.key);
  const auto opened = OpenEnvelope(envelope, signer.key.public_key());
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message.find(stranger.key.key_id()) != std::string::npos);

  // The stranger claims the trusted key's id.
  Json json = Json::parse(envelope);
  json["signatures"][0]["keyid"] = signer.key.key_id();
  CHECK(OpenEnvelope(json.dump() + "\n", signer.key.public_key()).error().message ==
        "the signature does not hold");
  json = Json::parse(SealEnvelope(*EncodeStatement(SampleReceipt()), signer.key));
  json["signatures"].push_back(json["signatures"][0]);
  CHECK_FALSE(OpenEnvelope(json.dump() + "\n", signer.key.public_key()));
  json["signatures"] = Json::array();
  CHECK_FALSE(OpenEnvelope(json.dump() + "\n", signer.key.public_key()));
}

TEST_CASE("Nothing that a guest does makes its receipt too long to be written") {
  Receipt receipt = SampleReceipt();
  for (int i = 0; i < 2000; ++i) {
    receipt.processes.push_back(
        {i, {std::string(3000, '\x01'), std::string(3000, '\xff')}, "killed"});
  }
  receipt.commands.push_back({{std::string(1'000'000, '\x02')}, true, true, "", 0, {}, false});
  Abridge(receipt);
  const Signer signer;
  const std::string envelope = SealEnvelope(*EncodeStatement(receipt), signer.key);
  CHECK(envelope.size() <= ReceiptBytesMax);
  CHECK(receipt.processes.size() + receipt.processes_omitted == 2002);
  CHECK(receipt.processes.size() > 100);
  CHECK(DecodeStatement(*OpenEnvelope(envelope, signer.key.public_key())));
  // An ordinary receipt is not touched.
  Receipt ordinary = SampleReceipt();
  Abridge(ordinary);
  CHECK(*EncodeStatement(ordinary) == *EncodeStatement(SampleReceipt()));
}

TEST_CASE("The table can be read, and a guest cannot write in it") {
  const std::string table = RenderReceipt(SampleReceipt());
  for (const char* part :
       {"cf-aaaabbbbcccc2345", "task-7 of team:infra", "ready +1.9 s", "12 allowed, 1 denied",
        "exit 0     python3 work.py", "denied     curl x  (rule no_curl: not here)",
        "time over  sleep 9", "not run    make  (no such folder)",
        "not run    vi  (not found in PATH)", "not ended  daemon  (it was still running)",
        "ended      2 processes", "terminated pid 41 python3 -m http.server", "out/report 1.json",
        "residue    clean", "no security boundary", "\nverdict    clean\n"}) {
    INFO(part);
    CHECK(table.find(part) != std::string::npos);
  }
  CHECK(table.find("overrun") == std::string::npos);
  CHECK(table.find('\x1b') == std::string::npos);
  CHECK(table.find("\xe2\x80\xa8") == std::string::npos);
  std::size_t verdicts = 0;
  for (std::size_t at = table.find("\nverdict "); at != table.npos;
       at = table.find("\nverdict ", at + 1)) {
    ++verdicts;
  }
  CHECK(verdicts == 1);
}

}  // namespace
}  // namespace curfew::evidence
