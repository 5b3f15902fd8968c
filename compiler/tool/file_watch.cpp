#include "compiler/tool/file_watch.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::tool {
namespace {

namespace fs = std::filesystem;

// An editor writes in several steps.
constexpr int kQuietMs = 100;

void Drain(int fd) {
  std::array<char, 16 * 1024> buffer;
  while (read(fd, buffer.data(), buffer.size()) > 0) {
  }
}

}  // namespace

Result<FileWatch> FileWatch::Make() {
  OwnedFd changes(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!changes.is_open()) return SystemFailure(errno, "watch files");
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  OwnedFd signals(signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.is_open()) return SystemFailure(errno, "wait for signals");
  if (const int error = pthread_sigmask(SIG_BLOCK, &ends, nullptr); error != 0) {
    return SystemFailure(error, "wait for signals");
  }
  return FileWatch(std::move(changes), std::move(signals));
}

Outcome FileWatch::AddFolder(const std::string& folder) {
  constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE |
                                    IN_DELETE | IN_DELETE_SELF | IN_ONLYDIR;
  if (inotify_add_watch(changes_.get(), folder.c_str(), kEvents) >= 0) return Ok();
  if (errno == ENOENT || errno == ENOTDIR) return Ok();
  return SystemFailure(errno, fmt::format("watch {}", folder));
}

Outcome FileWatch::Add(std::span<const std::string> paths) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      const std::string folder = fs::path(path).parent_path().string();
      CURFEW_TRY_VOID(AddFolder(folder.empty() ? "." : folder));
      continue;
    }
    CURFEW_TRY_VOID(AddFolder(path));
    fs::recursive_directory_iterator below(path, error);
    for (; !error && below != fs::recursive_directory_iterator(); below.increment(error)) {
      std::error_code ignored;
      if (below->is_directory(ignored) && !below->is_symlink(ignored)) {
        CURFEW_TRY_VOID(AddFolder(below->path().string()));
      }
    }
  }
  return Ok();
}

Result<FileWatch::Event> FileWatch::Wait() {
  bool changed = false;
  while (true) {
    std::array<pollfd, 2> waiting = {{{changes_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}}};
    const int ready = poll(waiting.data(), waiting.size(), changed ? kQuietMs : -1);
    if (ready < 0 && errno != EINTR) return SystemFailure(errno, "wait for changes");
    if (ready == 0) return Event::Changed;
    if (ready < 0) continue;
    if (waiting[1].revents != 0) return Event::Interrupted;
    changed = true;
    Drain(changes_.get());
  }
}

}  // namespace curfew::tool
