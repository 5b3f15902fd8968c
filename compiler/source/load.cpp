#include "compiler/source/load.h"

#include "compiler/base/limits.h"
#include "compiler/base/owned_fd.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::source {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view Extension = ".curfew";

// The files to read: the name as the author will see it, and the path.
using FileNames = std::map<std::string, fs::path>;

// A mistake of the author; whoever asked for a set is told by its map.
Failure TooLarge(std::string_view name) {
  return {FailureCode::TooLarge,
          fmt::format("{}: larger than {} MiB, the limit of a policy file; split it", name,
                      limits::FileBytesMax / (1024 * 1024))};
}

// Everything that `fd` yields, up to the limit of a file.
Result<std::string> ReadAll(int fd, std::string_view name) {
  std::string text;
  while (true) {
    const std::size_t size = text.size();
    text.resize(size + 64 * 1024);
    const ssize_t got = ::read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno != EINTR) return SystemFailure(errno, fmt::format("read {}", name));
    text.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (text.size() > limits::FileBytesMax) return TooLarge(name);
    if (got == 0) return text;
  }
}

// Opens without blocking, so that a FIFO without a writer is refused instead of waited for.
Result<std::string> ReadFile(const fs::path& path, std::string_view name) {
  const OwnedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.is_open()) return SystemFailure(errno, fmt::format("open {}", name));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return SystemFailure(errno, fmt::format("stat {}", name));
  if (!S_ISREG(status.st_mode)) {
    return Failure(FailureCode::Usage,
                   fmt::format("{}: not a regular file; a policy is read from a file, a folder or "
                               "`-` for standard input",
                               name));
  }
  if (static_cast<std::uint64_t>(status.st_size) > limits::FileBytesMax) return TooLarge(name);
  return ReadAll(fd.get(), name);
}

// The same, or what stands in its place.
Result<std::string> ReadText(const fs::path& path, std::string_view name, const Overlay* overlay) {
  if (overlay == nullptr || overlay->empty()) return ReadFile(path, name);
  std::error_code error;
  const auto found = overlay->find(fs::canonical(path, error).string());
  if (error || found == overlay->end()) return ReadFile(path, name);
  if (found->second.size() > limits::FileBytesMax) return TooLarge(name);
  return found->second;
}

// Whether `path`, its links followed, lies below `root`.
bool LiesBelow(const fs::path& root, const fs::path& path) {
  std::error_code error;
  const fs::path base = fs::canonical(root, error);
  if (error) return false;
  const fs::path real = fs::canonical(path, error);
  if (error) return false;
  return std::mismatch(base.begin(), base.end(), real.begin(), real.end()).first == base.end();
}

Outcome Add(FileNames& files, const fs::path& path) {
  files.emplace(path.lexically_normal().string(), path);
  if (files.size() > limits::SetFilesMax) {
    return Failure(
        FailureCode::TooLarge,
        fmt::format("more than {} files, the limit of a policy set", limits::SetFilesMax));
  }
  return Ok();
}

Outcome AddFolder(FileNames& files, const fs::path& folder) {
  std::error_code error;
  fs::recursive_directory_iterator walk(folder, error);
  while (!error && walk != fs::recursive_directory_iterator()) {
    const fs::directory_entry entry = *walk;
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.')) {
      walk.disable_recursion_pending();
    } else if (name.ends_with(Extension) && !entry.is_directory(error) && !error) {
      if (entry.is_symlink(error) && !LiesBelow(folder, entry.path())) {
        return Failure(
            FailureCode::Usage,
            fmt::format("{}: a link that leads out of {} or nowhere; put the file itself "
                        "there, or name it on the command line",
                        entry.path().string(), folder.string()));
      }
      CURFEW_TRY_VOID(Add(files, entry.path()));
    }
    if (!error) walk.increment(error);
  }
  if (error) return SystemFailure(error.value(), fmt::format("read folder {}", folder.string()));
  return Ok();
}

Outcome AddPath(FileNames& files, const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return Failure(FailureCode::NotFound, fmt::format("{}: no such file or folder", path));
  }
  if (error) return SystemFailure(error.value(), fmt::format("stat {}", path));
  if (fs::is_directory(status)) return AddFolder(files, path);
  return Add(files, path);
}

constexpr std::string_view StandardInput = "<stdin>";

Failure SetTooLarge() {
  return {FailureCode::TooLarge,
          fmt::format("the files are larger than {} MiB, the limit of a policy set",
                      limits::SetBytesMax / (1024 * 1024))};
}

}  // namespace

Result<SourceMap> LoadSources(std::span<const std::string> paths, Nothing nothing,
                              const Overlay* overlay) {
  FileNames files;
  bool standard_input = false;
  for (const std::string& path : paths) {
    if (path == "-") {
      standard_input = true;
    } else if (Outcome added = AddPath(files, path); !added) {
      if (added.error().code == FailureCode::TooLarge) return SourceMap::OfExcess(Excess::Files);
      return std::move(added).error();
    }
  }
  const bool is_fine = nothing == Nothing::Fine && !paths.empty();
  if (files.empty() && !standard_input && !is_fine) {
    return Failure(FailureCode::Usage,
                   paths.empty() ? std::string("no policy given; name a `.curfew` file, a folder, "
                                               "or `-` for standard input")
                                 : fmt::format("no `.curfew` file in {}", fmt::join(paths, ", ")));
  }

  SourceMap sources;
  std::size_t bytes = 0;
  const auto add = [&](std::string name, Result<std::string> text) -> Outcome {
    const bool is_too_large = !text && text.error().code == FailureCode::TooLarge;
    if (!text && !is_too_large) return std::move(text).error();
    if (!is_too_large) bytes += text->size();
    sources.Add({std::move(name), is_too_large ? std::string() : *std::move(text), is_too_large});
    return Ok();
  };
  if (standard_input) {
    CURFEW_TRY_VOID(add(std::string(StandardInput), ReadAll(STDIN_FILENO, StandardInput)));
  }
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const auto& [name, path] : files) {
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0 && !seen.emplace(status.st_dev, status.st_ino).second) {
      continue;
    }
    CURFEW_TRY_VOID(add(name, ReadText(path, name, overlay)));
    if (bytes > limits::SetBytesMax) return SourceMap::OfExcess(Excess::Bytes);
  }
  return sources;
}

NamedFiles::NamedFiles(SourceMap& sources, Naming naming)
    : sources_(sources), naming_(std::move(naming)) {
  for (FileId file = 0; file < sources.size(); ++file) {
    bytes_ += sources.text(file).size();
    struct stat status{};
    if (::stat(std::string(sources.name(file)).c_str(), &status) == 0) {
      seen_.emplace(std::pair(status.st_dev, status.st_ino), file);
    }
  }
}

Result<std::string> FollowPath(std::string_view said_by, const std::string& path,
                               const Naming& naming) {
  const fs::path relative(path);
  const auto refuse = [](std::string why) { return Failure(FailureCode::InvalidPolicy, why); };
  const bool has_root = !naming.root.empty();
  if (path.empty() || path.find('\0') != std::string::npos) return refuse("it is no path");
  if (relative.is_absolute()) {
    return refuse("a file names others by a path relative to its own folder");
  }
  if (!has_root && std::find(relative.begin(), relative.end(), "..") != relative.end()) {
    return refuse(
        "`..` leads out of the folder of the file that names it; `--root FOLDER` lets files of a "
        "set name whatever lies below that folder");
  }
  fs::path folder = said_by == StandardInput ? fs::path() : fs::path(said_by).parent_path();
  if (folder.empty()) folder = ".";
  const fs::path named = (folder / relative).lexically_normal();
  struct stat status{};
  if (::stat(named.c_str(), &status) != 0) return SystemFailure(errno, "open it");
  if (!LiesBelow(has_root ? fs::path(naming.root) : folder, named)) {
    return refuse(has_root ? fmt::format("it lies outside of the root `{}`", naming.root)
                           : "a link leads out of the folder of the file that names it");
  }
  return named.string();
}

Result<NamedFiles::Read> NamedFiles::Follow(FileId from, const std::string& path) {
  CURFEW_TRY(const std::string named, FollowPath(sources_.name(from), path, naming_));
  const auto refuse = [](std::string why) { return Failure(FailureCode::InvalidPolicy, why); };
  struct stat status{};
  if (::stat(named.c_str(), &status) != 0) return SystemFailure(errno, "open it");
  const auto found = seen_.find(std::pair(status.st_dev, status.st_ino));
  if (found != seen_.end()) return Read{.file = found->second, .is_new = false};
  if (sources_.size() >= limits::SetFilesMax) {
    return refuse(fmt::format("the set has {} files, its limit", limits::SetFilesMax));
  }
  CURFEW_TRY(std::string text, ReadText(named, named, naming_.overlay));
  bytes_ += text.size();
  if (bytes_ > limits::SetBytesMax) return SetTooLarge();
  const FileId file = sources_.Add({named, std::move(text)});
  seen_.emplace(std::pair(status.st_dev, status.st_ino), file);
  return Read{.file = file, .is_new = true};
}

}  // namespace curfew::source
