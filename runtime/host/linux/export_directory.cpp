#include "runtime/host/linux/export_directory.h"

#include <cerrno>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::host {
namespace {

constexpr std::size_t NameBytesMax = 4096;

// Opens beneath `directory`, through no link.
OwnedFd OpenBeneath(int directory, const std::string& name, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return OwnedFd(static_cast<int>(syscall(SYS_openat2, directory, name.c_str(), &how, sizeof how)));
}

Failure Refused(int error, const std::string& name) {
  if (error == ELOOP || error == EXDEV) {
    return Failure(FailureCode::PermissionDenied,
                   "a link stands in the way of the export " + Printable(name));
  }
  return SystemFailure(error, "write the export " + Printable(name));
}

}  // namespace

ExportFile::~ExportFile() {
  if (named_ && !finished_ && parent_.is_open()) unlinkat(parent_.get(), name_.c_str(), 0);
}

Outcome ExportFile::Write(ByteView bytes) {
  digest_.Update(bytes);
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t written = write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Refused(errno, name_);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return Ok();
}

Result<Digest> ExportFile::Finish() {
  if (fsync(file_.get()) != 0) return Refused(errno, name_);
  if (!named_) {
    const std::string self = fmt::format("/proc/self/fd/{}", file_.get());
    if (linkat(AT_FDCWD, self.c_str(), parent_.get(), name_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      return Refused(errno, name_);
    }
  }
  finished_ = true;
  if (fsync(parent_.get()) != 0) return Refused(errno, name_);
  return digest_.Finish();
}

void ExportFile::Withdraw() {
  if (finished_) unlinkat(parent_.get(), name_.c_str(), 0);
}

Result<OwnedFd> ExportDirectory::Open(const std::string& path) {
  OwnedFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return SystemFailure(errno, "open the folder for exports, " + path);
  return fd;
}

Result<ExportFile> ExportDirectory::Create(const std::string& name) {
  OwnedFd parent = OpenBeneath(directory_.get(), ".", O_RDONLY | O_DIRECTORY, 0);
  if (!parent.is_open()) return Refused(errno, name);
  if (name.size() > NameBytesMax || name.find('\0') != std::string::npos) {
    return Failure(FailureCode::Malformed, "the export's name is none: " + Printable(name));
  }
  std::size_t start = 0;
  for (;;) {
    const std::size_t slash = name.find('/', start);
    const std::string segment = name.substr(start, slash - start);
    if (segment.empty() || segment == "." || segment == "..") {
      return Failure(FailureCode::Malformed, "the export's name is none: " + Printable(name));
    }
    if (slash == std::string::npos) {
      struct stat there{};
      if (fstatat(parent.get(), segment.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0) {
        return Refused(EEXIST, name);
      }
      OwnedFd file = OpenBeneath(parent.get(), ".", O_WRONLY | O_TMPFILE, 0644);
      const bool named = !file.is_open() && (errno == EOPNOTSUPP || errno == EISDIR);
      if (named) file = OpenBeneath(parent.get(), segment, O_WRONLY | O_CREAT | O_EXCL, 0644);
      if (!file.is_open()) return Refused(errno, name);
      return ExportFile(std::move(parent), std::move(file), segment, named);
    }
    if (mkdirat(parent.get(), segment.c_str(), 0755) != 0 && errno != EEXIST) {
      return Refused(errno, name);
    }
    OwnedFd next = OpenBeneath(parent.get(), segment, O_RDONLY | O_DIRECTORY, 0);
    if (!next.is_open()) return Refused(errno, name);
    parent = std::move(next);
    start = slash + 1;
  }
}

}  // namespace curfew::host
