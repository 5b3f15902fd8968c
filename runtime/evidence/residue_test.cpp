#include "runtime/evidence/residue.h"

#include "runtime/host/linux/linux_host.h"
#include "tests/fakes/fake_host.h"
#include "tests/fakes/fake_networks.h"
#include "tests/fakes/faulty_files.h"
#include "tests/fakes/places.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace curfew::evidence {
namespace {

using fakes::TemporaryDirectory;

// A child that runs `body` and then waits to be killed.
class Child {
 public:
  explicit Child(const std::function<void()>& body = [] {}) {
    int ready[2];
    REQUIRE(pipe2(ready, O_CLOEXEC) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      body();
      static_cast<void>(write(ready[1], "x", 1));
      for (;;) pause();
    }
    close(ready[1]);
    char byte = 0;
    REQUIRE(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
  }
  ~Child() { End(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  void End() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

struct Scene {
  std::unique_ptr<host::Files> files = host::MakeLinuxFiles();
  std::unique_ptr<host::Processes> processes = host::MakeLinuxProcesses();
  std::unique_ptr<host::Clock> clock = host::MakeLinuxClock();
  fakes::FakeNetworks networks;
  TemporaryDirectory directory;
  // Its own id, so that tests that run at the same time do not see each other.
  std::string id = host::DrawIncarnation(*host::MakeLinuxEntropy())->id;
  ResidueQuery query;
  std::vector<std::string> tokens;

  Scene() {
    query.sandbox_id = id;
    query.boot_id = clock->BootId();
    query.created_boot_ms = clock->MonotonicNowMs();
    query.state_directory = directory.path() + "/" + id;
    query.directories = {query.state_directory + "/run"};
    query.unrevoked_tokens = [this]() -> Result<std::vector<std::string>> { return tokens; };
    REQUIRE(files->MakeDirectory(query.state_directory, 0700));
  }
  ResidueReport Search(host::Files& through) {
    SearchedPlaces places;
    places.directories.push_back(directory.path());
    return SearchResidue(through, networks, *clock, query, places);
  }
  ResidueReport Search() { return Search(*files); }
};

std::string Describe(const ResidueReport& report) {
  std::string text(NameOf(report.verdict()));
  for (const ResidueFinding& finding : report.findings) {
    text += "\n" + std::string(NameOf(finding.residue_class)) + " " +
            std::string(NameOf(finding.fate)) + " " + finding.identity + ": " + finding.why;
  }
  return text;
}

// Dirty, and for this class.
void CheckDirty(const ResidueReport& report, ResidueClass one) {
  INFO(Describe(report));
  CHECK(report.verdict() == Cleanness::Dirty);
  CHECK(report.classes[static_cast<std::size_t>(one)].kept > 0);
  CHECK(std::any_of(report.findings.begin(), report.findings.end(), [&](const auto& finding) {
    return finding.residue_class == one && finding.fate == Fate::Kept;
  }));
}

void CheckClean(const ResidueReport& report) {
  INFO(Describe(report));
  CHECK(report.verdict() == Cleanness::Clean);
}

bool IsRoot() {
  if (geteuid() == 0) return true;
  WARN("needs root");
  return false;
}

// A cgroup hierarchy in which a test may make its own: v1's pids, or v2.
std::string CgroupRoot() {
  for (const char* root : {"/sys/fs/cgroup/pids", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"}) {
    if (std::filesystem::exists(std::string(root) + "/cgroup.procs")) return root;
  }
  return "";
}

TEST_CASE("A host without a trace is clean, and every class was searched") {
  if (!IsRoot()) return;
  Scene scene;
  const ResidueReport report = scene.Search();
  CheckClean(report);
  REQUIRE(report.classes.size() == std::size(ResidueClasses));
  CHECK(report.classes[static_cast<std::size_t>(ResidueClass::Process)].looked_at > 3);
  CHECK(report.classes[static_cast<std::size_t>(ResidueClass::Mount)].looked_at > 1);
  CHECK(report.classes[static_cast<std::size_t>(ResidueClass::Cgroup)].looked_at > 0);
  // The run directory that was named is gone.
  CHECK(report.classes[static_cast<std::size_t>(ResidueClass::File)].destroyed == 1);
}

TEST_CASE("A process in the sandbox's cgroup is found, and then the cgroup itself") {
  const std::string root = CgroupRoot();
  if (!IsRoot() || root.empty()) return;
  Scene scene;
  const std::string cgroup = root + "/curfew-" + scene.id;
  REQUIRE(mkdir(cgroup.c_str(), 0755) == 0);
  scene.query.cgroups = {cgroup};
  {
    Child child;
    fakes::Overwrite(cgroup + "/cgroup.procs", AsBytes(std::to_string(child.pid())));
    // Not even the caller's own helper is excused from it.
    scene.query.excused = {scene.processes->StatOf(child.pid())->identity};
    CheckDirty(scene.Search(), ResidueClass::Process);
  }
  CheckDirty(scene.Search(), ResidueClass::Cgroup);
  scene.query.cgroups.clear();  // the journal is lost: the name tells
  CheckDirty(scene.Search(), ResidueClass::Cgroup);
  const SearchedPlaces cgroups_alone{"/proc", "/sys/fs/cgroup", {}};
  CHECK(std::ranges::count(*SandboxesSeen(*scene.files, scene.networks, cgroups_alone), scene.id) ==
        1);
  scene.query.cgroups = {cgroup};
  while (rmdir(cgroup.c_str()) != 0) REQUIRE(errno == EBUSY);
  CheckClean(scene.Search());
  CHECK(std::ranges::count(*SandboxesSeen(*scene.files, scene.networks, cgroups_alone), scene.id) ==
        0);
}

TEST_CASE("A journalled process is found while it lives or waits for its parent") {
  if (!IsRoot()) return;
  Scene scene;
  Child child;
  host::ProcessIdentity identity = scene.processes->StatOf(child.pid())->identity;
  scene.query.processes = {identity};
  CheckDirty(scene.Search(), ResidueClass::Process);
  // Another process with its pid is none of ours; nor is one of another boot.
  ++scene.query.processes[0].start_ticks;
  CheckClean(scene.Search());
  scene.query.processes = {identity};
  scene.query.boot_id = "another";
  CheckClean(scene.Search());
  scene.query.boot_id = scene.clock->BootId();

  kill(child.pid(), SIGKILL);
  siginfo_t info{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT) == 0);
  // Dead and not waited for: it holds nothing, so that it has ended.
  CheckClean(scene.Search());
  child.End();
  const ResidueReport report = scene.Search();
  CheckClean(report);
  CHECK(report.classes[static_cast<std::size_t>(ResidueClass::Process)].destroyed == 1);
}

TEST_CASE("A process whose first thread alone has ended is still searched") {
  Scene scene;
  const std::string path = scene.directory.path() + "/" + scene.id + "-held";
  const pid_t child = fork();
  if (child == 0) {
    std::thread([&path] {
      static_cast<void>(open(path.c_str(), O_CREAT | O_RDWR, 0600));
      unlink(path.c_str());
      for (;;) pause();
    }).detach();
    syscall(SYS_exit, 0);  // of this thread
  }
  const auto is_set = [&] {
    const Result<host::ProcessStat> stat = scene.processes->StatOf(child);
    const ResidueReport report = scene.Search();
    return stat && stat->state == 'Z' && report.verdict() == Cleanness::Dirty;
  };
  for (int i = 0; i < 600 && !is_set(); ++i) usleep(50'000);
  CheckDirty(scene.Search(), ResidueClass::DeletedFile);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CheckClean(scene.Search());
}

TEST_CASE("A process of the machine's uid, or that names the sandbox, is found") {
  if (!IsRoot()) return;
  Scene scene;
  constexpr std::uint32_t Uid = 1'203'456;
  scene.query.machine_uid = Uid;
  {
    Child child([] {
      // The saved uid alone is enough.
      if (setresuid(0, 0, Uid) != 0) _exit(1);
    });
    CheckDirty(scene.Search(), ResidueClass::Process);
  }
  CheckClean(scene.Search());
  const pid_t named = fork();
  if (named == 0) execlp("sleep", ("sleep-of-" + scene.id).c_str(), "600", nullptr);
  while (scene.processes->StatOf(named)->name != "sleep") usleep(1000);
  CheckDirty(scene.Search(), ResidueClass::Process);
  scene.query.excused = {scene.processes->StatOf(named)->identity};
  CheckClean(scene.Search());
  kill(named, SIGKILL);
  waitpid(named, nullptr, 0);
}

TEST_CASE("A mount is found, also in another mount namespace") {
  if (!IsRoot()) return;
  Scene scene;
  const std::string place = scene.directory.path() + "/m-" + scene.id;
  SECTION("here") {
    REQUIRE(mkdir(place.c_str(), 0700) == 0);
    REQUIRE(mount("none", place.c_str(), "tmpfs", 0, "size=4096") == 0);
    CheckDirty(scene.Search(), ResidueClass::Mount);
    REQUIRE(umount(place.c_str()) == 0);
    CheckDirty(scene.Search(), ResidueClass::File);
    REQUIRE(rmdir(place.c_str()) == 0);
  }
  SECTION("elsewhere") {
    Child child([&] {
      if (unshare(CLONE_NEWNS) != 0 ||
          mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        _exit(1);
      if (mount(scene.id.c_str(), "/mnt", "tmpfs", 0, "size=4096") != 0) _exit(2);
    });
    CheckDirty(scene.Search(), ResidueClass::Mount);
  }
  CheckClean(scene.Search());
}

TEST_CASE("Files are found by name, by owner, by folder, and by whoever keeps them alive") {
  if (!IsRoot()) return;
  Scene scene;
  const auto plant = [](const std::string& path) { fakes::Overwrite(path, AsBytes("x")); };
  SECTION("in shared memory") {
    const std::string path = "/dev/shm/curfew-" + scene.id;
    plant(path);
    CheckDirty(scene.Search(), ResidueClass::File);
    REQUIRE(unlink(path.c_str()) == 0);
  }
  SECTION("one level down") {
    const std::string path = scene.directory.path() + "/sub";
    REQUIRE(mkdir(path.c_str(), 0700) == 0);
    plant(path + "/" + scene.id + ".sock");
    CheckDirty(scene.Search(), ResidueClass::File);
    CHECK(std::ranges::count(
              *SandboxesSeen(*scene.files, scene.networks, {"/proc", "/none", {path}}), scene.id) ==
          1);
    REQUIRE(unlink((path + "/" + scene.id + ".sock").c_str()) == 0);
  }
  SECTION("of the machine's uid, whatever its name") {
    const std::string path = scene.directory.path() + "/innocent";
    scene.query.machine_uid = 1'203'457;
    plant(path);
    CheckClean(scene.Search());
    REQUIRE(chown(path.c_str(), 1'203'457, 0) == 0);
    CheckDirty(scene.Search(), ResidueClass::File);
    REQUIRE(unlink(path.c_str()) == 0);
  }
  SECTION("its run directory") {
    REQUIRE(mkdir((scene.query.state_directory + "/run").c_str(), 0700) == 0);
    CheckDirty(scene.Search(), ResidueClass::File);
    REQUIRE(rmdir((scene.query.state_directory + "/run").c_str()) == 0);
  }
  SECTION("beside the evidence, which may stay") {
    plant(scene.query.state_directory + "/records");
    plant(scene.query.state_directory + "/receipt.json");
    const int fd = open((scene.query.state_directory + "/records").c_str(), O_RDONLY | O_CLOEXEC);
    {
      Child reader([&] { static_cast<void>(dup(fd)); });
      CheckClean(scene.Search());
    }
    close(fd);
    plant(scene.query.state_directory + "/reserve");
    CheckDirty(scene.Search(), ResidueClass::File);
    REQUIRE(unlink((scene.query.state_directory + "/reserve").c_str()) == 0);
  }
  SECTION("without a name, open in a process") {
    const int fd = open(scene.directory.path().c_str(), O_TMPFILE | O_RDWR, 0600);
    REQUIRE(fd >= 0);
    struct stat status{};
    REQUIRE(fstat(fd, &status) == 0);
    scene.query.disks = {{status.st_dev, status.st_ino}};
    CheckDirty(scene.Search(), ResidueClass::DeletedFile);  // even in the caller itself
    Child child;
    close(fd);
    CheckDirty(scene.Search(), ResidueClass::DeletedFile);
    child.End();
    const ResidueReport report = scene.Search();
    CheckClean(report);
    CHECK(report.classes[static_cast<std::size_t>(ResidueClass::DeletedFile)].destroyed == 1);
  }
  SECTION("but not another file that has a disk's inode by now") {
    const std::string path = scene.directory.path() + "/other";
    plant(path);
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status{};
    REQUIRE(fstat(fd, &status) == 0);
    scene.query.disks = {{status.st_dev, status.st_ino}};
    CheckClean(scene.Search());
    close(fd);
  }
  SECTION("removed, but mapped") {
    const std::string path = scene.directory.path() + "/x-" + scene.id;
    plant(path);
    Child child([&] {
      const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED) _exit(1);
      close(fd);
    });
    REQUIRE(unlink(path.c_str()) == 0);
    CheckDirty(scene.Search(), ResidueClass::DeletedFile);
  }
  SECTION("in memory only") {
    Child child([&] {
      if (memfd_create(scene.id.c_str(), 0) < 0) _exit(1);
    });
    CheckDirty(scene.Search(), ResidueClass::DeletedFile);
  }
  CheckClean(scene.Search());
}

TEST_CASE("Sockets are found by path or abstract name, also in another network namespace") {
  if (!IsRoot()) return;
  Scene scene;
  const auto bind_to = [](std::string name, bool abstract) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (abstract) name.insert(0, 1, '\0');
    std::copy(name.begin(), name.end(), address.sun_path);
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), bytes) != 0) _exit(3);
    return fd;
  };
  SECTION("by path, and the name that stays") {
    const std::string path = scene.directory.path() + "/x-" + scene.id;
    const int fd = bind_to(path, false);
    CheckDirty(scene.Search(), ResidueClass::Socket);
    close(fd);
    CheckDirty(scene.Search(), ResidueClass::Socket);
    REQUIRE(unlink(path.c_str()) == 0);
  }
  SECTION("abstract") {
    const int fd = bind_to("curfew/" + scene.id, true);
    CheckDirty(scene.Search(), ResidueClass::Socket);
    close(fd);
  }
  SECTION("elsewhere") {
    Child child([&] {
      if (unshare(CLONE_NEWNET) != 0) _exit(1);
      bind_to("curfew/" + scene.id, true);
    });
    CheckDirty(scene.Search(), ResidueClass::Socket);
  }
  CheckClean(scene.Search());
}

TEST_CASE("Keys are found as files and in the kernel, tokens in the store") {
  if (!IsRoot()) return;
  Scene scene;
  SECTION("a key file") {
    const std::string path = scene.directory.path() + "/disk.key";
    scene.query.key_files = {path};
    fakes::Overwrite(path, AsBytes("k"));
    CheckDirty(scene.Search(), ResidueClass::Key);
    REQUIRE(unlink(path.c_str()) == 0);
  }
  SECTION("a kernel key") {
    const std::string description = "curfew:" + scene.id;
    constexpr int UserKeyring = -4;  // KEY_SPEC_USER_KEYRING
    const long key = syscall(SYS_add_key, "user", description.c_str(), "secret", 6, UserKeyring);
    REQUIRE(key > 0);
    CheckDirty(scene.Search(), ResidueClass::Key);
    constexpr int Unlink = 9;  // KEYCTL_UNLINK
    REQUIRE(syscall(SYS_keyctl, Unlink, key, UserKeyring) == 0);
    // The kernel forgets it a moment later.
    for (int i = 0; i < 1000 && scene.Search().verdict() != Cleanness::Clean; ++i) usleep(10'000);
  }
  SECTION("a token") {
    scene.tokens = {"jti-1"};
    CheckDirty(scene.Search(), ResidueClass::Token);
    scene.tokens.clear();
  }
  CheckClean(scene.Search());
}

TEST_CASE("What the search cannot read is unknown, never clean") {
  if (!IsRoot()) return;
  Scene scene;
  Child child;
  const std::string proc = "/proc/" + std::to_string(child.pid());
  const Failure refusal(FailureCode::PermissionDenied, "no");
  const std::pair<std::string, ResidueClass> blind_spots[] = {
      {"/proc", ResidueClass::Process},
      {proc + "/stat", ResidueClass::Process},
      {proc + "/cgroup", ResidueClass::Process},
      {proc + "/cmdline", ResidueClass::Process},
      {proc + "/fd", ResidueClass::Process},
      {proc + "/fd/0", ResidueClass::Process},
      {proc + "/maps", ResidueClass::Process},
      {"/proc/keys", ResidueClass::Key},
      {"/sys/fs/cgroup", ResidueClass::Cgroup},
      {"/dev/shm", ResidueClass::File},
      {scene.query.state_directory, ResidueClass::File},
      {scene.query.directories[0], ResidueClass::File}};
  for (const auto& [path, one] : blind_spots) {
    fakes::FaultyFiles faulty(*scene.files);
    faulty.RefuseReading(path, refusal);
    const ResidueReport report = scene.Search(faulty);
    INFO(path << ": " << Describe(report));
    CHECK(report.verdict() == Cleanness::Unknown);
    CHECK(report.classes[static_cast<std::size_t>(one)].unknown > 0);
  }
  // What is older than the sandbox, and may not be read, is passed over and said; a broken read is
  // not, and nothing is where the time of creation is not known.
  fakes::FaultyFiles faulty(*scene.files);
  const ResidueReport usual = scene.Search();
  scene.query.created_boot_ms += 60'000;
  faulty.RefuseReading(proc + "/fd", refusal);
  const ResidueReport passed = scene.Search(faulty);
  CheckClean(passed);
  CHECK(passed.classes[0].passed_over == usual.classes[0].passed_over + 1);
  faulty.RefuseReading(proc + "/fd", Failure(FailureCode::System, "no"));
  CHECK(scene.Search(faulty).verdict() == Cleanness::Unknown);
  faulty.RefuseReading(proc + "/fd", refusal);
  scene.query.created_boot_ms = 0;
  CHECK(scene.Search(faulty).verdict() == Cleanness::Unknown);
  scene.query.created_boot_ms = scene.clock->MonotonicNowMs();

  // Gone in the middle of the search is not unknown.
  for (const char* file : {"/stat", "/cgroup", "/cmdline", "/fd", "/maps", "/mountinfo"}) {
    fakes::FaultyFiles vanishing(*scene.files);
    vanishing.RefuseReading(proc + file, SystemFailure(ESRCH, "read"));
    CheckClean(scene.Search(vanishing));
  }
  scene.query.unrevoked_tokens = []() -> Result<std::vector<std::string>> {
    return Failure(FailureCode::Malformed, "the store is damaged");
  };
  CHECK(scene.Search().verdict() == Cleanness::Unknown);
  scene.query.unrevoked_tokens = nullptr;
  CHECK(scene.Search().verdict() == Cleanness::Unknown);
}

TEST_CASE("A process that has left its namespaces and is not yet dead hides no mount in them") {
  if (!IsRoot()) return;
  Scene scene;
  Child child([] {
    if (unshare(CLONE_NEWNS) != 0) _exit(1);
  });
  const std::string proc = "/proc/" + std::to_string(child.pid());
  fakes::FaultyFiles ending(*scene.files);
  ending.RefuseReading(proc + "/mountinfo", SystemFailure(EINVAL, "read"));
  CHECK(scene.Search(ending).verdict() == Cleanness::Unknown);
  ending.RefuseReading(proc + "/ns/mnt", SystemFailure(ENOENT, "read"));
  CheckClean(scene.Search(ending));
}

TEST_CASE("The mounts and sockets of a namespace that cannot be read are unknown") {
  if (!IsRoot()) return;
  Scene scene;
  // A child that is alone in its namespaces.
  Child child([] {
    if (unshare(CLONE_NEWNS | CLONE_NEWNET) != 0) _exit(1);
  });
  const std::string proc = "/proc/" + std::to_string(child.pid());
  for (const auto& [file, one] : {std::pair("/mountinfo", ResidueClass::Mount),
                                  std::pair("/net/unix", ResidueClass::Socket)}) {
    fakes::FaultyFiles faulty(*scene.files);
    faulty.RefuseReading(proc + file, Failure(FailureCode::PermissionDenied, "no"));
    const ResidueReport report = scene.Search(faulty);
    CHECK(report.verdict() == Cleanness::Unknown);
    CHECK(report.classes[static_cast<std::size_t>(one)].unknown == 1);
  }
}

TEST_CASE("A disk that an unreadable process may hold is unknown") {
  if (!IsRoot()) return;
  Scene scene;
  Child child;
  scene.query.disks = {{0xFFFFFFFF, 2}};  // no device of this host
  fakes::FaultyFiles faulty(*scene.files);
  faulty.RefuseReading("/proc/" + std::to_string(child.pid()) + "/fd",
                       Failure(FailureCode::PermissionDenied, "no"));
  const ResidueReport report = scene.Search(faulty);
  INFO(Describe(report));
  CHECK(report.classes[static_cast<std::size_t>(ResidueClass::DeletedFile)].unknown == 1);
}

TEST_CASE("Without the rights to see, a real search says unknown") {
  if (!IsRoot()) return;
  Scene scene;
  Child root;  // younger than the sandbox, and nobody's business
  const pid_t nobody = fork();
  if (nobody == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(9);
    scene.query.state_directory.clear();
    scene.query.directories.clear();
    const ResidueReport report =
        SearchResidue(*scene.files, scene.networks, *scene.clock, scene.query);
    const bool processes_unknown =
        report.classes[static_cast<std::size_t>(ResidueClass::Process)].unknown > 0;
    _exit(report.verdict() == Cleanness::Unknown && processes_unknown ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(nobody, &status, 0) == nobody);
  CHECK(status == 0);
}

TEST_CASE("A /proc that hides processes is unknown") {
  Scene scene;
  const std::string proc = scene.directory.path() + "/proc";
  REQUIRE(mkdir(proc.c_str(), 0700) == 0);
  const ResidueReport report =
      SearchResidue(*scene.files, scene.networks, *scene.clock, scene.query, {proc, proc, {}});
  CHECK(report.verdict() == Cleanness::Unknown);
  CHECK(report.findings[0].why.find("hidepid") != std::string::npos);
}

// What tests/lifecycle/scan.py finds: its classes.
std::set<std::string> SeenByScan(const Scene& scene) {
  const std::string command = std::string("python3 ") + CURFEW_SCAN + " " + scene.id + " --allow " +
                              scene.query.state_directory + " > " + scene.directory.path() +
                              "/scan.txt";
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  std::set<std::string> classes;
  std::ifstream lines(scene.directory.path() + "/scan.txt");
  for (std::string line; std::getline(lines, line);)
    classes.insert(line.substr(0, line.find('\t')));
  CHECK(WEXITSTATUS(status) == (classes.empty() ? 0 : 2));
  return classes;
}

TEST_CASE("A search by other means agrees on every class") {
  const std::string root = CgroupRoot();
  if (!IsRoot() || root.empty() || std::system("python3 -c 'pass'") != 0) return;
  Scene scene;
  CHECK(SeenByScan(scene).empty());
  const std::string cgroup = root + "/" + scene.id;
  const std::string file = "/dev/shm/" + scene.id;
  REQUIRE(mkdir(cgroup.c_str(), 0755) == 0);
  fakes::Overwrite(file, AsBytes("x"));
  const std::string description = "curfew:" + scene.id;
  constexpr int UserKeyring = -4;
  const long key = syscall(SYS_add_key, "user", description.c_str(), "s", 1, UserKeyring);
  {
    Child child([&] {
      if (unshare(CLONE_NEWNS) != 0 || memfd_create(scene.id.c_str(), 0) < 0) _exit(1);
      if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(2);
      if (mount(scene.id.c_str(), "/mnt", "tmpfs", 0, "size=4096") != 0) _exit(3);
      const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::copy(scene.id.begin(), scene.id.end(), address.sun_path + 1);
      const auto bytes =
          static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + SandboxIdBytes);
      if (bind(fd, reinterpret_cast<const sockaddr*>(&address), bytes) != 0) _exit(4);
    });
    fakes::Overwrite(cgroup + "/cgroup.procs", AsBytes(std::to_string(child.pid())));
    const std::set<std::string> scanned = SeenByScan(scene);
    const ResidueReport report = scene.Search();
    INFO(Describe(report));
    for (const ResidueClass one : ResidueClasses) {
      if (one == ResidueClass::Token) continue;  // only the store knows them
      if (one == ResidueClass::NetworkNamespace || one == ResidueClass::Tap ||
          one == ResidueClass::PacketTable) {
        continue;  // tests/lifecycle/network_residue_test.cpp plants them
      }
      INFO(NameOf(one));
      CHECK(scanned.contains(std::string(NameOf(one))));
      CHECK(report.classes[static_cast<std::size_t>(one)].kept > 0);
    }
  }
  while (rmdir(cgroup.c_str()) != 0) REQUIRE(errno == EBUSY);
  REQUIRE(unlink(file.c_str()) == 0);
  REQUIRE(syscall(SYS_keyctl, 9, key, UserKeyring) == 0);
  for (int i = 0; i < 1000 && scene.Search().verdict() != Cleanness::Clean; ++i) usleep(10'000);
  CheckClean(scene.Search());
  CHECK(SeenByScan(scene).empty());
}

}  // namespace
}  // namespace curfew::evidence
