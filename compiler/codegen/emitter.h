// Emitter: the code of one shape after the other, in LLVM IR. Only this room includes it.
//
// A shape is one function: `code(facts, words, services)`, as native/image.h says. First it sees
// that every fact which it compares is there, as nearly always; its code asks for none of them
// again, and most of it is plain logic. For any other request it asks the interpreter, whose
// meaning of what is missing is then not written down twice.
#pragma once

#include "compiler/base/limits.h"
#include "compiler/codegen/shape.h"
#include "compiler/module/request.h"
#include "compiler/native/services.h"

#include <bitset>
#include <functional>
#include <initializer_list>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

namespace curfew::codegen {

using llvm::BasicBlock;
using llvm::Value;
using native::Service;

inline constexpr std::uint64_t kPresentAt = offsetof(module::Facts, present);
inline constexpr std::uint64_t kKnownAt = offsetof(module::Facts, known);
inline constexpr std::uint64_t kValuesAt = offsetof(module::Facts, values);
inline constexpr std::uint64_t kValueBytes = sizeof(module::Value);
inline constexpr std::uint64_t kSizeAt = offsetof(module::Value, size);

inline constexpr std::uint64_t kAddressBytes = 16;

struct Text {
  Value* data = nullptr;
  Value* size = nullptr;  // i64
};
struct Items {
  Value* word = nullptr;    // of the module: a RangeWord
  Value* values = nullptr;  // of the request
  Value* count = nullptr;   // i64
  bool sorted = false;
};

// The facts that a condition looks at, by slot.
struct FactsRead {
  using Slots = std::bitset<limits::AttributesPerActionMax>;
  Slots present;  // it compares them, and so they must be there
  Slots known;    // it asks whether they are there before it compares them, or only asks
  Slots texts;    // must be no larger than any decoder lets in; so too
  Slots items;
  Slots addresses;  // must have the size of one
};
FactsRead FactsReadBy(const ShapeNode& node);

class Emitter {
 public:
  Emitter(const ShapedTables& shaped, llvm::Module& unit)
      : shaped_(shaped),
        module_(unit),
        context_(unit.getContext()),
        b_(context_),
        i1_(b_.getInt1Ty()),
        i8_(b_.getInt8Ty()),
        i32_(b_.getInt32Ty()),
        i64_(b_.getInt64Ty()),
        ptr_(b_.getPtrTy()),
        condition_(llvm::FunctionType::get(i32_, {ptr_, ptr_, ptr_}, false)) {}

  void Declare();
  void Define(std::uint32_t shape);

 private:
  // ---- Small words ----
  Value* Code(std::uint32_t code) { return b_.getInt32(code); }
  Value* Known(Value* holds) { return b_.CreateZExt(holds, i32_); }
  Value* At(Value* base, std::uint64_t bytes) {
    return b_.CreateConstInBoundsGEP1_64(i8_, base, bytes);
  }
  // What lies there does not change while a decision runs.
  Value* Load(llvm::Type* type, Value* from) {
    llvm::LoadInst* load = b_.CreateLoad(type, from);
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    return load;
  }
  // The element is another one in each round.
  Value* LoadElement(llvm::Type* type, std::uint64_t bytes) {
    return b_.CreateLoad(type, At(element_, bytes));
  }
  Value* Word(std::uint32_t word) { return Load(i64_, At(words_, std::uint64_t{word} * 8)); }
  Value* Field(Service service) {
    return Load(ptr_, At(services_, std::uint64_t{static_cast<std::uint32_t>(service)} * 8));
  }
  Value* Low(Value* word) { return b_.CreateAnd(word, 0xffffffffu); }
  Value* High(Value* word) { return b_.CreateLShr(word, 32); }
  // Calls a service; what it answers is an i32, or of another type.
  Value* Call(Service service, std::initializer_list<Value*> arguments,
              llvm::Type* answer = nullptr) {
    std::vector<llvm::Type*> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    llvm::CallInst* call =
        b_.CreateCall(llvm::FunctionType::get(answer != nullptr ? answer : i32_, types, false),
                      Field(service), std::vector<Value*>(arguments));
    call->setDoesNotThrow();
    call->setOnlyReadsMemory();
    return call;
  }
  Value* Yes(Value* answer) { return b_.CreateICmpNE(answer, Code(0)); }
  BasicBlock* Block(const char* name) { return BasicBlock::Create(context_, name, function_); }

  // ---- Control ----
  using Make = std::function<Value*()>;
  // `make`, an i1, where `condition` holds, else false.
  Value* AndThen(Value* condition, const Make& make);

  // ---- Operands ----
  // An i1: all is as it must be.
  Value* AllThere(const FactsRead& read);
  Value* Bit(std::uint64_t bits_at, schema::Slot slot);
  Value* SlotValue(schema::Slot slot) { return At(facts_, kValuesAt + kValueBytes * slot); }
  Value* SizeOf(Value* value) { return b_.CreateZExt(Load(i32_, At(value, kSizeAt)), i64_); }
  Value* IntegerOf(const ShapeTerm& term);
  Text TextOf(const ShapeTerm& term);
  Text ConstantText(Value* word);
  Items ItemsOf(const ShapeTerm& term);
  static bool IsText(const ShapeTerm& term) { return term.value == module::ValueClass::Text; }

  // ---- Conditions: the code of each, an i32 ----
  Value* Condition(const ShapeNode& node);
  // Whether it is true or false and never unknown, since what it looks at is there; then it can be
  // an i1, without codes.
  static bool IsTwoValued(const ShapeNode& node);
  Value* Holds(const ShapeNode& node);
  Value* HoldsJunction(const ShapeNode& node);
  Value* Leaf(const ShapeNode& node);
  Value* Not(Value* code);
  Value* Junction(const ShapeNode& node);
  Value* Run(const ShapeNode& node, bool is_and);
  Value* Quantifier(const ShapeNode& node);
  Value* Has(schema::Slot slot);
  Value* Comparison(const ShapeNode& node);
  Value* InFew(const ShapeNode& node);
  Value* In(const ShapeNode& node);
  Value* Host(const ShapeNode& node);
  Value* Path(const ShapeNode& node);
  Value* Address(const ShapeNode& node);
  Value* InFewShort(const ShapeNode& node);
  Value* Patterns(const ShapeNode& node, Service service);

  Value* SameText(const Text& a, const Text& b);
  Value* EndsIn(const Text& text, const Text& name);
  Value* LiesBelow(const Text& path, const Text& literal);
  // A loop from 0 to `count`, whose body makes the code of one part; ends with the deciding code.
  Value* Loop(Value* count, bool is_and, const std::function<Value*(Value* i)>& body);
  Value* ElementOf(const Items& items, const ShapeTerm& term, Value* i);

  const ShapedTables& shaped_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  llvm::Type* i1_;
  llvm::Type* i8_;
  llvm::Type* i32_;
  llvm::Type* i64_;
  llvm::Type* ptr_;
  llvm::FunctionType* condition_;

  llvm::Function* function_ = nullptr;
  Value* facts_ = nullptr;
  Value* words_ = nullptr;
  Value* services_ = nullptr;
  Value* element_ = nullptr;  // where the element of the quantifier around lies
  FactsRead::Slots present_;  // they are, where code is being made
};

}  // namespace curfew::codegen
