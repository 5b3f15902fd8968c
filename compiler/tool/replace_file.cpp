#include "compiler/tool/replace_file.h"

#include "compiler/base/owned_fd.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::tool {
namespace {

Result<std::string> ReadBack(int fd, const std::string& path, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t got = 0;
  while (got < bytes) {
    const ssize_t some = pread(fd, text.data() + got, bytes - got, static_cast<off_t>(got));
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return SystemFailure(errno, fmt::format("cannot read {}", path));
    if (some == 0) break;
    got += static_cast<std::size_t>(some);
  }
  text.resize(got);
  return text;
}

Outcome WriteAll(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t some = write(fd, text.data(), text.size());
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return SystemFailure(errno, fmt::format("cannot write {}", path));
    text.remove_prefix(static_cast<std::size_t>(some));
  }
  return Ok();
}

// Everything that happens to the new file before it takes the old one's name.
Outcome Fill(int fd, const struct stat& like, std::string_view text, const std::string& path) {
  // The owner first: changing it clears the set-id bits of the mode.
  if ((like.st_uid != geteuid() || like.st_gid != getegid()) &&
      fchown(fd, like.st_uid, like.st_gid) != 0) {
    return SystemFailure(errno, fmt::format("cannot keep the owner of {}", path));
  }
  if (fchmod(fd, like.st_mode & 07777) != 0) {
    return SystemFailure(errno, fmt::format("cannot keep the mode of {}", path));
  }
  CURFEW_TRY_VOID(WriteAll(fd, text, path));
  if (fsync(fd) != 0) return SystemFailure(errno, fmt::format("cannot write {}", path));
  return Ok();
}

}  // namespace

Outcome ReplaceFile(const std::string& path, std::string_view before, std::string_view after) {
  const OwnedFd old(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!old.is_open()) {
    if (errno == ELOOP) {
      return Failure(FailureCode::Usage,
                     fmt::format("{} is a link; name the file that it leads to", path));
    }
    return SystemFailure(errno, fmt::format("cannot open {}", path));
  }
  struct stat status{};
  if (fstat(old.get(), &status) != 0) return SystemFailure(errno, "cannot stat " + path);
  CURFEW_TRY(const std::string present, ReadBack(old.get(), path, before.size() + 1));
  if (!S_ISREG(status.st_mode) || present != before) {
    return Failure(FailureCode::Busy, fmt::format("{} changed meanwhile; it is left alone", path));
  }
  // A read-only file is somebody's wish, also where the folder would let it be replaced.
  if (access(path.c_str(), W_OK) != 0) {
    return SystemFailure(errno, fmt::format("cannot write {}", path));
  }

  const std::filesystem::path target(path);
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  std::string temporary = (folder / ("." + target.filename().string() + ".XXXXXX")).string();
  const OwnedFd fresh(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fresh.is_open()) {
    return SystemFailure(errno, fmt::format("cannot write beside {}", path));
  }
  Outcome done = Fill(fresh.get(), status, after, path);
  if (done && rename(temporary.c_str(), path.c_str()) != 0) {
    done = SystemFailure(errno, fmt::format("cannot replace {}", path));
  }
  if (!done) {
    unlink(temporary.c_str());
    return done;
  }
  const OwnedFd opened(open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  if (opened.is_open()) (void)fsync(opened.get());  // the new text is in place either way
  return done;
}

}  // namespace curfew::tool
