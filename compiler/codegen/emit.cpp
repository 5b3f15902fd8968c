#include "compiler/codegen/emit.h"

#include "compiler/codegen/emitter.h"

#include <fmt/format.h>

namespace curfew::codegen {

void Emitter::Declare() {
  for (std::uint32_t shape = 0; shape < shaped_.shapes.size(); ++shape) {
    auto* function = llvm::Function::Create(condition_, llvm::Function::InternalLinkage,
                                            FunctionOf(shape), module_);
    function->setDSOLocal(true);
    function->setDoesNotThrow();
    // A table of jumps, and a call to a library, would be a relocation.
    function->addFnAttr("no-jump-tables", "true");
    function->addFnAttr("no-builtins");
  }
}

void Emitter::Define(std::uint32_t shape) {
  function_ = module_.getFunction(FunctionOf(shape));
  facts_ = function_->getArg(0);
  words_ = function_->getArg(1);
  services_ = function_->getArg(2);
  element_ = nullptr;
  const Shape& of = shaped_.shapes[shape];
  const FactsRead read = FactsReadBy(of.root);
  b_.SetInsertPoint(Block("entry"));
  BasicBlock* there = Block("all_there");
  BasicBlock* otherwise = Block("otherwise");
  b_.CreateCondBr(AllThere(read), there, otherwise);
  b_.SetInsertPoint(there);
  present_ = read.present;
  b_.CreateRet(Condition(of.root));
  b_.SetInsertPoint(otherwise);
  if (!of.has_node) {
    // A guard: what it guards is looked at one by one.
    b_.CreateRet(Code(native::CodeTrue));
    return;
  }
  Value* no_element = llvm::ConstantPointerNull::get(b_.getPtrTy());
  b_.CreateRet(Call(Service::Judge, {services_, facts_, Word(0), no_element}));
}

// ---- Control ------------------------------------------------------------------------------------

Value* Emitter::AndThen(Value* condition, const Make& make) {
  BasicBlock* before = b_.GetInsertBlock();
  BasicBlock* then = Block("then");
  BasicBlock* done = Block("done");
  b_.CreateCondBr(condition, then, done);
  b_.SetInsertPoint(then);
  Value* made = make();
  BasicBlock* after = b_.GetInsertBlock();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  llvm::PHINode* answer = b_.CreatePHI(i1_, 2);
  answer->addIncoming(b_.getFalse(), before);
  answer->addIncoming(made, after);
  return answer;
}

LlvmUnit::LlvmUnit() : context(std::make_unique<llvm::LLVMContext>()) {}
LlvmUnit::LlvmUnit(LlvmUnit&&) noexcept = default;
LlvmUnit::~LlvmUnit() = default;

std::string FunctionOf(std::uint32_t shape) { return fmt::format("shape{}", shape); }

LlvmUnit Emit(const ShapedTables& shaped, const std::string& triple,
              const std::string& data_layout) {
  LlvmUnit unit;
  unit.module = std::make_unique<llvm::Module>("curfew", *unit.context);
  unit.module->setTargetTriple(triple);
  unit.module->setDataLayout(data_layout);
  Emitter emitter(shaped, *unit.module);
  emitter.Declare();
  for (std::uint32_t shape = 0; shape < shaped.shapes.size(); ++shape) emitter.Define(shape);
  return unit;
}

}  // namespace curfew::codegen
