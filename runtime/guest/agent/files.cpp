#include "runtime/guest/agent/files.h"

#include "runtime/guest/agent/machine_boot.h"
#include "runtime/guest/agent/program.h"
#include "runtime/guest/glob.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace curfew::guest {
namespace {

constexpr std::size_t DepthMax = 64;

OwnedFd OpenInside(int folder, const char* path, std::uint64_t flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = flags | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = resolve | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return OwnedFd(static_cast<int>(syscall(SYS_openat2, folder, path, &how, sizeof(how))));
}

File Describe(const std::string& path, const struct stat& status) {
  File file;
  file.path = path;
  file.type = S_ISREG(status.st_mode)   ? FileKind::File
              : S_ISLNK(status.st_mode) ? FileKind::Link
                                        : FileKind::Other;
  file.bytes = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  file.device = status.st_dev;
  file.inode = status.st_ino;
  file.modified_ns = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                     static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
  return file;
}

class Walk {
 public:
  Walk(const std::string& pattern, const std::function<void(const File&)>& found, FilesEnd& end,
       std::size_t& count)
      : pattern_(pattern), found_(found), end_(end), count_(count) {}

  void Enter(OwnedFd folder, const std::string& path, std::size_t depth) {
    DIR* entries = fdopendir(folder.get());
    if (entries == nullptr || depth > DepthMax) {
      if (entries != nullptr) closedir(entries), static_cast<void>(folder.Release());
      ++end_.unreadable;
      return;
    }
    const int descriptor = folder.Release();  // the stream's from here on
    while (const dirent* entry = readdir(entries)) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      Visit(descriptor, name, path + "/" + name, depth);
      if (end_.truncated) break;
    }
    closedir(entries);
  }

 private:
  void Visit(int folder, const std::string& name, const std::string& path, std::size_t depth) {
    struct stat status{};
    if (path.size() > GuestPathBytesMax ||
        fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      ++end_.unreadable;
      return;
    }
    if (S_ISDIR(status.st_mode)) {
      OwnedFd inner = OpenInside(folder, name.c_str(), O_RDONLY | O_DIRECTORY,
                                 RESOLVE_BENEATH | RESOLVE_NO_XDEV);
      if (inner.is_open()) {
        Enter(std::move(inner), path, depth + 1);
      } else {
        ++end_.unreadable;
      }
    } else if (MatchesGlob(pattern_, path)) {
      if (count_ >= FilesMax) {
        end_.truncated = true;
        return;
      }
      ++count_;
      found_(Describe(path, status));
    }
  }

  const std::string& pattern_;
  const std::function<void(const File&)>& found_;
  FilesEnd& end_;
  std::size_t& count_;
};

}  // namespace

Result<FilesEnd> ListFiles(const std::vector<std::string>& patterns,
                           const std::function<void(const File&)>& found) {
  FilesEnd end;
  std::size_t count = 0;
  for (const std::string& pattern : patterns) {
    if (pattern.empty() || pattern[0] != '/') {
      return Failure(FailureCode::Usage, "a pattern must begin with a slash");
    }
    const std::string base(FolderOfGlob(pattern));
    OwnedFd folder = OpenInside(AT_FDCWD, base.c_str(), O_RDONLY | O_DIRECTORY, 0);
    if (folder.is_open()) {
      Walk(pattern, found, end, count).Enter(std::move(folder), base == "/" ? "" : base, 0);
    } else if (errno != ENOENT) {
      ++end.unreadable;
    }
  }
  return end;
}

bool IsUnchanged(int file, const File& listed) {
  struct stat status{};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const File now = Describe(listed.path, status);
  return now.device == listed.device && now.inode == listed.inode && now.bytes == listed.bytes &&
         now.modified_ns == listed.modified_ns;
}

Result<OwnedFd> OpenListed(const File& listed) {
  OwnedFd file = OpenInside(AT_FDCWD, listed.path.c_str(), O_RDONLY | O_NONBLOCK, 0);
  if (!file.is_open()) return ErrnoFailure(errno, listed.path);
  if (!IsUnchanged(file.get(), listed)) {
    return Failure(FailureCode::Busy, listed.path + " changed since it was listed");
  }
  return file;
}

Outcome WriteWholeFile(const WriteFile& what) {
  if (what.path.empty() || what.path[0] != '/') {
    return Failure(FailureCode::Usage, "a file's path must begin with a slash");
  }
  User owner{"root", 0, 0, {}, {}};
  if (!what.root) {
    CURFEW_TRY(owner, FindUser("agent"));
  }
  for (std::size_t slash = what.path.find('/', 1); slash != std::string::npos;
       slash = what.path.find('/', slash + 1)) {
    mkdir(what.path.substr(0, slash).c_str(), 0755);
  }
  unlink(what.path.c_str());
  const OwnedFd file(
      open(what.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return ErrnoFailure(errno, what.path);
  const auto size = static_cast<ssize_t>(what.content.size());
  if (write(file.get(), what.content.data(), what.content.size()) != size ||
      fchown(file.get(), owner.uid, owner.gid) != 0 || fchmod(file.get(), what.mode & 07777) != 0) {
    const int error = errno;
    unlink(what.path.c_str());
    return ErrnoFailure(error, what.path);
  }
  return Ok();
}

}  // namespace curfew::guest
