#include "tests/fakes/places.h"

#include "compiler/base/check.h"
#include "compiler/base/owned_fd.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/mount.h>
#include <unistd.h>
#include <vector>

namespace curfew::fakes {

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = std::filesystem::temp_directory_path() / "curfew-test-XXXXXX";
  CURFEW_CHECK(mkdtemp(pattern.data()) != nullptr, "a test can make a temporary directory");
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

SmallFileSystem::SmallFileSystem(std::uint64_t bytes) {
  const std::string options = "mode=0700,size=" + std::to_string(bytes);
  mounted_ = mount("curfew-test", path().c_str(), "tmpfs", MS_NOSUID, options.c_str()) == 0;
}

SmallFileSystem::~SmallFileSystem() {
  if (mounted_) umount2(path().c_str(), MNT_DETACH);
}

void SmallFileSystem::Fill(std::uint64_t leave_bytes) const {
  const std::string ballast = path() + "/ballast";
  const OwnedFd fd(open(ballast.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  CURFEW_CHECK(fd.is_open(), "the ballast can be made");
  const std::vector<char> block(4096, 'x');
  off_t size = 0;
  for (;;) {
    const ssize_t wrote = write(fd.get(), block.data(), block.size());
    if (wrote <= 0) break;
    size += wrote;
  }
  const off_t keep = std::max<off_t>(0, size - static_cast<off_t>(leave_bytes));
  CURFEW_CHECK(ftruncate(fd.get(), keep) == 0, "the ballast can be cut");
}

void Overwrite(const std::string& path, ByteView bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << AsText(bytes);
  CURFEW_CHECK(file.flush().good(), "a test can overwrite its file");
}

}  // namespace curfew::fakes
