// Which engine decides: native code where it is wanted and this machine has it, else the
// interpreter, and why. Every program of a person chooses here.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/module/engine.h"

#include <memory>
#include <string>

namespace curfew::tool {

enum class EngineWish {
  Native,  // or a failure
  Auto,    // native code, or the interpreter where there is none
  Interpreter
};

struct EngineChoice {
  std::unique_ptr<module::DecisionEngine> engine;
  std::string why_not_native;  // where native code was wanted and there is none
};

// By the module in `bytes`, which must outlive the engine.
Result<EngineChoice> ChooseEngine(ByteView bytes, EngineWish wish);

// The sealed native code of a module, by the compiler beside this program.
Result<OwnedFd> MakeNativeCode(ByteView module);

// All that this code depends on beside the module.
Result<std::string> NativeCodeMaker();

// Compiles a small module and asks it, so that what is said of native code was tried.
Outcome TryNativeCode();

}  // namespace curfew::tool
