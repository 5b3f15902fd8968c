#include "runtime/host/files.h"

namespace curfew::host {

Result<std::string> ReadText(Files& files, const std::string& path, std::size_t bytes_max) {
  CURFEW_TRY(const Bytes bytes, files.ReadWhole(path, bytes_max));
  return std::string(AsText(bytes));
}

}  // namespace curfew::host
