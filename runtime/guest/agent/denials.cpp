#include "runtime/guest/agent/denials.h"

#include "compiler/base/owned_fd.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace curfew::guest {
namespace {

bool IsPrintable(char c) { return c >= ' ' && c <= '~'; }

}  // namespace

Outcome BeginDenials(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/'));
  if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return SystemFailure(errno, folder);
  const OwnedFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400));
  if (!file.is_open() || fchmod(file.get(), 0444) != 0) return SystemFailure(errno, path);
  return Ok();
}

Outcome AppendDenial(const std::string& path, const std::string& line) {
  if (!std::all_of(line.begin(), line.end(), IsPrintable)) {
    return Failure(FailureCode::Usage, "a refusal is one printable line");
  }
  struct stat status{};
  if (stat(path.c_str(), &status) == 0 &&
      static_cast<std::size_t>(status.st_size) + line.size() + 1 > DenialsBytesMax) {
    if (rename(path.c_str(), (path + ".old").c_str()) != 0) return SystemFailure(errno, path);
    CURFEW_TRY_VOID(BeginDenials(path));
  }
  const OwnedFd file(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open()) return SystemFailure(errno, path);
  const std::string text = line + "\n";
  if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return SystemFailure(errno, path);
  }
  return Ok();
}

}  // namespace curfew::guest
