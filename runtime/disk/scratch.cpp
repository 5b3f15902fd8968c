#include "runtime/disk/scratch.h"

#include "compiler/base/text.h"
#include "runtime/disk/volume.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <openssl/rand.h>

namespace curfew::disk {
namespace {

constexpr std::uint64_t BlockBytes = 4096;
constexpr char MakeFileSystem[] = "/usr/sbin/mke2fs";

Result<Secret> MakeKey() {
  std::array<std::uint8_t, 32> random{};
  if (RAND_priv_bytes(random.data(), static_cast<int>(random.size())) != 1) {
    return Failure(FailureCode::System, "OpenSSL has no random bytes");
  }
  std::string text = Hex(random);
  Secret key(text);
  WipeText(text);
  random.fill(0);
  return key;
}

// Runs mke2fs on `file` as descriptor 3, with its words on a pipe.
Outcome RunMakeFileSystem(int file, std::uint32_t uid, std::uint32_t gid) {
  int words[2];
  if (pipe2(words, O_CLOEXEC) != 0) return SystemFailure(errno, "make a pipe");
  const OwnedFd read_end(words[0]);
  OwnedFd write_end(words[1]);
  const std::string options =
      fmt::format("root_owner={}:{},lazy_itable_init=1,lazy_journal_init=1,nodiscard", uid, gid);
  const char* arguments[] = {MakeFileSystem,
                             "-q",
                             "-F",
                             "-t",
                             "ext4",
                             "-b",
                             "4096",
                             "-m",
                             "0",
                             "-O",
                             "^resize_inode",
                             "-E",
                             options.c_str(),
                             "/proc/self/fd/3",
                             nullptr};
  const char* environment[] = {"LC_ALL=C", nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), 2);
  posix_spawn_file_actions_adddup2(&actions, file, 3);
  posix_spawn_file_actions_addclosefrom_np(&actions, 4);
  pid_t child = 0;
  const int error = posix_spawn(&child, MakeFileSystem, &actions, nullptr,
                                const_cast<char**>(arguments), const_cast<char**>(environment));
  posix_spawn_file_actions_destroy(&actions);
  write_end.Reset();
  if (error == ENOENT) {
    return Failure(FailureCode::Unsupported, "mke2fs is missing; install the package e2fsprogs");
  }
  if (error != 0) return SystemFailure(error, "run mke2fs");
  std::string said;
  char piece[512];
  for (ssize_t got = 0; (got = read(read_end.get(), piece, sizeof(piece))) > 0;) {
    if (said.size() < 2000) said.append(piece, static_cast<std::size_t>(got));
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Ok();
  return Failure(FailureCode::System, "mke2fs failed: " + Printable(said));
}

// An empty file system in memory: plain text stays off the host's disk.
Result<OwnedFd> MakePlainFileSystem(const ScratchRequest& request, std::uint64_t bytes) {
  OwnedFd plain(memfd_create("curfew-ext4", MFD_CLOEXEC));
  if (!plain.is_open()) return SystemFailure(errno, "make a file in memory");
  if (ftruncate(plain.get(), static_cast<off_t>(bytes)) != 0) {
    return SystemFailure(errno, "size a file in memory");
  }
  CURFEW_TRY_VOID(RunMakeFileSystem(plain.get(), request.owner_uid, request.owner_gid));
  return plain;
}

}  // namespace

Result<Scratch> CreateScratch(const ScratchRequest& request) {
  Scratch scratch;
  scratch.bytes = (request.bytes + BlockBytes - 1) / BlockBytes * BlockBytes;
  if (request.bytes < ScratchBytesMin || request.bytes > ScratchBytesMax) {
    return Failure(FailureCode::Usage,
                   fmt::format("a scratch disk of {} bytes is not between {} and {}", request.bytes,
                               ScratchBytesMin, ScratchBytesMax));
  }
  const std::string what = "make a disk in " + request.directory;
  scratch.file =
      OwnedFd(open(request.directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600));
  if (!scratch.file.is_open()) {
    if (errno == EOPNOTSUPP || errno == EISDIR) {
      return Failure(FailureCode::Unsupported,
                     what +
                         ": its file system has no unnamed files; put the state on ext4, xfs, "
                         "btrfs or tmpfs");
    }
    return SystemFailure(errno, what);
  }
  struct stat status{};
  if (fstat(scratch.file.get(), &status) != 0) return SystemFailure(errno, what);
  scratch.device = status.st_dev;
  scratch.inode = status.st_ino;

  CURFEW_TRY(scratch.key, MakeKey());
  auto volume = FormatVolume(scratch.file.get(), scratch.bytes, scratch.key);
  if (!volume) return volume.error().In(what);
  CURFEW_TRY(const OwnedFd plain, MakePlainFileSystem(request, scratch.bytes));
  const Outcome filled = FillVolume(*volume, plain.get());
  if (!filled) return filled.error().In(what);
  return scratch;
}

Outcome WipeHeader(int file) {
  const std::vector<char> zeros(2 << 20);
  const ssize_t put = pwrite(file, zeros.data(), zeros.size(), 0);
  if (put != static_cast<ssize_t>(zeros.size())) {
    return SystemFailure(put < 0 ? errno : ENOSPC, "wipe the header of a disk");
  }
  return Ok();
}

}  // namespace curfew::disk
