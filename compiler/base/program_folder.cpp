#include "compiler/base/program_folder.h"

#include <array>
#include <unistd.h>

namespace curfew {

std::string BesideProgram(std::string_view name) {
  std::array<char, 4096> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  const std::string self(path.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return self.substr(0, self.rfind('/') + 1).append(name);
}

}  // namespace curfew
