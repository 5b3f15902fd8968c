#include "runtime/evidence/chain.h"

#include "runtime/evidence/heads.h"
#include "runtime/evidence/signing_key.h"
#include "runtime/host/linux/linux_host.h"
#include "runtime/host/state_directory.h"
#include "tests/fakes/fake_host.h"
#include "tests/fakes/faulty_files.h"
#include "tests/fakes/places.h"

#include <csignal>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace curfew::evidence {
namespace {

using fakes::FaultyFiles;
using fakes::TemporaryDirectory;

const Incarnation Who{"cf-aaaabbbbcccc2345", std::string(32, 'a')};

struct Place {
  TemporaryDirectory directory;
  std::unique_ptr<host::Files> files = host::MakeLinuxFiles();
  fakes::FakeClock clock;
  fakes::FakeEntropy entropy;
  std::string path = directory.path() + "/records";

  // A chain of `opened` and `count` notes.
  void Write(int count) {
    ChainWriter writer = *ChainWriter::Open(*files, clock, path, Who);
    for (int i = 0; i < count; ++i) {
      REQUIRE(writer.Append(RecordKind::Note, {{"i", i}}, Durability::SurvivesProcess));
    }
  }
  [[nodiscard]] Bytes Read() const { return *files->ReadWhole(path, ChainBytesMax); }
  void Put(ByteView bytes) const { fakes::Overwrite(path, bytes); }
};

TEST_CASE("Canonical JSON has one spelling and keeps hostile bytes exact") {
  CHECK(*Canonical({{"b", 1}, {"a", {true, nullptr, -5, "x\n\"\u2028"}}}) ==
        "{\"a\":[true,null,-5,\"x\\n\\\"\xe2\x80\xa8\"],\"b\":1}");
  CHECK(*Canonical({{"a", "\xff"}}) == R"({"a":{"base64":"/w=="}})");
  CHECK_FALSE(Canonical({{"a", 1.5}}));
  CHECK_FALSE(Canonical({{"a", UINT64_MAX}}));
  CHECK_FALSE(Canonical({{"\xff", 1}}));
  Json deep = 1;
  for (int i = 0; i < 40; ++i) deep = Json::array({deep});
  CHECK_FALSE(Canonical(deep));

  CHECK(ParseCanonical(R"({"a":1,"b":2})"));
  for (const char* other :
       {R"({"b":2,"a":1})", R"({"a": 1})", R"({"a":1.0})", R"({"a":1,"a":1})", R"({"a":01})",
        R"({"a":1}x)", R"({"\u0061":1})", "{\"a\":1}\n", "", R"({"a":1e2})"}) {
    CHECK_FALSE(ParseCanonical(other));
  }
}

TEST_CASE("An object reader misses nothing") {
  const JsonValue value =
      *ParseJson(R"({"a":1,"b":"x","c":{"base64":"/w=="},"d":{"base64":"YQ=="}})");
  {
    ObjectReader reader(value, "thing");
    CHECK(reader.Integer("a") == 1);
    CHECK(reader.Text("b") == "x");
    CHECK(reader.Text("c") == "\xff");
    const Outcome outcome = reader.Finish();
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().message.find("`d`") != std::string::npos);
  }
  {
    ObjectReader reader(value, "thing");
    CHECK(reader.Text("d").empty());  // "a" has a plainer spelling
    CHECK_FALSE(reader.Finish());
  }
  ObjectReader reader(value, "thing");
  reader.Text("a");
  reader.Integer("zz");
  CHECK(reader.Finish().error().message == "the thing has no text in `a`");
}

TEST_CASE("What is appended is read back, in order and bound to the sandbox") {
  Place place;
  place.Write(3);
  const Chain chain = *ReadChain(*place.files, place.path, Who);
  REQUIRE(chain.records.size() == 4);
  CHECK(chain.records[0].kind == RecordKind::Opened);
  CHECK(chain.records[3].facts == Json{{"i", 2}});
  CHECK(chain.records[3].sequence == 3);
  CHECK(chain.records[3].at_ms == place.clock.wall_ms);
  CHECK(chain.hashes.size() == 4);
  const Incarnation other{Who.id, std::string(32, 'b')};
  CHECK(ReadChain(*place.files, place.path, other).error().code == FailureCode::Tampered);
  CHECK(ReadChain(*place.files, place.path + "x", Who).error().code == FailureCode::NotFound);
  CHECK(ChainWriter::Open(*place.files, place.clock, place.path, other).error().code ==
        FailureCode::Tampered);
}

TEST_CASE("Hostile facts cannot forge a record") {
  Place place;
  ChainWriter writer = *ChainWriter::Open(*place.files, place.clock, place.path, Who);
  const std::string hostile[] = {"a\r\n{\"version\":1}",      "\"}",      "\xe2\x80\xa8",
                                 std::string("\0", 1),        "CuR1\x01", "\xff\xfe",
                                 std::string(100'000, '\x1b')};
  for (const std::string& text : hostile) {
    REQUIRE(writer.Append(RecordKind::Command, {{"argv", {text}}}, Durability::SurvivesProcess));
  }
  const Chain chain = *ReadChain(*place.files, place.path, Who);
  REQUIRE(chain.records.size() == std::size(hostile) + 1);
  CHECK(chain.records[1].facts["argv"][0] == hostile[0]);
  CHECK(chain.records[6].facts["argv"][0]["base64"] == Base64(AsBytes(hostile[5])));
  CHECK(writer
            .Append(RecordKind::Note, {{"x", std::string(2'000'000, 'x')}},
                    Durability::SurvivesProcess)
            .error()
            .code == FailureCode::TooLarge);
  CHECK(writer.count() == chain.records.size());
}

TEST_CASE("Any flipped bit in a chain is seen") {
  Place place;
  place.Write(2);
  const Bytes whole = place.Read();
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    Bytes flipped = whole;
    flipped[byte] ^= static_cast<std::uint8_t>(1U << (byte % 8));
    place.Put(flipped);
    const auto chain = ReadChain(*place.files, place.path, Who);
    REQUIRE_FALSE(chain);
    REQUIRE(chain.error().code == FailureCode::Tampered);
  }
}

TEST_CASE("A flipped bit in the middle is no torn end: the writer refuses to go on") {
  Place place;
  place.Write(2);
  const Bytes whole = place.Read();
  const std::size_t first = ReadU32(ByteView(whole).subspan(4, 4)) + HeaderBytes + TrailerBytes;
  for (std::size_t byte = 0; byte < first; ++byte) {
    Bytes flipped = whole;
    flipped[byte] ^= 0x40;
    place.Put(flipped);
    const auto writer = ChainWriter::Open(*place.files, place.clock, place.path, Who);
    REQUIRE_FALSE(writer);
    REQUIRE(writer.error().code == FailureCode::Tampered);
  }
}

TEST_CASE("Swapped, doubled and missing records are seen") {
  Place place;
  place.Write(3);
  const Bytes whole = place.Read();
  std::vector<Bytes> records;
  for (ByteView rest = whole; !rest.empty();) {
    const std::size_t bytes = ReadU32(rest.subspan(4, 4)) + HeaderBytes + TrailerBytes;
    records.emplace_back(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(bytes));
    rest = rest.subspan(bytes);
  }
  REQUIRE(records.size() == 4);
  const std::vector<std::vector<int>> orders = {{0, 2, 1, 3}, {0, 1, 1, 2, 3}, {0, 1, 3},
                                                {1, 2, 3},    {0, 1, 2, 3, 3}, {3, 2, 1, 0}};
  for (const std::vector<int>& order : orders) {
    Bytes bytes;
    for (const int i : order) {
      const Bytes& one = records[static_cast<std::size_t>(i)];
      bytes.insert(bytes.end(), one.begin(), one.end());
    }
    place.Put(bytes);
    CHECK(ReadChain(*place.files, place.path, Who).error().code == FailureCode::Tampered);
  }
}

TEST_CASE("A chain is taken up after a crash at any byte, and the cut is recorded") {
  Place place;
  place.Write(2);
  const Bytes whole = place.Read();
  const std::size_t first = ReadU32(ByteView(whole).subspan(4, 4)) + HeaderBytes + TrailerBytes;
  std::set<std::size_t> cuts = {0, first, whole.size()};
  for (std::size_t keep = 1; keep < whole.size(); keep += 4) cuts.insert(keep);
  for (const std::size_t keep : cuts) {
    place.Put(ByteView(whole).first(keep));
    auto writer = ChainWriter::Open(*place.files, place.clock, place.path, Who);
    REQUIRE(writer);
    REQUIRE(writer->Append(RecordKind::Note, {}, Durability::SurvivesProcess));
    const Chain chain = *ReadChain(*place.files, place.path, Who);
    REQUIRE(chain.records.back().kind == RecordKind::Note);
    const bool at_boundary = keep == 0 || keep == first || keep == whole.size() ||
                             (keep > first && (keep - first) * 2 == whole.size() - first);
    const bool has_cut = chain.records[chain.records.size() - 2].kind == RecordKind::Cut;
    REQUIRE(has_cut == !at_boundary);
  }
  // What a power cut leaves where the length was written and the bytes were not.
  Bytes zeroes = whole;
  zeroes.resize(whole.size() + 500);
  place.Put(zeroes);
  REQUIRE(ChainWriter::Open(*place.files, place.clock, place.path, Who));
  CHECK(ReadChain(*place.files, place.path, Who)->records.back().kind == RecordKind::Cut);
}

TEST_CASE("A process may die at every change of an append, and the chain is taken up") {
  for (const auto fault : {FaultyFiles::Fault::CrashBefore, FaultyFiles::Fault::CrashAmid,
                           FaultyFiles::Fault::CrashAfter}) {
    for (std::uint64_t change = 1; change < 20; ++change) {
      Place place;
      FaultyFiles faulty(*place.files);
      faulty.Plan(fault, change);
      std::uint64_t appended = 0;
      bool crashed = false;
      try {
        ChainWriter writer = *ChainWriter::Open(faulty, place.clock, place.path, Who);
        for (int i = 0; i < 4; ++i) {
          const Outcome outcome =
              writer.Append(RecordKind::Note, {{"i", i}}, Durability::SurvivesPower);
          CHECK(outcome);
          appended = writer.count();
        }
      } catch (const fakes::Crash&) {
        crashed = true;
      }
      CHECK(crashed == (change <= 10));  // open, opened, then append and sync four times
      REQUIRE(ChainWriter::Open(*place.files, place.clock, place.path, Who));
      const Chain chain = *ReadChain(*place.files, place.path, Who);
      CHECK(chain.records.size() >= std::max<std::uint64_t>(appended, 1));
    }
  }
}

TEST_CASE("A writer that is killed at any moment leaves a chain that is taken up") {
  Place place;
  std::uint64_t before = 0;
  for (int round = 0; round < 30; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      auto writer = ChainWriter::Open(*place.files, place.clock, place.path, Who);
      while (writer && writer->count() < 100'000) {
        if (!writer->Append(RecordKind::Note, {{"x", std::string(5000, 'x')}},
                            Durability::SurvivesProcess)) {
          break;
        }
      }
      _exit(1);
    }
    usleep(static_cast<useconds_t>(500 + 700 * round));
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    REQUIRE(ChainWriter::Open(*place.files, place.clock, place.path, Who));
    const Chain chain = *ReadChain(*place.files, place.path, Who);
    CHECK(chain.records.size() >= before);
    before = chain.records.size();
  }
  CHECK(before > 10);
}

TEST_CASE("A failed append leaves no record, and after a failed sync nothing more is recorded") {
  Place place;
  FaultyFiles faulty(*place.files);
  ChainWriter writer = *ChainWriter::Open(faulty, place.clock, place.path, Who);
  faulty.Plan(FaultyFiles::Fault::Fails, 1);
  const Outcome full = writer.Append(RecordKind::Note, {}, Durability::SurvivesPower);
  CHECK(full.error().code == FailureCode::OutOfSpace);
  CHECK(full.error().message.find(Who.id) != std::string::npos);
  CHECK(writer.count() == 1);
  CHECK(writer.Append(RecordKind::Note, {}, Durability::SurvivesPower));
  CHECK(ReadChain(*place.files, place.path, Who)->records.size() == 2);

  faulty.Plan(FaultyFiles::Fault::Fails, 2, Failure(FailureCode::System, "input/output error"));
  CHECK_FALSE(writer.Append(RecordKind::Note, {}, Durability::SurvivesPower));
  CHECK_FALSE(writer.Append(RecordKind::Note, {}, Durability::SurvivesProcess));
  CHECK_FALSE(writer.Sync());
}

TEST_CASE("On a full disk nothing is half recorded") {
  Place place;
  const fakes::SmallFileSystem disk(64 * 1024);
  if (!disk.is_mounted()) {
    WARN("needs root");
    return;
  }
  const std::string path = disk.path() + "/records";
  ChainWriter writer = *ChainWriter::Open(*place.files, place.clock, path, Who);
  disk.Fill(4096);
  Outcome outcome = Ok();
  while (outcome) {
    outcome =
        writer.Append(RecordKind::Note, {{"x", std::string(700, 'x')}}, Durability::SurvivesPower);
  }
  CHECK(outcome.error().code == FailureCode::OutOfSpace);
  CHECK(outcome.error().message.find("free some space") != std::string::npos);
  CHECK(ReadChain(*place.files, path, Who)->records.size() == writer.count());
  REQUIRE(*place.files->Remove(disk.path() + "/ballast"));
  CHECK(writer.Append(RecordKind::Note, {}, Durability::SurvivesPower));
  CHECK(ReadChain(*place.files, path, Who)->records.size() == writer.count());
}

TEST_CASE("A chain has one writer at a time") {
  Place place;
  {
    const auto writer = ChainWriter::Open(*place.files, place.clock, place.path, Who);
    REQUIRE(writer);
    CHECK(ChainWriter::Open(*place.files, place.clock, place.path, Who).error().code ==
          FailureCode::Busy);
  }
  CHECK(ChainWriter::Open(*place.files, place.clock, place.path, Who));
}

TEST_CASE("A key is made once, private, and checked against its public half") {
  Place place;
  const std::string secret = place.directory.path() + "/k";
  const std::string open = place.directory.path() + "/k.pub";
  const auto load = [&] {
    return SigningKey::LoadOrCreate(*place.files, place.entropy, secret, open);
  };
  const SigningKey key = *load();
  CHECK(place.files->Inspect(secret, host::Follow::No)->mode == 0600);
  CHECK(load()->key_id() == key.key_id());
  CHECK(*LoadPublicKey(*place.files, open) == key.public_key());
  const Bytes message = {1, 2, 3};
  CHECK(VerifyEd25519(key.public_key(), message, key.Sign(message)));

  SECTION("the public half is made again") {
    REQUIRE(*place.files->Remove(open));
    CHECK(load()->key_id() == key.key_id());
    CHECK(*LoadPublicKey(*place.files, open) == key.public_key());
  }
  SECTION("others could read it") {
    REQUIRE(chmod(secret.c_str(), 0640) == 0);
    CHECK(load().error().code == FailureCode::PermissionDenied);
  }
  SECTION("it is damaged") {
    REQUIRE(place.files->WriteDurable(secret, AsBytes("-----BEGIN PRIVATE KEY-----\nx"), 0600));
    CHECK(load().error().code == FailureCode::Malformed);
  }
  SECTION("its public half is another's") {
    const SigningKey other =
        *SigningKey::LoadOrCreate(*place.files, place.entropy, secret + "2", open + "2");
    CHECK(other.key_id() != key.key_id());
    REQUIRE(rename((open + "2").c_str(), open.c_str()) == 0);
    CHECK(load().error().code == FailureCode::Tampered);
  }
  SECTION("it is a link") {
    REQUIRE(rename(secret.c_str(), (secret + "3").c_str()) == 0);
    REQUIRE(symlink((secret + "3").c_str(), secret.c_str()) == 0);
    CHECK(load().error().code == FailureCode::Malformed);
  }
  SECTION("there is no entropy for a new one") {
    place.entropy.fails = true;
    const auto none =
        SigningKey::LoadOrCreate(*place.files, place.entropy, secret + "4", open + "4");
    CHECK_FALSE(none);
    CHECK(place.files->Inspect(secret + "4", host::Follow::No).error().code ==
          FailureCode::NotFound);
  }
}

TEST_CASE("Of processes that make a key at once, all get the same") {
  Place place;
  const std::string secret = place.directory.path() + "/k";
  std::vector<pid_t> children;
  for (std::uint32_t i = 0; i < 6; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    fakes::FakeEntropy entropy(i + 1);
    const auto key = SigningKey::LoadOrCreate(*place.files, entropy, secret, secret + ".pub");
    if (!key) _exit(1);
    const std::string name = place.directory.path() + "/id-" + key->key_id().substr(7);
    _exit(place.files->WriteDurable(name + "." + std::to_string(i), AsBytes("x"), 0600) ? 0 : 2);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  std::set<std::string> ids;
  const std::vector<std::string> names = *place.files->List(place.directory.path());
  for (const std::string& name : names) {
    if (name.starts_with("id-")) ids.insert(name.substr(0, name.find('.')));
  }
  CHECK(ids.size() == 1);
}

TEST_CASE("Heads are signed in their places") {
  Place place;
  const std::string path = place.directory.path() + "/heads";
  const SigningKey key = *SigningKey::LoadOrCreate(
      *place.files, place.entropy, place.directory.path() + "/k", place.directory.path() + "/p");
  for (std::uint64_t i = 1; i <= 4; ++i) {
    REQUIRE(AppendHead(*place.files, path, key, {Who, i, Sha256(AsBytes("x")), 5}));
  }
  const HeadsLog log = *ReadHeads(*place.files, path, key.public_key());
  REQUIRE(log.heads.size() == 4);
  CHECK(log.heads[2].head.count == 3);
  CHECK(log.of_sandbox.at(Who.id) == std::vector<std::uint64_t>{0, 1, 2, 3});
  CHECK(log.torn_bytes == 0);
  const Bytes whole = *place.files->ReadWhole(path, ChainBytesMax);

  SECTION("any flipped bit is seen") {
    for (std::size_t byte = 0; byte < whole.size(); byte += 3) {
      Bytes flipped = whole;
      flipped[byte] ^= 1;
      fakes::Overwrite(path, flipped);
      const auto read = ReadHeads(*place.files, path, key.public_key());
      REQUIRE_FALSE(read);
      REQUIRE(read.error().code == FailureCode::Tampered);
    }
  }
  SECTION("a head cannot be taken out by linking the rest anew") {
    const ChainScan scan = ScanChain(whole, HeadsGenesis());
    Bytes forged;
    Digest previous = HeadsGenesis();
    std::uint64_t sequence = 0;
    for (const Frame& frame : scan.frames) {
      if (frame.sequence == 1) continue;
      const Bytes bytes = *EncodeFrame(sequence++, previous, frame.body);
      previous = HashOfFrame(bytes);
      forged.insert(forged.end(), bytes.begin(), bytes.end());
    }
    REQUIRE(ScanChain(forged, HeadsGenesis()).end == ChainScan::End::Whole);
    REQUIRE(place.files->WriteDurable(path, forged, 0600));
    CHECK(ReadHeads(*place.files, path, key.public_key()).error().code == FailureCode::Tampered);
  }
  SECTION("a torn end is told by readers and cut by the next writer") {
    REQUIRE(place.files->WriteDurable(path, ByteView(whole).first(whole.size() - 3), 0600));
    const HeadsLog torn = *ReadHeads(*place.files, path, key.public_key());
    CHECK(torn.heads.size() == 3);
    CHECK(torn.torn_bytes == whole.size() / 4 - 3);
    CHECK_FALSE(torn.torn_why.empty());
    REQUIRE(AppendHead(*place.files, path, key, {Who, 9, Sha256(AsBytes("x")), 5}));
    const HeadsLog repaired = *ReadHeads(*place.files, path, key.public_key());
    REQUIRE(repaired.heads.size() == 4);
    CHECK(repaired.heads.back().head.count == 9);
    CHECK(repaired.torn_bytes == 0);
  }
  SECTION("another key's heads are refused") {
    const SigningKey other =
        *SigningKey::LoadOrCreate(*place.files, place.entropy, place.directory.path() + "/k2",
                                  place.directory.path() + "/p2");
    CHECK(ReadHeads(*place.files, path, other.public_key()).error().code == FailureCode::Tampered);
  }
}

TEST_CASE("Keepers that end at once all get their heads in") {
  Place place;
  const std::string path = place.directory.path() + "/heads";
  const SigningKey key = *SigningKey::LoadOrCreate(
      *place.files, place.entropy, place.directory.path() + "/k", place.directory.path() + "/p");
  std::vector<pid_t> children;
  for (int i = 0; i < 5; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    for (std::uint64_t n = 1; n <= 10; ++n) {
      if (!AppendHead(*place.files, path, key, {Who, n, Digest{}, i})) _exit(1);
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(ReadHeads(*place.files, path, key.public_key())->heads.size() == 50);
}

}  // namespace
}  // namespace curfew::evidence
