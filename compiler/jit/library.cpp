// What libcurfew_jit.so shows: one function of C, native::CompileFunction.
#include "compiler/jit/compile.h"
#include "compiler/native/native_compiler.h"
#include "compiler/native/native_engine.h"

#include <algorithm>
#include <cstring>
#include <exception>

namespace {

curfew::Result<curfew::OwnedFd> Compile(curfew::ByteView bytes) {
  CURFEW_TRY(const curfew::module::PolicyModule module,
             curfew::module::PolicyModule::Load(bytes, 0));
  CURFEW_TRY(const curfew::Bytes image, curfew::jit::CompileImage(module));
  return curfew::native::SealImage(image);
}

void Say(std::string_view text, char* message, std::size_t room) {
  const std::size_t size = std::min(text.size(), room - 1);
  std::memcpy(message, text.data(), size);
  message[size] = '\0';
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int curfew_compile_native_1(
    const std::uint8_t* module, std::size_t bytes, char* message, std::size_t room) {
  try {
    auto image = Compile({module, bytes});
    if (image) return image->Release();
    Say(image.error().message, message, room);
  } catch (const std::exception& failure) {
    Say(failure.what(), message, room);
  }
  return -1;
}
