// The compiler of native code, which lives in a library of its own: LLVM costs 15 ms and 50 MB to
// load, and only who wants native code made pays it.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "compiler/base/text.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace curfew::native {

// The library's one function. The sealed image of a module's bytes as a descriptor, or -1 and why
// not. Its name is raised with every change of what it takes.
extern "C" using CompileFunction =
    int(*)(const std::uint8_t* module, std::size_t bytes, char* message, std::size_t room);
inline constexpr char CompileFunctionName[] = "curfew_compile_native_1";
inline constexpr char LibraryName[] = "libcurfew_jit.so";

// Opens the library at `path`, which stays open, and has it compile. Unsupported where there is no
// such library, or it cannot run here.
Result<OwnedFd> CompileNative(const std::string& path, ByteView module);

// All that code of the library at `path` depends on beside its module, in one text: the library,
// the version of LLVM that it was built with, the processor. Code that another maker made is not to
// be run. NotFound where there is no such library.
Result<std::string> MakerOf(const std::string& path);

// The library that stands beside this program, wherever that is.
std::string LibraryBesideProgram();

}  // namespace curfew::native
