#include "runtime/host/linux/linux_host.h"
#include "runtime/host/state_directory.h"
#include "tests/fakes/fake_host.h"
#include "tests/fakes/faulty_files.h"
#include "tests/fakes/places.h"

#include <csignal>
#include <set>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::host {
namespace {

using fakes::FaultyFiles;
using fakes::TemporaryDirectory;

TEST_CASE("Times are printed as people and JSON read them") {
  CHECK(Rfc3339(0) == "1970-01-01T00:00:00Z");
  CHECK(Rfc3339(1'770'000'000'999) == "2026-02-02T02:40:00Z");
  CHECK(Rfc3339(-1) == "1969-12-31T23:59:59Z");
}

TEST_CASE("The monotonic clock moves and the boot has a name") {
  const LinuxHost host;
  const std::int64_t before = host.clock->MonotonicNowMs();
  usleep(3000);
  CHECK(host.clock->MonotonicNowMs() > before);
  CHECK(host.clock->BootId().size() == 36);
  CHECK(host.clock->WallNowMs() > 1'700'000'000'000);
}

TEST_CASE("Incarnations are valid, different, and made of all the entropy") {
  const LinuxHost host;
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) {
    const Incarnation incarnation = *DrawIncarnation(*host.entropy);
    CHECK(IsSandboxId(incarnation.id));
    CHECK(IsNonce(incarnation.nonce));
    ids.insert(incarnation.id);
  }
  CHECK(ids.size() == 100);
  CHECK(NewIncarnation(Bytes(IncarnationRandomBytes, 0xFF)).id == "cf-7777777777777777");
  CHECK_FALSE(IsSandboxId("cf-777777777777777"));
  CHECK_FALSE(IsSandboxId("cf-777777777777777/"));
  CHECK_FALSE(IsSandboxId("cf-77777777777777777"));
  CHECK_FALSE(IsSandboxId("cf-777777777777777A"));
}

TEST_CASE("A process's stat line is read whatever its name") {
  const std::string tail = " S 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 8812 99 1";
  const auto plain = ParseProcessStat("42 (bash)" + tail);
  REQUIRE(plain);
  CHECK(plain->identity == ProcessIdentity{42, 8812});
  CHECK(plain->parent == 7);
  CHECK(plain->state == 'S');
  CHECK(plain->threads == 1);
  const auto hostile = ParseProcessStat("42 (a) R 1 (b)" + tail);
  REQUIRE(hostile);
  CHECK(hostile->name == "a) R 1 (b");
  CHECK(hostile->parent == 7);
  CHECK_FALSE(ParseProcessStat(""));
  CHECK_FALSE(ParseProcessStat("42 (bash"));
  CHECK_FALSE(ParseProcessStat("42 (bash) S 7"));
  CHECK_FALSE(ParseProcessStat("x (bash)" + tail));
}

TEST_CASE("A process is known by its start time, not by its pid alone") {
  const LinuxHost host;
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const ProcessStat stat = *host.processes->StatOf(child);
  CHECK(stat.parent == host.processes->Self());
  CHECK(*host.processes->IsAlive(stat.identity));
  ProcessIdentity other = stat.identity;
  ++other.start_ticks;
  CHECK_FALSE(*host.processes->IsAlive(other));
  CHECK(host.processes->Open(other).error().code == FailureCode::NotFound);
  CHECK_FALSE(*host.processes->Signal(other, SIGKILL));
  CHECK(*host.processes->IsAlive(stat.identity));

  CHECK(host.processes->Open(stat.identity)->is_open());
  CHECK(*host.processes->Signal(stat.identity, SIGKILL));
  siginfo_t info{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  CHECK_FALSE(*host.processes->IsAlive(stat.identity));  // dead, and not waited for
  const ProcessStat dead = *host.processes->StatOf(child);
  CHECK(dead.is_dead());
  CHECK(DescribeDeath(dead) ==
        fmt::format("dead (signal 9); process {} has not waited for it yet", getpid()));
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK_FALSE(*host.processes->IsAlive(stat.identity));
  CHECK_FALSE(*host.processes->Signal(stat.identity, SIGKILL));
}

TEST_CASE("A process whose first thread alone has ended is alive") {
  const LinuxHost host;
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] { pause(); }).detach();
    syscall(SYS_exit, 0);  // of this thread
  }
  ProcessStat stat = *host.processes->StatOf(child);
  for (int i = 0; i < 6000 && stat.state != 'Z'; ++i) {
    usleep(10'000);
    stat = *host.processes->StatOf(child);
  }
  CHECK(stat.state == 'Z');
#ifdef __SANITIZE_THREAD__  // which has some of its own
  CHECK(stat.threads >= 2);
#else
  CHECK(stat.threads == 2);
#endif
  CHECK_FALSE(stat.is_dead());
  CHECK(*host.processes->IsAlive(stat.identity));
  CHECK(*host.processes->Signal(stat.identity, SIGKILL));
  REQUIRE(waitpid(child, nullptr, 0) == child);
}

TEST_CASE("Whole reads are bounded and refuse what is no file") {
  const LinuxHost host;
  const TemporaryDirectory place;
  const std::string path = place.path() + "/f";
  REQUIRE(host.files->WriteDurable(path, AsBytes("hello"), 0600));
  CHECK(*ReadText(*host.files, path, 5) == "hello");
  CHECK(ReadText(*host.files, path, 4).error().code == FailureCode::TooLarge);
  CHECK(ReadText(*host.files, path, 0).error().code == FailureCode::TooLarge);
  CHECK(ReadText(*host.files, path + "x", 9).error().code == FailureCode::NotFound);
  CHECK(ReadText(*host.files, place.path(), 9).error().code == FailureCode::Malformed);
  REQUIRE(mkfifo((path + "p").c_str(), 0600) == 0);
  CHECK(ReadText(*host.files, path + "p", 9).error().code == FailureCode::Malformed);
  CHECK(ReadText(*host.files, "/proc/self/stat", 4096)->size() > 20);
}

TEST_CASE("A durable write replaces whole, a durable creation does not replace") {
  const LinuxHost host;
  const TemporaryDirectory place;
  const std::string path = place.path() + "/f";
  REQUIRE(host.files->CreateDurable(path, AsBytes("one"), 0600));
  CHECK(host.files->CreateDurable(path, AsBytes("two"), 0600).error().code ==
        FailureCode::AlreadyExists);
  CHECK(*ReadText(*host.files, path, 99) == "one");
  CHECK(host.files->Inspect(path, Follow::No)->mode == 0600);
  REQUIRE(host.files->WriteDurable(path, AsBytes("three"), 0644));
  CHECK(*ReadText(*host.files, path, 99) == "three");
  CHECK(host.files->Inspect(path, Follow::No)->mode == 0644);
  CHECK(*host.files->List(place.path()) == std::vector<std::string>{"f"});
  // A left-over of a crash is replaced.
  REQUIRE(host.files->WriteDurable(path + ".new", AsBytes("a longer remainder"), 0600));
  REQUIRE(host.files->WriteDurable(path, AsBytes("four"), 0600));
  CHECK(*ReadText(*host.files, path, 99) == "four");
  CHECK(host.files->List(place.path())->size() == 1);
  CHECK(host.files->durable_writes() >= 8);
}

TEST_CASE("A full disk fails every write with its remedy and leaves nothing") {
  const LinuxHost host;
  const fakes::SmallFileSystem disk(64 * 1024);
  if (!disk.is_mounted()) {
    WARN("needs root");
    return;
  }
  const std::string path = disk.path() + "/f";
  REQUIRE(host.files->WriteDurable(path, AsBytes("old"), 0600));
  auto file = *host.files->OpenAppend(disk.path() + "/log", 0600);
  REQUIRE(file->Append(AsBytes("start")));
  disk.Fill();
  const Bytes big(16 * 1024, 'b');

  const Outcome failures[] = {
      host.files->WriteDurable(path, big, 0600),
      host.files->CreateDurable(disk.path() + "/g", big, 0600),
      host.files->Reserve(disk.path() + "/reserve", big.size()),
      file->Append(big),
  };
  for (const Outcome& outcome : failures) {
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == FailureCode::OutOfSpace);
    CHECK(outcome.error().message.find("free some space") != std::string::npos);
  }
  CHECK(*ReadText(*host.files, path, 99) == "old");
  CHECK(file->size() == 5);
  CHECK(*ReadText(*host.files, disk.path() + "/log", 99999) == "start");
  CHECK(*host.files->List(disk.path()) == std::vector<std::string>{"ballast", "f", "log"});
  REQUIRE(*host.files->Remove(disk.path() + "/ballast"));
  REQUIRE(file->Append(big));
}

TEST_CASE("A lock keeps others out until its holder goes") {
  const LinuxHost host;
  const TemporaryDirectory place;
  const std::string path = place.path() + "/lock";
  {
    const auto lock = host.files->Lock(path, 0);
    REQUIRE(lock);
    CHECK(host.files->Lock(path, 20).error().code == FailureCode::Busy);
  }
  CHECK(host.files->Lock(path, 0));
}

TEST_CASE("The state directory is private or refused") {
  const LinuxHost host;
  const TemporaryDirectory place;
  const StateDirectory state{place.path() + "/state"};
  REQUIRE(state.Prepare(*host.files));
  // The name of each new folder is on the disk; once is enough.
  CHECK(host.files->durable_writes() == 4);
  REQUIRE(state.Prepare(*host.files));
  CHECK(host.files->durable_writes() == 4);
  CHECK(host.files->SyncDirectory(place.path() + "/nowhere").error().code == FailureCode::NotFound);
  CHECK(host.files->Inspect(state.Keys(), Follow::No)->mode == 0700);
  REQUIRE(chmod(state.Keys().c_str(), 0755) == 0);
  const Outcome wide = state.Prepare(*host.files);
  REQUIRE_FALSE(wide);
  CHECK(wide.error().code == FailureCode::PermissionDenied);
  CHECK(wide.error().message.find("chmod 0700") != std::string::npos);
  REQUIRE(rmdir(state.Keys().c_str()) == 0);
  REQUIRE(host.files->WriteDurable(state.Keys(), AsBytes("x"), 0600));
  CHECK_FALSE(state.Prepare(*host.files));
}

TEST_CASE("Only what is no evidence is removed from a sandbox's folder") {
  const LinuxHost host;
  const TemporaryDirectory place;
  const StateDirectory state{place.path() + "/state"};
  REQUIRE(state.Prepare(*host.files));
  const std::string id = "cf-aaaaaaaaaaaaaaaa";
  REQUIRE(state.PrepareSandbox(*host.files, id));
  CHECK(host.files->Inspect(state.Reserve(id), Follow::No)->bytes == ReserveBytes);
  // A link in the run directory is removed, what it points to is not.
  REQUIRE(host.files->MakeDirectory(state.Run(id) + "/deep", 0700));
  REQUIRE(symlink(state.Keys().c_str(), (state.Run(id) + "/deep/link").c_str()) == 0);
  REQUIRE(state.RemoveTemporary(*host.files, id));
  REQUIRE(state.RemoveTemporary(*host.files, id));
  CHECK(*host.files->List(state.Sandbox(id)) == std::vector<std::string>{"exports"});
  CHECK(host.files->Inspect(state.Keys(), Follow::No));
}

TEST_CASE("The faulty files fail where the test says, and half appends stay half") {
  const LinuxHost host;
  const TemporaryDirectory place;
  FaultyFiles files(*host.files);
  const std::string path = place.path() + "/f";
  files.Plan(FaultyFiles::Fault::Fails, 2);
  CHECK(files.WriteDurable(path, AsBytes("1"), 0600));
  CHECK_FALSE(files.WriteDurable(path, AsBytes("2"), 0600));
  CHECK(files.WriteDurable(path, AsBytes("3"), 0600));
  files.Plan(FaultyFiles::Fault::KeepsFailing, 1);
  CHECK_FALSE(files.WriteDurable(path, AsBytes("4"), 0600));
  CHECK_FALSE(files.MakeDirectory(path + "d", 0700));
  files.Plan(FaultyFiles::Fault::CrashAmid, 2);
  auto file = *files.OpenAppend(path, 0600);
  CHECK_THROWS_AS(file->Append(AsBytes("abcd")), fakes::Crash);
  CHECK(*ReadText(*host.files, path, 99) == "3ab");
}

}  // namespace
}  // namespace curfew::host
