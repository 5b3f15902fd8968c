// Files of the host: whole reads with a bound, writes that either happened durably or not at all,
// appends that leave no half record behind. Not for bulk data of guests (disks, images).
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "compiler/base/text.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace curfew::host {

enum class FileKind { Regular, Directory, Link, Socket, Pipe, Device };

struct FileStatus {
  FileKind kind = FileKind::Regular;
  std::uint32_t mode = 0;  // permission bits
  std::uint32_t uid = 0;
  std::uint64_t bytes = 0;
  std::uint64_t device = 0;  // device and inode together are a file's identity while it lives
  std::uint64_t inode = 0;
};

// Whether the last component of a path may be a symbolic link.
enum class Follow { No, Yes };

// A file open for appending, by one writer.
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  // All bytes or none: after a failure the file has its former size (if even that cannot be had,
  // the failure says so).
  virtual Outcome Append(ByteView bytes) = 0;
  // What was appended is on the disk when this returns. After a failure nothing more may be
  // appended: the kernel forgets which pages it lost.
  virtual Outcome Sync() = 0;
  virtual Outcome Truncate(std::uint64_t bytes) = 0;
  virtual Result<Bytes> ReadAt(std::uint64_t offset, std::size_t bytes) = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
};

// A lock on a file, held until it is destroyed or its process ends.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

class Files {
 public:
  virtual ~Files() = default;

  // Everything in `path`, also where the kernel states no size (/proc). NotFound,
  // PermissionDenied, TooLarge past `bytes_max`; Malformed if it is not a regular file.
  virtual Result<Bytes> ReadWhole(const std::string& path, std::size_t bytes_max) = 0;
  virtual Result<FileStatus> Inspect(const std::string& path, Follow follow) = 0;
  virtual Result<std::string> ReadLink(const std::string& path) = 0;
  // Names without "." and "..", sorted.
  virtual Result<std::vector<std::string>> List(const std::string& directory) = 0;

  // Replaces `path` at once and durably: temporary file, fsync, rename, fsync of the directory.
  // After a failure the old content stands and no temporary file is left; after a crash there may
  // be `path`.new, which the next write replaces. One writer a path.
  virtual Outcome WriteDurable(const std::string& path, ByteView bytes, std::uint32_t mode) = 0;
  // As above, but `path` must not exist (AlreadyExists): of two creators one wins whole, and a
  // crash leaves nothing.
  virtual Outcome CreateDurable(const std::string& path, ByteView bytes, std::uint32_t mode) = 0;
  // Creates `path` if it is not there. Refuses what is not a regular file.
  virtual Result<std::unique_ptr<AppendFile>> OpenAppend(const std::string& path,
                                                         std::uint32_t mode) = 0;
  // A file of `bytes` allocated bytes: space that is given back by Remove when it is needed.
  virtual Outcome Reserve(const std::string& path, std::uint64_t bytes) = 0;

  // Removing what is not there is no failure: `Remove` says whether it was.
  virtual Result<bool> Remove(const std::string& path) = 0;
  virtual Result<bool> RemoveDirectory(const std::string& path) = 0;
  // With all below it; links are removed and not followed, and other file systems not entered.
  virtual Result<bool> RemoveTree(const std::string& path) = 0;
  // Already there as a directory of this user with no wider mode: no failure.
  virtual Outcome MakeDirectory(const std::string& path, std::uint32_t mode) = 0;
  // The names in `directory` are on the disk when this returns: what is durable below a new
  // directory is lost with its name.
  virtual Outcome SyncDirectory(const std::string& directory) = 0;

  // Waits up to `wait_ms` for the exclusive lock on `path` (created, 0600, if need be), then Busy.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path, int wait_ms) = 0;

  // How often this process has waited for a disk (fsync, fdatasync) so far.
  [[nodiscard]] virtual std::uint64_t durable_writes() const = 0;
};

// The whole of a text file, or a failure as ReadWhole has them.
Result<std::string> ReadText(Files& files, const std::string& path, std::size_t bytes_max);

}  // namespace curfew::host
