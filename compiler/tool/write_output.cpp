#include "compiler/tool/write_output.h"

#include "compiler/base/owned_fd.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::tool {
namespace {

Outcome Fill(int fd, ByteView bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t some = write(fd, bytes.data(), bytes.size());
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return SystemFailure(errno, fmt::format("cannot write {}", path));
    bytes = bytes.subspan(static_cast<std::size_t>(some));
  }
  // As any program would have made it.
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(fd, 0666 & ~mask) != 0 || fsync(fd) != 0) {
    return SystemFailure(errno, fmt::format("cannot write {}", path));
  }
  return Ok();
}

}  // namespace

Outcome WriteOutput(const std::string& path, ByteView bytes, Console& console) {
  if (path == "-") {
    console.Out(AsText(bytes));
    return Ok();
  }
  struct stat status{};
  if (lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return Failure(FailureCode::Usage,
                   fmt::format("{} is there and no regular file; it is left alone", path));
  }
  std::string beside = path + ".XXXXXX";
  const OwnedFd file(mkostemp(beside.data(), O_CLOEXEC));
  if (!file.is_open()) return SystemFailure(errno, fmt::format("cannot write {}", path));
  Outcome filled = Fill(file.get(), bytes, path);
  if (filled && rename(beside.c_str(), path.c_str()) == 0) return Ok();
  const int error = errno;
  unlink(beside.c_str());
  if (!filled) return filled;
  return SystemFailure(error, fmt::format("cannot write {}", path));
}

}  // namespace curfew::tool
