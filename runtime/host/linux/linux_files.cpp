#include "runtime/host/linux/linux_host.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <limits>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::host {

namespace {

// The failure for errno, with what a person can do about it.
Failure FileFailure(int error, std::string_view verb, const std::string& path) {
  Failure failure = SystemFailure(error, fmt::format("{} {}", verb, Printable(path)));
  if (failure.code == FailureCode::OutOfSpace) {
    failure.message += "; free some space on that file system and try again";
  } else if (error == EACCES || error == EPERM) {
    failure.message += "; run as its owner (root, as a rule)";
  } else if (error == EROFS) {
    failure.message += "; choose a directory that can be written";
  }
  return failure;
}

std::string DirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

FileKind KindOf(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return FileKind::Regular;
    case S_IFDIR:
      return FileKind::Directory;
    case S_IFLNK:
      return FileKind::Link;
    case S_IFSOCK:
      return FileKind::Socket;
    case S_IFIFO:
      return FileKind::Pipe;
    default:
      return FileKind::Device;
  }
}

FileStatus StatusOf(const struct stat& status) {
  return {KindOf(status.st_mode), status.st_mode & 07777U,
          status.st_uid,          static_cast<std::uint64_t>(status.st_size),
          status.st_dev,          status.st_ino};
}

// errno of the first failure, 0 when all bytes are written.
int WriteAll(int fd, ByteView bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t wrote = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    if (wrote == 0) return ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    offset += static_cast<std::uint64_t>(wrote);
  }
  return 0;
}

// How often this process has waited for a disk.
using SyncCount = std::atomic<std::uint64_t>;

int SyncNames(const std::string& directory, SyncCount& syncs) {
  const OwnedFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return errno;
  ++syncs;
  return fsync(fd.get()) == 0 ? 0 : errno;
}

class LinuxAppendFile final : public AppendFile {
 public:
  LinuxAppendFile(OwnedFd fd, std::string path, std::uint64_t size, SyncCount& syncs)
      : fd_(std::move(fd)), path_(std::move(path)), size_(size), syncs_(syncs) {}

  Outcome Append(ByteView bytes) override {
    const int error = WriteAll(fd_.get(), bytes, size_);
    if (error == 0) {
      size_ += bytes.size();
      return Ok();
    }
    Failure failure = FileFailure(error, "append to", path_);
    if (ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0) {
      failure.message += "; and what was half written could not be removed";
    }
    return failure;
  }

  Outcome Sync() override {
    ++syncs_;
    if (fdatasync(fd_.get()) != 0) return FileFailure(errno, "make durable", path_);
    // Once, also for a file that was there: its maker may have died before it came here.
    if (!name_is_durable_) {
      if (const int error = SyncNames(DirectoryOf(path_), syncs_); error != 0) {
        return FileFailure(error, "make durable the name of", path_);
      }
      name_is_durable_ = true;
    }
    return Ok();
  }

  Outcome Truncate(std::uint64_t bytes) override {
    if (ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) {
      return FileFailure(errno, "cut", path_);
    }
    size_ = bytes;
    return Ok();
  }

  Result<Bytes> ReadAt(std::uint64_t offset, std::size_t bytes) override {
    Bytes read(bytes);
    for (std::size_t have = 0; have < bytes;) {
      const ssize_t got =
          pread(fd_.get(), read.data() + have, bytes - have, static_cast<off_t>(offset + have));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return FileFailure(errno, "read", path_);
      if (got == 0) {
        return Failure(FailureCode::Malformed, Printable(path_) + " ends before it should");
      }
      have += static_cast<std::size_t>(got);
    }
    return read;
  }

  [[nodiscard]] std::uint64_t size() const override { return size_; }

 private:
  OwnedFd fd_;
  std::string path_;
  std::uint64_t size_;
  SyncCount& syncs_;
  bool name_is_durable_ = false;
};

class LinuxFileLock final : public FileLock {
 public:
  explicit LinuxFileLock(OwnedFd fd) : fd_(std::move(fd)) {}

 private:
  OwnedFd fd_;
};

class LinuxFiles final : public Files {
 public:
  Result<Bytes> ReadWhole(const std::string& path, std::size_t bytes_max) override {
    // Without O_NONBLOCK a pipe in the place of a file would keep us waiting.
    const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd.is_open()) return FileFailure(errno, "read", path);
    struct stat status{};
    if (fstat(fd.get(), &status) != 0) return FileFailure(errno, "read", path);
    if (KindOf(status.st_mode) != FileKind::Regular) {
      return Failure(FailureCode::Malformed, Printable(path) + " is not a regular file");
    }
    Bytes bytes(std::min<std::size_t>(static_cast<std::size_t>(status.st_size), bytes_max) + 1);
    std::size_t have = 0;
    for (;;) {
      if (have == bytes.size()) bytes.resize(std::min(bytes_max + 1, bytes.size() * 2 + 4096));
      const ssize_t got = read(fd.get(), bytes.data() + have, bytes.size() - have);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return FileFailure(errno, "read", path);
      if (got == 0) break;
      have += static_cast<std::size_t>(got);
      if (have > bytes_max) {
        return Failure(FailureCode::TooLarge,
                       fmt::format("{} is larger than {} bytes", Printable(path), bytes_max));
      }
    }
    bytes.resize(have);
    return bytes;
  }

  Result<FileStatus> Inspect(const std::string& path, Follow follow) override {
    struct stat status{};
    const int flags = follow == Follow::Yes ? 0 : AT_SYMLINK_NOFOLLOW;
    if (fstatat(AT_FDCWD, path.c_str(), &status, flags) != 0) {
      return FileFailure(errno, "look at", path);
    }
    return StatusOf(status);
  }

  Result<std::string> ReadLink(const std::string& path) override {
    std::string target(4096, '\0');
    const ssize_t bytes = readlink(path.c_str(), target.data(), target.size());
    if (bytes < 0) return FileFailure(errno, "read the link", path);
    target.resize(static_cast<std::size_t>(bytes));
    return target;
  }

  Result<std::vector<std::string>> List(const std::string& directory) override {
    DIR* stream = opendir(directory.c_str());
    if (stream == nullptr) return FileFailure(errno, "list", directory);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    const int error = errno;
    closedir(stream);
    if (error != 0) return FileFailure(error, "list", directory);
    std::sort(names.begin(), names.end());
    return names;
  }

  Outcome WriteDurable(const std::string& path, ByteView bytes, std::uint32_t mode) override {
    const std::string temporary = path + ".new";
    const auto fail = [&](int error) -> Outcome {
      unlink(temporary.c_str());
      return FileFailure(error, "write", path);
    };
    OwnedFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                    static_cast<mode_t>(mode)));
    if (!fd.is_open()) return FileFailure(errno, "write", path);
    if (fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) return fail(errno);
    if (const int error = WriteAll(fd.get(), bytes, 0); error != 0) return fail(error);
    ++syncs_;
    if (fsync(fd.get()) != 0) return fail(errno);
    fd.Reset();
    if (rename(temporary.c_str(), path.c_str()) != 0) return fail(errno);
    const int error = SyncNames(DirectoryOf(path), syncs_);
    if (error != 0) return FileFailure(error, "make durable", path);
    return Ok();
  }

  Outcome CreateDurable(const std::string& path, ByteView bytes, std::uint32_t mode) override {
    const std::string directory = DirectoryOf(path);
    const OwnedFd fd(
        open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, static_cast<mode_t>(mode)));
    if (!fd.is_open() && (errno == EOPNOTSUPP || errno == EISDIR)) {
      return Failure(FailureCode::Unsupported,
                     fmt::format("the file system of {} cannot make unnamed files (O_TMPFILE); "
                                 "use a local one such as ext4, xfs, btrfs or tmpfs",
                                 Printable(directory)));
    }
    if (!fd.is_open()) return FileFailure(errno, "create", path);
    if (fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) return FileFailure(errno, "create", path);
    if (const int error = WriteAll(fd.get(), bytes, 0); error != 0) {
      return FileFailure(error, "create", path);
    }
    ++syncs_;
    if (fsync(fd.get()) != 0) return FileFailure(errno, "create", path);
    const std::string unnamed = fmt::format("/proc/self/fd/{}", fd.get());
    if (linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      return FileFailure(errno, "create", path);
    }
    const int error = SyncNames(directory, syncs_);
    if (error != 0) return FileFailure(error, "make durable", path);
    return Ok();
  }

  Result<std::unique_ptr<AppendFile>> OpenAppend(const std::string& path,
                                                 std::uint32_t mode) override {
    OwnedFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                    static_cast<mode_t>(mode)));
    if (!fd.is_open()) return FileFailure(errno, "open for appending", path);
    struct stat status{};
    if (fstat(fd.get(), &status) != 0) return FileFailure(errno, "look at", path);
    if (KindOf(status.st_mode) != FileKind::Regular) {
      return Failure(FailureCode::Malformed, Printable(path) + " is not a regular file");
    }
    return std::unique_ptr<AppendFile>(std::make_unique<LinuxAppendFile>(
        std::move(fd), path, static_cast<std::uint64_t>(status.st_size), syncs_));
  }

  Outcome Reserve(const std::string& path, std::uint64_t bytes) override {
    const OwnedFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.is_open()) return FileFailure(errno, "reserve space at", path);
    if (const int error = posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes)); error != 0) {
      unlink(path.c_str());
      return FileFailure(error, "reserve space at", path);
    }
    return Ok();
  }

  Result<bool> Remove(const std::string& path) override {
    if (unlink(path.c_str()) == 0) return true;
    if (errno == ENOENT) return false;
    return FileFailure(errno, "remove", path);
  }

  Result<bool> RemoveDirectory(const std::string& path) override {
    if (rmdir(path.c_str()) == 0) return true;
    if (errno == ENOENT) return false;
    return FileFailure(errno, "remove the directory", path);
  }

  Result<bool> RemoveTree(const std::string& path) override {
    struct stat status{};
    if (lstat(path.c_str(), &status) != 0) {
      if (errno == ENOENT) return false;
      return FileFailure(errno, "look at", path);
    }
    if (!S_ISDIR(status.st_mode)) return Remove(path);
    const OwnedFd parent(open(DirectoryOf(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!parent.is_open()) return FileFailure(errno, "open the parent of", path);
    const std::string name = path.substr(path.rfind('/') + 1);
    const int error = RemoveBelow(parent.get(), name.c_str(), status.st_dev, 0);
    if (error != 0) return FileFailure(error, "remove", path);
    return true;
  }

  Outcome MakeDirectory(const std::string& path, std::uint32_t mode) override {
    if (mkdir(path.c_str(), static_cast<mode_t>(mode)) == 0) return Ok();
    if (errno != EEXIST) return FileFailure(errno, "make the directory", path);
    CURFEW_TRY(const FileStatus status, Inspect(path, Follow::No));
    if (status.kind != FileKind::Directory) {
      return Failure(FailureCode::AlreadyExists,
                     Printable(path) + " is there and is not a directory; move it away");
    }
    if (status.uid != geteuid()) {
      return Failure(FailureCode::PermissionDenied,
                     fmt::format("{} belongs to uid {}; run as that user or chown it",
                                 Printable(path), status.uid));
    }
    if ((status.mode & ~mode) != 0) {
      return Failure(FailureCode::PermissionDenied,
                     fmt::format("{} has mode {:04o}, wider than {:04o}; chmod {:04o} it",
                                 Printable(path), status.mode, mode, mode));
    }
    return Ok();
  }

  Outcome SyncDirectory(const std::string& directory) override {
    const int error = SyncNames(directory, syncs_);
    if (error != 0) return FileFailure(error, "make durable the names in", directory);
    return Ok();
  }

  Result<std::unique_ptr<FileLock>> Lock(const std::string& path, int wait_ms) override {
    OwnedFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.is_open()) return FileFailure(errno, "lock", path);
    constexpr int PauseMs = 5;
    for (int waited_ms = 0; flock(fd.get(), LOCK_EX | LOCK_NB) != 0; waited_ms += PauseMs) {
      if (errno != EWOULDBLOCK && errno != EINTR) return FileFailure(errno, "lock", path);
      if (waited_ms >= wait_ms) {
        return Failure(FailureCode::Busy, Printable(path) + " is in use by another process");
      }
      usleep(PauseMs * 1000);
    }
    return std::unique_ptr<FileLock>(std::make_unique<LinuxFileLock>(std::move(fd)));
  }

  [[nodiscard]] std::uint64_t durable_writes() const override { return syncs_; }

 private:
  // errno of the first failure. Works on descriptors, so that a directory that is swapped for a
  // link meanwhile is not followed.
  static int RemoveBelow(int parent, const char* name, dev_t device, int depth) {
    constexpr int DepthMax = 64;
    if (depth > DepthMax) return ELOOP;
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return errno;
    struct stat status{};
    if (fstat(fd, &status) != 0 || status.st_dev != device) {
      close(fd);
      return EXDEV;
    }
    DIR* stream = fdopendir(fd);
    if (stream == nullptr) {
      const int error = errno;
      close(fd);
      return error;
    }
    int first_error = 0;
    while (const dirent* entry = readdir(stream)) {
      if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
      if (unlinkat(fd, entry->d_name, 0) == 0) continue;
      int error = errno;
      if (error == EISDIR) error = RemoveBelow(fd, entry->d_name, device, depth + 1);
      if (first_error == 0) first_error = error;
    }
    closedir(stream);
    if (unlinkat(parent, name, AT_REMOVEDIR) != 0 && first_error == 0) first_error = errno;
    return first_error;
  }

  SyncCount syncs_ = 0;
};

}  // namespace

std::unique_ptr<Files> MakeLinuxFiles() { return std::make_unique<LinuxFiles>(); }

}  // namespace curfew::host
