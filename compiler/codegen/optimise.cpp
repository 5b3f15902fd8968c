#include "compiler/codegen/emit.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <utility>

namespace curfew::codegen {

Effort EffortFor(const ShapedTables& shaped) {
  constexpr std::size_t kFullMax = 1'000;
  return shaped.nodes > kFullMax ? Effort::Light : Effort::Full;
}

Outcome Optimise(LlvmUnit& unit, Effort effort) {
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
  llvm::FunctionPassManager each;
  if (effort == Effort::Full) {
    each = builder.buildFunctionSimplificationPipeline(llvm::OptimizationLevel::O1,
                                                       llvm::ThinOrFullLTOPhase::None);
  } else {
    each.addPass(llvm::EarlyCSEPass());
    each.addPass(llvm::SimplifyCFGPass());
  }
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(each)));
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
