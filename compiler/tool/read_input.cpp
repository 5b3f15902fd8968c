#include "compiler/tool/read_input.h"

#include "compiler/base/owned_fd.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::tool {
namespace {

constexpr std::size_t kChunkBytes = 64 * 1024;

Result<std::string> ReadAll(int fd, std::string_view name, std::size_t bytes_max) {
  std::string text;
  while (true) {
    const std::size_t size = text.size();
    text.resize(size + kChunkBytes);
    const ssize_t got = read(fd, text.data() + size, kChunkBytes);
    if (got < 0 && errno == EINTR) {
      text.resize(size);
      continue;
    }
    if (got < 0) return SystemFailure(errno, fmt::format("cannot read {}", name));
    text.resize(size + static_cast<std::size_t>(got));
    if (got == 0) return text;
    if (text.size() > bytes_max) {
      return Failure(FailureCode::TooLarge,
                     fmt::format("{} is larger than {} bytes, the limit", name, bytes_max));
    }
  }
}

}  // namespace

Result<std::string> ReadInput(const std::string& path, std::size_t bytes_max) {
  if (path == "-") return ReadAll(STDIN_FILENO, "standard input", bytes_max);
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.is_open()) return SystemFailure(errno, fmt::format("cannot open {}", path));
  return ReadAll(file.get(), path, bytes_max);
}

}  // namespace curfew::tool
