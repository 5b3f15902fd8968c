#include "runtime/guest/agent/text_file.h"

#include "compiler/base/owned_fd.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace curfew::guest {

std::string ReadTextFile(const std::string& path, std::size_t bytes_max) {
  std::string text;
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return text;
  char piece[4096];
  while (text.size() < bytes_max) {
    const ssize_t got = read(file.get(), piece, std::min(sizeof(piece), bytes_max - text.size()));
    if (got <= 0) break;
    text.append(piece, static_cast<std::size_t>(got));
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool WriteTextFile(const std::string& path, const std::string& text) {
  const OwnedFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.is_open() &&
         write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace curfew::guest
