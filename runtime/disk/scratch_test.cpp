#include "runtime/disk/scratch.h"

#include "compiler/base/text.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>
#include <libcryptsetup.h>

namespace curfew::disk {
namespace {

namespace fs = std::filesystem;

std::string TemporaryFolder() {
  char name[] = "/tmp/curfew-disk-XXXXXX";
  return mkdtemp(name);
}

// The volume key, if `passphrase` opens the container.
bool Opens(int file, std::string_view passphrase) {
  crypt_device* device = nullptr;
  REQUIRE(crypt_init(&device, ("/proc/self/fd/" + std::to_string(file)).c_str()) == 0);
  crypt_set_log_callback(device, [](int, const char*, void*) {}, nullptr);
  const bool opened = crypt_load(device, CRYPT_LUKS1, nullptr) == 0 &&
                      crypt_activate_by_passphrase(device, nullptr, CRYPT_ANY_SLOT,
                                                   passphrase.data(), passphrase.size(), 0) >= 0;
  crypt_free(device);
  return opened;
}

TEST_CASE("a scratch disk has no name, opens with its key only, and holds no plain text") {
  const std::string folder = TemporaryFolder();
  auto scratch = CreateScratch({folder, 64 << 20});
  REQUIRE(scratch);
  CHECK(fs::is_empty(folder));
  struct stat status{};
  REQUIRE(fstat(scratch->file.get(), &status) == 0);
  CHECK(status.st_nlink == 0);
  CHECK(status.st_ino == scratch->inode);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK(scratch->key.Reveal().size() == 64);
  CHECK(FromHex(scratch->key.Reveal()));
  CHECK(Opens(scratch->file.get(), scratch->key.Reveal()));
  CHECK_FALSE(Opens(scratch->file.get(), std::string(64, '0')));
  // Sparse: the payload is mostly holes.
  CHECK(static_cast<std::uint64_t>(status.st_size) > scratch->bytes);
  CHECK(status.st_blocks * 512 < 16 << 20);

  // The magic of ext4 stands at 1080 bytes of the plain text.
  std::vector<std::uint8_t> start(4096);
  const off_t payload = status.st_size - static_cast<off_t>(scratch->bytes);
  REQUIRE(pread(scratch->file.get(), start.data(), start.size(), payload) == 4096);
  CHECK_FALSE((start[1080] == 0x53 && start[1081] == 0xEF));

  REQUIRE(WipeHeader(scratch->file.get()));
  CHECK_FALSE(Opens(scratch->file.get(), scratch->key.Reveal()));
  fs::remove_all(folder);
}

TEST_CASE("two disks share no key") {
  const std::string folder = TemporaryFolder();
  const auto one = CreateScratch({folder, ScratchBytesMin});
  const auto two = CreateScratch({folder, ScratchBytesMin});
  REQUIRE(one);
  REQUIRE(two);
  CHECK(one->key.Reveal() != two->key.Reveal());
  fs::remove_all(folder);
}

TEST_CASE("sizes that make no sense and folders that are not there are refused") {
  CHECK(CreateScratch({"/tmp", 0}).error().code == FailureCode::Usage);
  CHECK(CreateScratch({"/tmp", ~0ull}).error().code == FailureCode::Usage);
  CHECK(CreateScratch({"/nonexistent", 64 << 20}).error().code == FailureCode::NotFound);
}

TEST_CASE("a full disk fails cleanly") {
  if (geteuid() != 0) return;
  const std::string folder = TemporaryFolder();
  REQUIRE(mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") == 0);
  const auto scratch = CreateScratch({folder, 64 << 20});
  REQUIRE_FALSE(scratch);
  CHECK(scratch.error().code == FailureCode::OutOfSpace);
  CHECK(fs::is_empty(folder));
  REQUIRE(umount(folder.c_str()) == 0);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace curfew::disk
