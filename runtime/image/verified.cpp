#include "runtime/image/verified.h"

#include "compiler/base/owned_fd.h"

#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::image {
namespace {

constexpr std::size_t NoteBytesMax = 16 * 1024;
constexpr std::time_t SettleSeconds = 2;

std::string NotePath(const std::string& directory) { return directory + "/.verified"; }

// Whether only root and this user can change what `status` is of.
bool IsOurs(const struct stat& status) {
  return (status.st_uid == 0 || status.st_uid == geteuid()) && (status.st_mode & 0022) == 0;
}

std::string IdentityOf(const struct stat& s) {
  return fmt::format("{} {} {} {}.{:09} {}.{:09}", s.st_dev, s.st_ino, s.st_size, s.st_mtim.tv_sec,
                     s.st_mtim.tv_nsec, s.st_ctim.tv_sec, s.st_ctim.tv_nsec);
}

std::string ReadNote(const std::string& directory) {
  struct stat folder{};
  struct stat note{};
  const OwnedFd file(
      open(NotePath(directory).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open() || stat(directory.c_str(), &folder) != 0 || fstat(file.get(), &note) != 0 ||
      !IsOurs(folder) || !IsOurs(note) || !S_ISREG(note.st_mode)) {
    return {};
  }
  std::string text(NoteBytesMax, '\0');
  const ssize_t got = read(file.get(), text.data(), text.size());
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

}  // namespace

Verified Verified::Load(const std::string& directory) {
  Verified verified;
  verified.loaded_ = std::time(nullptr);
  const std::string text = ReadNote(directory);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    const std::string line = text.substr(start, end - start);
    const std::size_t split = line.find(" sha256:");
    if (end == std::string::npos || split == std::string::npos ||
        !ParseDigest(line.substr(split + 1))) {
      verified.before_.clear();
      return verified;
    }
    verified.before_[line.substr(0, split)] = line.substr(split + 1);
    start = end + 1;
  }
  return verified;
}

bool Verified::Knows(int file, const Digest& digest) {
  struct stat status{};
  if (fstat(file, &status) != 0 || !IsOurs(status)) return false;
  const auto known = before_.find(IdentityOf(status));
  if (known == before_.end() || known->second != ToString(digest)) return false;
  now_.insert(*known);
  return true;
}

void Verified::Add(const struct stat& before, const Digest& digest) {
  if (before.st_ctim.tv_sec + SettleSeconds > loaded_) return;
  now_[IdentityOf(before)] = ToString(digest);
  changed_ = true;
}

void Verified::Save(const std::string& directory) const {
  if (!changed_) return;
  std::string text;
  for (const auto& [identity, digest] : now_) text += identity + " " + digest + "\n";
  const std::string fresh = fmt::format("{}.{}", NotePath(directory), getpid());
  const OwnedFd file(
      open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return;
  const bool written =
      write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!written || rename(fresh.c_str(), NotePath(directory).c_str()) != 0) unlink(fresh.c_str());
}

}  // namespace curfew::image
