#include "compiler/native/native_compiler.h"

#include "compiler/base/program_folder.h"
#include "compiler/native/image.h"

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <fstream>
#include <string_view>
#include <sys/stat.h>

#include <fmt/format.h>

namespace curfew::native {
namespace {

// What the kernel says of the first processor that code is chosen by: its model and features, on
// x86 and on ARM. What differs from one processor to the next (its number, its clock) is left out.
std::string Processor() {
  constexpr std::array<std::string_view, 11> kTold = {
      "vendor_id", "cpu family",      "model",    "model name",  "stepping",    "flags",
      "Features",  "CPU implementer", "CPU part", "CPU variant", "CPU revision"};
  std::ifstream info("/proc/cpuinfo");
  std::string told;
  std::string line;
  while (std::getline(info, line) && !line.empty()) {
    const std::string_view key = std::string_view(line).substr(0, line.find_first_of("\t:"));
    if (std::find(kTold.begin(), kTold.end(), key) != kTold.end()) told += line + "\n";
  }
  return told;
}

}  // namespace

Result<OwnedFd> CompileNative(const std::string& path, ByteView module) {
  // LLVM keeps what it once set up, so it is never closed again.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    return Failure(FailureCode::Unsupported, fmt::format("no native code: {}", dlerror()));
  }
  void* symbol = dlsym(library, CompileFunctionName);
  if (symbol == nullptr) {
    return Failure(FailureCode::Unsupported,
                   fmt::format("no native code: {} is of another version of Curfew", path));
  }
  std::array<char, 1024> message{};
  const auto compile = reinterpret_cast<CompileFunction>(symbol);
  OwnedFd image(compile(module.data(), module.size(), message.data(), message.size()));
  if (!image.is_open()) {
    return Failure(FailureCode::Unsupported, fmt::format("no native code: {}", message.data()));
  }
  return image;
}

Result<std::string> MakerOf(const std::string& path) {
  struct stat library{};
  if (stat(path.c_str(), &library) != 0) {
    return Failure(FailureCode::NotFound, fmt::format("there is no {}", path));
  }
  return fmt::format("image {}\nllvm {}\nlibrary {} {} {} {}.{}\n{}", ImageHeader().version,
                     CURFEW_LLVM_VERSION, library.st_dev, library.st_ino, library.st_size,
                     library.st_mtim.tv_sec, library.st_mtim.tv_nsec, Processor());
}

std::string LibraryBesideProgram() { return BesideProgram(LibraryName); }

}  // namespace curfew::native
