// From the tables of a module to its native image (native/image.h): shapes, LLVM IR, and ORC's
// compiler for this machine. What comes out has no relocations and needs no LLVM to run.
#pragma once

#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/codegen/shape.h"
#include "compiler/module/policy_module.h"

namespace curfew::jit {

// What is too large or rare is left to the interpreter. Unsupported where LLVM has no code for
// this machine.
Result<Bytes> CompileImage(const module::PolicyModule& module);

// The second half of it, for tests that put a fault between the two.
Result<Bytes> CompileShapes(const module::PolicyModule& module,
                            const codegen::ShapedTables& shaped);

}  // namespace curfew::jit
