#include "compiler/native/native_compiler.h"

#include "compiler/base/program_folder.h"

#include <array>
#include <dlfcn.h>

#include <fmt/format.h>

namespace curfew::native {

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

std::string LibraryBesideProgram() { return BesideProgram(LibraryName); }

}  // namespace curfew::native
