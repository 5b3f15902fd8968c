#include "compiler/codegen/emit.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>

namespace curfew::codegen {

Outcome Optimise(LlvmUnit& unit) {
  std::string problem;
  llvm::raw_string_ostream out(problem);
  if (llvm::verifyModule(*unit.module, &out)) {
    return Failure(FailureCode::Malformed, "LLVM finds fault with the code: " + out.str());
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  // Function by function: nothing here is worth inlining, and every function is called from
  // outside.
  llvm::ModulePassManager passes;
  passes.addPass(
      llvm::createModuleToFunctionPassAdaptor(builder.buildFunctionSimplificationPipeline(
          llvm::OptimizationLevel::O1, llvm::ThinOrFullLTOPhase::None)));
  passes.run(*unit.module, modules);
  return Ok();
}

std::string Print(const LlvmUnit& unit) {
  std::string text;
  llvm::raw_string_ostream out(text);
  unit.module->print(out, nullptr);
  return out.str();
}

}  // namespace curfew::codegen
