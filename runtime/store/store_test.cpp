#include "runtime/store/store.h"

#include "runtime/host/linux/linux_host.h"
#include "tests/fakes/fake_host.h"
#include "tests/fakes/places.h"

#include <csignal>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <sqlite3.h>

namespace curfew::store {
namespace {

using fakes::TemporaryDirectory;

Sandbox SampleSandbox(std::uint32_t seed = 1) {
  fakes::FakeEntropy entropy(seed);
  Sandbox sandbox;
  sandbox.incarnation = *host::DrawIncarnation(entropy);
  sandbox.sandbox_class = "build";
  sandbox.owner = "team:infra";
  sandbox.creator = "user:ana";
  sandbox.task_id = "task-7";
  sandbox.created_ms = 1000;
  sandbox.boot_id = "boot-a";
  sandbox.policy_digest = "sha256:00";
  sandbox.policy_generation = 3;
  sandbox.image_digest = "sha256:11";
  return sandbox;
}

void Sql(const std::string& path, const char* sql) {
  sqlite3* handle = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &handle) == SQLITE_OK);
  REQUIRE(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(handle);
}

TEST_CASE("Only the documented ways lead from state to state") {
  int ways = 0;
  for (const SandboxState from : SandboxStates) {
    CHECK(ParseSandboxState(NameOf(from)) == from);
    CHECK_FALSE(MayGo(SandboxState::Closed, from));
    // Nothing but a request that is denied is closed without a closing.
    if (MayGo(from, SandboxState::Closed)) {
      CHECK((from == SandboxState::Closing || from == SandboxState::Requested));
    }
    if (IsOpen(from)) CHECK(MayGo(from, SandboxState::Closing));
    for (const SandboxState to : SandboxStates) ways += MayGo(from, to) ? 1 : 0;
  }
  CHECK(ways == 15);
  CHECK_FALSE(ParseSandboxState("Closed"));
}

TEST_CASE("What is stored comes back, from another process's view too") {
  const TemporaryDirectory place;
  const std::string path = place.path() + "/db";
  Store store = *Store::Open(path);
  Sandbox sandbox = SampleSandbox();
  sandbox.deadline_ms = 5000;
  sandbox.deadline_boot_ms = 400;
  sandbox.grace_ms = 77;
  sandbox.owner = std::string("nul\0'; DROP TABLE sandbox; --", 29);
  REQUIRE(store.Durably([&] { return store.Create(sandbox); }));
  REQUIRE(store.SetKeeper(sandbox.incarnation, host::ProcessIdentity{7, 70}));
  REQUIRE(store.SetMachine(sandbox.incarnation, host::ProcessIdentity{8, 80}, 65000));
  REQUIRE(store.SetExitStatus(sandbox.incarnation, 3));
  REQUIRE(store.SetCloseReason(sandbox.incarnation, "done"));
  REQUIRE(store.SetCloseReason(sandbox.incarnation, "later reason"));
  CHECK(store.durable_writes() == 1);

  Store other = *Store::Open(path);
  const Sandbox found = *other.Find(sandbox.incarnation);
  CHECK(found.owner == sandbox.owner);
  CHECK(found.keeper == host::ProcessIdentity{7, 70});
  CHECK(found.machine == host::ProcessIdentity{8, 80});
  CHECK(found.machine_uid == 65000);
  CHECK(found.deadline_ms == 5000);
  CHECK(found.exit_status == 3);
  CHECK(found.deadline_boot_ms == 400);
  CHECK(found.grace_ms == 77);
  CHECK(found.close_reason == "done");
  CHECK(found.policy_generation == 3);
  CHECK_FALSE(found.closed_ms);
}

TEST_CASE("A sandbox is named by its incarnation, and its id is never used again") {
  const TemporaryDirectory place;
  Store store = *Store::Open(place.path() + "/db");
  const Sandbox sandbox = SampleSandbox();
  REQUIRE(store.Create(sandbox));
  Incarnation impostor = sandbox.incarnation;
  impostor.nonce = std::string(32, '0');
  CHECK(store.Find(impostor).error().code == FailureCode::AlreadyExists);
  CHECK_FALSE(store.SetState(impostor, SandboxState::Closing));
  CHECK(store.FindById("cf-zzzzzzzzzzzzzzzz").error().code == FailureCode::NotFound);

  REQUIRE(store.SetState(sandbox.incarnation, SandboxState::Closing));
  REQUIRE(store.SetState(sandbox.incarnation, SandboxState::Closing));
  REQUIRE(store.SetClosed(sandbox.incarnation, SandboxState::Closed, 99));
  CHECK(store.Find(sandbox.incarnation)->closed_ms == 99);
  for (const SandboxState to : SandboxStates) {
    const Outcome refused = store.SetState(sandbox.incarnation, to);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == FailureCode::Denied);
  }
  CHECK(store.Create(sandbox).error().code == FailureCode::AlreadyExists);
  CHECK(store.List(false)->size() == 1);
  CHECK(store.List(true)->empty());
}

TEST_CASE("A deadline comes nearer or stays") {
  const TemporaryDirectory place;
  Store store = *Store::Open(place.path() + "/db");
  const Sandbox sandbox = SampleSandbox();
  const Incarnation& who = sandbox.incarnation;
  REQUIRE(store.Create(sandbox));
  const auto set = [&](std::int64_t wall_ms, std::int64_t boot_ms, std::int64_t grace_ms,
                       const std::string& boot_id) {
    return store.SetDeadline(
        who, {.wall_ms = wall_ms, .boot_ms = boot_ms, .grace_ms = grace_ms, .boot_id = boot_id});
  };
  REQUIRE(set(5000, 500, 10, "boot-a"));
  CHECK_FALSE(set(5000, 501, 10, "boot-a"));
  CHECK_FALSE(set(5000, 501, 0, "boot-a"));
  CHECK_FALSE(set(5000, 500, 11, "boot-a"));
  // The wall clock was set back meanwhile: what counts is the monotonic time.
  CHECK_FALSE(set(4000, 600, 10, "boot-a"));
  CHECK(set(9000, 500, 10, "boot-a"));
  CHECK(set(9000, 400, 110, "boot-a"));
  // In another boot the sandbox is over, and its monotonic times mean nothing.
  CHECK_FALSE(set(1, 1, 0, "boot-b"));
  CHECK(store.Find(who)->deadline_ms == 9000);
  CHECK(store.Find(who)->deadline_boot_ms == 400);
  CHECK(store.Find(who)->grace_ms == 110);
}

TEST_CASE("The journal says what may still exist, last step first") {
  const TemporaryDirectory place;
  Store store = *Store::Open(place.path() + "/db");
  const Sandbox sandbox = SampleSandbox();
  const Sandbox sibling = SampleSandbox(2);
  const Incarnation& who = sandbox.incarnation;
  REQUIRE(store.Create(sandbox));
  REQUIRE(store.Create(sibling));
  REQUIRE(store.Durably([&]() -> Outcome {
    for (std::uint32_t step = 0; step < 3; ++step) {
      CURFEW_TRY_VOID(store.Record(who, {0, step, "cgroup", StepPhase::Intent, "{}", 10}));
    }
    return store.Record(sibling.incarnation, {0, 0, "disk", StepPhase::Intent, "{}", 10});
  }));
  REQUIRE(store.Record(who, {0, 0, "cgroup", StepPhase::Done, R"({"path":"/a"})", 11}));
  REQUIRE(store.Record(who, {0, 1, "cgroup", StepPhase::Done, "{}", 12}));
  REQUIRE(store.Record(who, {0, 1, "cgroup", StepPhase::Undone, "{}", 13}));

  const auto entries = *store.Journal(who);
  REQUIRE(entries.size() == 6);
  CHECK(std::is_sorted(entries.begin(), entries.end(),
                       [](const auto& a, const auto& b) { return a.sequence < b.sequence; }));
  const auto open = *store.OpenSteps(who);
  REQUIRE(open.size() == 2);
  CHECK(open[0].step == 2);
  CHECK(open[0].phase == StepPhase::Intent);
  CHECK(open[1].step == 0);
  CHECK(open[1].resource == R"({"path":"/a"})");
}

TEST_CASE("A transaction is whole or nothing, and a failure inside undoes it") {
  const TemporaryDirectory place;
  Store store = *Store::Open(place.path() + "/db");
  const Sandbox sandbox = SampleSandbox();
  const Outcome failed = store.Durably([&]() -> Outcome {
    CURFEW_TRY_VOID(store.Create(sandbox));
    return Failure(FailureCode::Interrupted, "the test changes its mind");
  });
  CHECK(failed.error().code == FailureCode::Interrupted);
  CHECK(store.List(false)->empty());
  CHECK_THROWS_AS(store.Together([&]() -> Outcome {
    CURFEW_TRY_VOID(store.Create(sandbox));
    throw 1;
  }),
                  int);
  CHECK(store.List(false)->empty());
  CHECK(store.Create(sandbox));
}

TEST_CASE("Revoking reaches every token of one sandbox and no other") {
  const TemporaryDirectory place;
  Store store = *Store::Open(place.path() + "/db");
  const Sandbox one = SampleSandbox(1);
  const Sandbox two = SampleSandbox(2);
  REQUIRE(store.Create(one));
  REQUIRE(store.Create(two));
  REQUIRE(store.AddToken({"a", one.incarnation, "gateway", 100, std::nullopt}));
  REQUIRE(store.AddToken({"b", one.incarnation, "gateway", 100, std::nullopt}));
  REQUIRE(store.AddToken({"c", two.incarnation, "gateway", 100, std::nullopt}));
  CHECK_FALSE(store.AddToken({"a", two.incarnation, "gateway", 100, std::nullopt}));
  CHECK(*store.RevokeTokens(one.incarnation, 50) == 2);
  CHECK(*store.RevokeTokens(one.incarnation, 51) == 0);
  CHECK(store.FindToken("a")->revoked_ms == 50);
  CHECK(store.FindToken("c")->sandbox == two.incarnation);
  CHECK(store.UnrevokedTokens(one.incarnation)->empty());
  CHECK(*store.UnrevokedTokens(two.incarnation) == std::vector<std::string>{"c"});
  CHECK(store.FindToken("d").error().code == FailureCode::NotFound);
}

TEST_CASE("A file that is not ours is refused and left alone") {
  const TemporaryDirectory place;
  const std::string path = place.path() + "/db";
  SECTION("no database") {
    std::ofstream(path) << std::string(5000, 'x');
    const auto store = Store::Open(path);
    REQUIRE_FALSE(store);
    CHECK(store.error().code == FailureCode::Malformed);
    CHECK(store.error().message.find("move it away") != std::string::npos);
    CHECK(std::ifstream(path).get() == 'x');
  }
  SECTION("another program's database") {
    Sql(path, "CREATE TABLE t (a)");
    CHECK(Store::Open(path).error().code == FailureCode::Malformed);
  }
  SECTION("another application's database") {
    Sql(path, "PRAGMA application_id=7; CREATE TABLE t (a)");
    CHECK(Store::Open(path).error().code == FailureCode::Malformed);
  }
  SECTION("a newer schema") {
    REQUIRE(Store::Open(path));
    Sql(path, "PRAGMA user_version=99");
    const auto store = Store::Open(path);
    CHECK(store.error().code == FailureCode::Unsupported);
    CHECK(store.error().message.find("newer") != std::string::npos);
  }
  SECTION("a state that nobody writes") {
    Store store = *Store::Open(path);
    REQUIRE(store.Create(SampleSandbox()));
    Sql(path, "UPDATE sandbox SET state='immortal'");
    CHECK(store.List(false).error().code == FailureCode::Malformed);
  }
  SECTION("pages overwritten") {
    {
      Store store = *Store::Open(path);
      for (std::uint32_t seed = 1; seed < 60; ++seed) REQUIRE(store.Create(SampleSandbox(seed)));
    }
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    const std::string junk(16 * 4096, '\x5a');
    file.write(junk.data(), static_cast<std::streamsize>(junk.size()));
    file.close();
    auto store = Store::Open(path);
    const FailureCode code = store ? store->List(false).error().code : store.error().code;
    CHECK(code == FailureCode::Malformed);
  }
  SECTION("a directory that is not there") {
    CHECK(Store::Open(place.path() + "/no/db").error().code == FailureCode::NotFound);
  }
}

TEST_CASE("Without permission the failure says so") {
  if (geteuid() != 0) return;
  const TemporaryDirectory place;
  REQUIRE(Store::Open(place.path() + "/db"));
  const pid_t child = fork();
  if (child == 0) {
    if (setuid(65534) != 0) _exit(9);
    const auto store = Store::Open(place.path() + "/db");
    _exit(!store && store.error().code == FailureCode::PermissionDenied ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("Processes that write at once all succeed, also as the first openers") {
  const TemporaryDirectory place;
  const std::string path = place.path() + "/db";
  constexpr int Writers = 6;
  constexpr std::uint32_t Each = 20;
  pid_t children[Writers];
  for (int writer = 0; writer < Writers; ++writer) {
    children[writer] = fork();
    if (children[writer] != 0) continue;
    auto store = Store::Open(path, 60'000);
    if (!store) {
      fprintf(stderr, "%s\n", store.error().message.c_str());
      _exit(1);
    }
    for (std::uint32_t i = 0; i < Each; ++i) {
      const Sandbox sandbox = SampleSandbox(static_cast<std::uint32_t>(writer) * 1000 + i + 1);
      const Outcome outcome = store->Durably([&]() -> Outcome {
        CURFEW_TRY_VOID(store->Create(sandbox));
        return store->SetState(sandbox.incarnation, SandboxState::Admitted);
      });
      if (!outcome) {
        fprintf(stderr, "%s\n", outcome.error().message.c_str());
        _exit(2);
      }
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  Store store = *Store::Open(path);
  CHECK(store.List(true)->size() == Writers * Each);
}

TEST_CASE("Of two closers that race for one sandbox, one ends it") {
  const TemporaryDirectory place;
  const std::string path = place.path() + "/db";
  Store store = *Store::Open(path);
  Store other = *Store::Open(path);
  const Sandbox sandbox = SampleSandbox();
  REQUIRE(store.Create(sandbox));
  REQUIRE(store.SetState(sandbox.incarnation, SandboxState::Closing));
  REQUIRE(other.SetState(sandbox.incarnation, SandboxState::Closing));
  REQUIRE(store.SetClosed(sandbox.incarnation, SandboxState::Closed, 1));
  CHECK_FALSE(other.SetClosed(sandbox.incarnation, SandboxState::Closed, 2));
  CHECK(store.Find(sandbox.incarnation)->closed_ms == 1);
}

TEST_CASE("What a killed process committed is there, what it did not commit is not") {
  const TemporaryDirectory place;
  const std::string path = place.path() + "/db";
  REQUIRE(Store::Open(path));
  const pid_t child = fork();
  if (child == 0) {
    Store store = *Store::Open(path);
    if (!store.Create(SampleSandbox(1))) _exit(1);
    static_cast<void>(store.Together([&]() -> Outcome {
      CURFEW_TRY_VOID(store.Create(SampleSandbox(2)));
      raise(SIGKILL);
      return Ok();
    }));
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  Store store = *Store::Open(path);
  CHECK(store.Find(SampleSandbox(1).incarnation));
  CHECK_FALSE(store.Find(SampleSandbox(2).incarnation));
}

TEST_CASE("On a full disk a write fails clearly and the store stays usable") {
  const fakes::SmallFileSystem disk(512 * 1024);
  if (!disk.is_mounted()) {
    WARN("needs root");
    return;
  }
  const std::string path = disk.path() + "/db";
  Store store = *Store::Open(path);
  REQUIRE(store.Create(SampleSandbox(1)));
  disk.Fill();
  Outcome outcome = Ok();
  std::uint32_t seed = 2;
  for (; outcome && seed < 2000; ++seed) {
    outcome = store.Durably([&] { return store.Create(SampleSandbox(seed)); });
  }
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == FailureCode::OutOfSpace);
  CHECK(outcome.error().message.find("free some space") != std::string::npos);
  CHECK(store.List(false)->size() == seed - 2);
  REQUIRE(unlink((disk.path() + "/ballast").c_str()) == 0);
  CHECK(store.Create(SampleSandbox(3000)));
  CHECK(Store::Open(path)->List(false)->size() == seed - 1);

  // A store that cannot even be begun.
  const fakes::SmallFileSystem tiny(64 * 1024);
  tiny.Fill();
  const auto none = Store::Open(tiny.path() + "/db");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == FailureCode::OutOfSpace);
}

}  // namespace
}  // namespace curfew::store
