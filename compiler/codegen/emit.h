// Shapes become LLVM IR: a function for each, which reads what it is handed and nothing else
// (native/image.h). Optimised here too, so that only this room knows LLVM's IR.
#pragma once

#include "compiler/codegen/shape.h"

#include <cstdint>
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace curfew::codegen {

struct LlvmUnit {
  LlvmUnit();
  LlvmUnit(LlvmUnit&&) noexcept;
  LlvmUnit& operator=(LlvmUnit&&) = delete;
  ~LlvmUnit();

  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

// The name of a shape's function.
std::string FunctionOf(std::uint32_t shape);

// `triple` and `data_layout` are those of the machine that the unit will be compiled for.
LlvmUnit Emit(const ShapedTables& shaped, const std::string& triple,
              const std::string& data_layout);

// How much time making the code fast is worth. Many different conditions take LLVM seconds.
enum class Effort : std::uint8_t { Light, Full };
Effort EffortFor(const ShapedTables& shaped);

// Checks the unit with LLVM's verifier and makes it fast. Malformed is a fault of Emit.
Outcome Optimise(LlvmUnit& unit, Effort effort);

// As LLVM prints it.
std::string Print(const LlvmUnit& unit);

}  // namespace curfew::codegen
