#include "compiler/codegen/emit.h"

#include "compiler/base/check.h"
#include "compiler/base/limits.h"
#include "compiler/native/services.h"
#include "compiler/values/host.h"

#include <functional>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <utility>

#include <fmt/format.h>

namespace curfew::codegen {
namespace {

using llvm::BasicBlock;
using llvm::Value;
using module::NodeOp;
using module::TermKind;
using module::ValueClass;
using native::Service;

constexpr std::uint64_t kPresentAt = offsetof(module::Facts, present);
constexpr std::uint64_t kKnownAt = offsetof(module::Facts, known);
constexpr std::uint64_t kValuesAt = offsetof(module::Facts, values);
constexpr std::uint64_t kValueBytes = sizeof(module::Value);
constexpr std::uint64_t kSizeAt = offsetof(module::Value, size);

// `missing` is what the answer is where the operand cannot be read, and 0 where it can; null where
// it always can.
struct Integer {
  Value* value = nullptr;  // i64, or i128 for a sum
  Value* missing = nullptr;
};
struct Text {
  Value* data = nullptr;
  Value* size = nullptr;  // i64
  Value* missing = nullptr;
};
struct Items {
  Value* word = nullptr;    // of the module: a RangeWord
  Value* values = nullptr;  // of the request
  Value* count = nullptr;   // i64
  bool sorted = false;
  Value* missing = nullptr;
};

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
  static std::uint32_t UnknownOf(schema::Slot slot) {
    return native::CodeUnknown | std::uint32_t{slot} << native::CodeSlotShift;
  }
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
  // Calls a service; what it answers is an i32.
  Value* Call(Service service, std::initializer_list<Value*> arguments) {
    std::vector<llvm::Type*> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    llvm::CallInst* call = b_.CreateCall(llvm::FunctionType::get(i32_, types, false),
                                         Field(service), std::vector<Value*>(arguments));
    call->setDoesNotThrow();
    call->setOnlyReadsMemory();
    return call;
  }
  Value* Yes(Value* answer) { return b_.CreateICmpNE(answer, Code(0)); }
  BasicBlock* Block(const char* name) { return BasicBlock::Create(context_, name, function_); }

  // ---- Control ----
  using Make = std::function<Value*()>;
  // The missing code where there is one, else what `make` makes.
  Value* IfReadable(Value* missing, const Make& make);
  // `make`, an i1, where `condition` holds, else false.
  Value* AndThen(Value* condition, const Make& make);
  Value* FirstMissing(Value* a, Value* b);

  // ---- Operands ----
  Value* IsPresent(schema::Slot slot) { return Bit(kPresentAt, slot); }
  Value* Bit(std::uint64_t bits_at, schema::Slot slot);
  Value* SlotValue(schema::Slot slot) { return At(facts_, kValuesAt + kValueBytes * slot); }
  Value* SizeOf(Value* value) { return b_.CreateZExt(Load(i32_, At(value, kSizeAt)), i64_); }
  Value* MissingUnless(Value* readable, schema::Slot slot) {
    return b_.CreateSelect(readable, Code(0), Code(UnknownOf(slot)));
  }
  Integer IntegerOf(const ShapeTerm& term);
  Text TextOf(const ShapeTerm& term);
  Text ConstantText(Value* word);
  Items ItemsOf(const ShapeTerm& term);
  static bool IsText(const ShapeTerm& term) { return term.value == ValueClass::Text; }

  // ---- Conditions: the code of each, an i32 ----
  Value* Condition(const ShapeNode& node);
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
};

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
  b_.SetInsertPoint(Block("entry"));
  b_.CreateRet(Condition(shaped_.shapes[shape].root));
}

// ---- Control ------------------------------------------------------------------------------------

Value* Emitter::IfReadable(Value* missing, const Make& make) {
  if (missing == nullptr) return make();
  BasicBlock* before = b_.GetInsertBlock();
  BasicBlock* readable = Block("readable");
  BasicBlock* done = Block("done");
  b_.CreateCondBr(b_.CreateICmpEQ(missing, Code(0)), readable, done);
  b_.SetInsertPoint(readable);
  Value* made = make();
  BasicBlock* after = b_.GetInsertBlock();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  llvm::PHINode* answer = b_.CreatePHI(i32_, 2);
  answer->addIncoming(missing, before);
  answer->addIncoming(made, after);
  return answer;
}

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

Value* Emitter::FirstMissing(Value* a, Value* b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  return b_.CreateSelect(b_.CreateICmpNE(a, Code(0)), a, b);
}

// ---- Operands -----------------------------------------------------------------------------------

Value* Emitter::Bit(std::uint64_t bits_at, schema::Slot slot) {
  Value* bits = Load(i64_, At(facts_, bits_at + std::uint64_t{8} * (slot / 64)));
  return b_.CreateICmpNE(b_.CreateAnd(bits, std::uint64_t{1} << (slot % 64)), b_.getInt64(0));
}

Integer Emitter::IntegerOf(const ShapeTerm& term) {
  switch (term.kind) {
    case TermKind::Slot:
      return {Load(i64_, SlotValue(term.slot)), MissingUnless(IsPresent(term.slot), term.slot)};
    case TermKind::Element:
      return {LoadElement(i64_, 0), nullptr};
    case TermKind::Count: {
      const Items items = ItemsOf(term.parts.front());
      return {items.count, items.missing};
    }
    case TermKind::Sum: {
      Integer sum{llvm::ConstantInt::get(b_.getInt128Ty(), 0), nullptr};
      for (std::size_t i = 0; i < term.parts.size(); ++i) {
        const Integer part = IntegerOf(term.parts[i]);
        Value* wide = b_.CreateSExt(part.value, b_.getInt128Ty());
        sum.value =
            term.signs[i] < 0 ? b_.CreateSub(sum.value, wide) : b_.CreateAdd(sum.value, wide);
        sum.missing = FirstMissing(sum.missing, part.missing);
      }
      return sum;
    }
    case TermKind::Integer:
    case TermKind::Text:
    case TermKind::TextSet:
    case TermKind::TextList:
    case TermKind::IntegerSet:
    case TermKind::IntegerList:
      return {Word(term.word), nullptr};
  }
  CURFEW_UNREACHABLE("the verifier let no other kind in");
}

Text Emitter::ConstantText(Value* word) {
  return {b_.CreateInBoundsGEP(i8_, Field(Service::Data), Low(word)), High(word), nullptr};
}

Text Emitter::TextOf(const ShapeTerm& term) {
  if (term.kind == TermKind::Element) {
    return {LoadElement(ptr_, 0), b_.CreateZExt(LoadElement(i32_, kSizeAt), i64_), nullptr};
  }
  if (term.kind != TermKind::Slot) return ConstantText(Word(term.word));
  Value* value = SlotValue(term.slot);
  Value* size = SizeOf(value);
  Value* readable = b_.CreateAnd(
      IsPresent(term.slot), b_.CreateICmpULE(size, b_.getInt64(limits::RequestStringBytesMax)));
  return {Load(ptr_, value), size, MissingUnless(readable, term.slot)};
}

Items Emitter::ItemsOf(const ShapeTerm& term) {
  Items items;
  if (term.kind != TermKind::Slot) {
    items.word = Word(term.word);
    items.count = High(items.word);
    items.sorted = term.kind == TermKind::TextSet || term.kind == TermKind::IntegerSet;
    return items;
  }
  Value* value = SlotValue(term.slot);
  items.values = Load(ptr_, value);
  items.count = SizeOf(value);
  Value* readable = b_.CreateAnd(
      IsPresent(term.slot), b_.CreateICmpULE(items.count, b_.getInt64(limits::SetElementsMax)));
  items.missing = MissingUnless(readable, term.slot);
  return items;
}

// Where element `i` lies as a Value. What is the module's is put into one.
Value* Emitter::ElementOf(const Items& items, const ShapeTerm& term, Value* i) {
  if (items.values != nullptr) {
    return b_.CreateInBoundsGEP(i8_, items.values, b_.CreateMul(i, b_.getInt64(kValueBytes)));
  }
  llvm::IRBuilder<> at_entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  Value* place = at_entry.CreateAlloca(llvm::ArrayType::get(i64_, 2));
  Value* index = b_.CreateAdd(Low(items.word), i);
  if (term.value == ValueClass::IntegerItems) {
    b_.CreateStore(Load(i64_, b_.CreateInBoundsGEP(i64_, Field(Service::Integers), index)), place);
    return place;
  }
  Value* text =
      b_.CreateZExt(Load(i32_, b_.CreateInBoundsGEP(i32_, Field(Service::TextItems), index)), i64_);
  // A NameRef is a RangeWord: offset, then size.
  const Text bytes =
      ConstantText(Load(i64_, b_.CreateInBoundsGEP(i64_, Field(Service::Texts), text)));
  b_.CreateStore(bytes.data, place);
  b_.CreateStore(b_.CreateTrunc(bytes.size, i32_), At(place, kSizeAt));
  return place;
}

// ---- Conditions ---------------------------------------------------------------------------------

Value* Emitter::Not(Value* code) {
  return b_.CreateSelect(b_.CreateICmpULE(code, Code(native::CodeTrue)),
                         b_.CreateXor(code, Code(1)), code);
}

// False decides an `and`, true an `or`; without a deciding part the first unknown one is the
// answer.
Value* Emitter::Junction(const ShapeNode& node) {
  const bool is_and = node.form == Form::And;
  Value* neutral = Code(is_and ? native::CodeTrue : native::CodeFalse);
  Value* deciding = Code(is_and ? native::CodeFalse : native::CodeTrue);
  BasicBlock* done = Block("done");
  std::vector<BasicBlock*> decided;
  Value* all = neutral;
  for (const ShapeNode& part : node.parts) {
    Value* code = part.form == Form::Run ? Run(part, is_and) : Condition(part);
    decided.push_back(b_.GetInsertBlock());
    BasicBlock* next = Block("next");
    b_.CreateCondBr(b_.CreateICmpEQ(code, deciding), done, next);
    b_.SetInsertPoint(next);
    all = b_.CreateSelect(b_.CreateICmpEQ(all, neutral), code, all);
  }
  BasicBlock* end = b_.GetInsertBlock();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  llvm::PHINode* answer = b_.CreatePHI(i32_, static_cast<unsigned int>(decided.size()) + 1);
  for (BasicBlock* from : decided) answer->addIncoming(deciding, from);
  answer->addIncoming(all, end);
  return answer;
}

Value* Emitter::Loop(Value* count, bool is_and, const std::function<Value*(Value* i)>& body) {
  Value* neutral = Code(is_and ? native::CodeTrue : native::CodeFalse);
  Value* deciding = Code(is_and ? native::CodeFalse : native::CodeTrue);
  BasicBlock* before = b_.GetInsertBlock();
  BasicBlock* head = Block("head");
  BasicBlock* each = Block("each");
  BasicBlock* next = Block("next");
  BasicBlock* done = Block("done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* i = b_.CreatePHI(i64_, 2);
  llvm::PHINode* all = b_.CreatePHI(i32_, 2);
  i->addIncoming(b_.getInt64(0), before);
  all->addIncoming(neutral, before);
  b_.CreateCondBr(b_.CreateICmpULT(i, count), each, done);
  b_.SetInsertPoint(each);
  Value* code = body(i);
  BasicBlock* after = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateICmpEQ(code, deciding), done, next);
  b_.SetInsertPoint(next);
  all->addIncoming(b_.CreateSelect(b_.CreateICmpEQ(all, neutral), code, all), next);
  i->addIncoming(b_.CreateAdd(i, b_.getInt64(1)), next);
  b_.CreateBr(head);
  b_.SetInsertPoint(done);
  llvm::PHINode* answer = b_.CreatePHI(i32_, 2);
  answer->addIncoming(all, head);
  answer->addIncoming(deciding, after);
  return answer;
}

Value* Emitter::Run(const ShapeNode& node, bool is_and) {
  Value* word = Word(node.word);
  Value* first = b_.CreateInBoundsGEP(i64_, Field(Service::Words), Low(word));
  llvm::Function* one = module_.getFunction(FunctionOf(node.shape));
  Value* stride = b_.getInt64(shaped_.shapes[node.shape].words);
  return Loop(High(word), is_and, [&](Value* i) -> Value* {
    Value* words = b_.CreateInBoundsGEP(i64_, first, b_.CreateMul(i, stride));
    return b_.CreateCall(one, {facts_, words, services_});
  });
}

// An `any` is the or of its elements, an `all` their and, a `none` the not of the or.
Value* Emitter::Quantifier(const ShapeNode& node) {
  const Items items = ItemsOf(node.terms.front());
  return IfReadable(items.missing, [&] {
    Value* answer = Loop(items.count, node.form == Form::AllOf, [&](Value* i) {
      element_ = ElementOf(items, node.terms.front(), i);
      return Condition(node.parts.front());
    });
    element_ = nullptr;
    return node.form == Form::NoneOf ? Not(answer) : answer;
  });
}

Value* Emitter::Has(schema::Slot slot) {
  return b_.CreateSelect(Bit(kKnownAt, slot), Known(IsPresent(slot)), Code(UnknownOf(slot)));
}

Value* Emitter::SameText(const Text& a, const Text& b) {
  return AndThen(b_.CreateICmpEQ(a.size, b.size),
                 [&] { return Yes(Call(Service::EqualBytes, {a.data, b.data, a.size})); });
}

llvm::CmpInst::Predicate PredicateOf(NodeOp op) {
  using llvm::CmpInst;
  if (op == NodeOp::Equal) return CmpInst::ICMP_EQ;
  if (op == NodeOp::NotEqual) return CmpInst::ICMP_NE;
  if (op == NodeOp::Less) return CmpInst::ICMP_SLT;
  if (op == NodeOp::LessEqual) return CmpInst::ICMP_SLE;
  if (op == NodeOp::Greater) return CmpInst::ICMP_SGT;
  CURFEW_CHECK(op == NodeOp::GreaterEqual, "only comparisons come here");
  return CmpInst::ICMP_SGE;
}

Value* Emitter::Comparison(const ShapeNode& node) {
  const auto predicate = PredicateOf(node.op);
  if (!IsText(node.terms[0])) {
    Integer a = IntegerOf(node.terms[0]);
    Integer b = IntegerOf(node.terms[1]);
    if (a.value->getType() != b.value->getType()) {
      a.value = b_.CreateSExt(a.value, b_.getInt128Ty());
      b.value = b_.CreateSExt(b.value, b_.getInt128Ty());
    }
    return IfReadable(FirstMissing(a.missing, b.missing),
                      [&] { return Known(b_.CreateICmp(predicate, a.value, b.value)); });
  }
  const Text a = TextOf(node.terms[0]);
  const Text b = TextOf(node.terms[1]);
  return IfReadable(FirstMissing(a.missing, b.missing), [&] {
    if (node.op == NodeOp::Equal) return Known(SameText(a, b));
    if (node.op == NodeOp::NotEqual) return Known(b_.CreateNot(SameText(a, b)));
    Value* order = Call(Service::CompareTexts, {a.data, a.size, b.data, b.size});
    return Known(b_.CreateICmp(predicate, order, Code(0)));
  });
}

Value* Emitter::InFew(const ShapeNode& node) {
  const ShapeTerm& term = node.terms.front();
  const Text text = IsText(term) ? TextOf(term) : Text{};
  const Integer integer = IsText(term) ? Integer{} : IntegerOf(term);
  return IfReadable(IsText(term) ? text.missing : integer.missing, [&] {
    Value* is_none = b_.getTrue();
    for (std::uint32_t i = 0; i < node.mode; ++i) {
      is_none = AndThen(is_none, [&] {
        Value* word = Word(node.word + i);
        if (IsText(term)) return b_.CreateNot(SameText(text, ConstantText(word)));
        return b_.CreateICmpNE(integer.value, b_.CreateSExt(word, integer.value->getType()));
      });
    }
    return Known(b_.CreateNot(is_none));
  });
}

Value* Emitter::In(const ShapeNode& node) {
  const ShapeTerm& term = node.terms[0];
  const Items items = ItemsOf(node.terms[1]);
  Value* sorted = Code(items.sorted ? 1 : 0);
  if (IsText(term)) {
    const Text text = TextOf(term);
    return IfReadable(FirstMissing(items.missing, text.missing), [&] {
      return items.values != nullptr
                 ? Call(Service::TextInValues, {items.values, items.count, text.data, text.size})
                 : Call(Service::TextInItems,
                        {services_, items.word, sorted, text.data, text.size});
    });
  }
  const Integer integer = IntegerOf(term);
  return IfReadable(FirstMissing(items.missing, integer.missing), [&] {
    // A sum that is no 64-bit number is in no set of them.
    Value* narrow = b_.CreateTrunc(integer.value, i64_);
    Value* fits = b_.CreateICmpEQ(b_.CreateSExt(narrow, integer.value->getType()), integer.value);
    return Known(AndThen(fits, [&] {
      return Yes(items.values != nullptr
                     ? Call(Service::IntegerInValues, {items.values, items.count, narrow})
                     : Call(Service::IntegerInItems, {services_, items.word, sorted, narrow}));
    }));
  });
}

// ---- Patterns -----------------------------------------------------------------------------------

// A host that is at least one byte and a dot longer than the name, and ends in both.
Value* Emitter::EndsIn(const Text& text, const Text& name) {
  Value* least = b_.CreateAdd(name.size, b_.getInt64(2));
  return AndThen(b_.CreateICmpUGE(text.size, least), [&] {
    Value* begin = b_.CreateSub(text.size, name.size);
    Value* dot = b_.CreateInBoundsGEP(i8_, text.data, b_.CreateSub(begin, b_.getInt64(1)));
    return AndThen(b_.CreateICmpEQ(Load(i8_, dot), b_.getInt8('.')), [&] {
      Value* rest = b_.CreateInBoundsGEP(i8_, text.data, begin);
      return Yes(Call(Service::EqualBytes, {rest, name.data, name.size}));
    });
  });
}

Value* Emitter::Host(const ShapeNode& node) {
  const Text text = TextOf(node.terms.front());
  return IfReadable(text.missing, [&] {
    const Text name = ConstantText(Word(node.word));
    const bool is_exact = node.mode == static_cast<std::uint32_t>(values::HostReach::Exact);
    return Known(is_exact ? SameText(text, name) : EndsIn(text, name));
  });
}

// The literal itself, or what begins with it and a slash. An empty one is above every path.
Value* Emitter::LiesBelow(const Text& path, const Text& literal) {
  return AndThen(b_.CreateICmpUGE(path.size, literal.size), [&] {
    Value* begins = Yes(Call(Service::EqualBytes, {path.data, literal.data, literal.size}));
    return AndThen(begins, [&] {
      Value* is_itself = b_.CreateICmpEQ(path.size, literal.size);
      Value* is_below = AndThen(b_.CreateNot(is_itself), [&] {
        Value* slash = b_.CreateInBoundsGEP(i8_, path.data, literal.size);
        return b_.CreateICmpEQ(Load(i8_, slash), b_.getInt8('/'));
      });
      Value* is_some = b_.CreateICmpNE(literal.size, b_.getInt64(0));
      return b_.CreateOr(is_below, b_.CreateAnd(is_itself, is_some));
    });
  });
}

Value* Emitter::Path(const ShapeNode& node) {
  const Text path = TextOf(node.terms.front());
  return IfReadable(path.missing, [&] {
    const Text literal = ConstantText(Word(node.word));
    return Known(node.form == Form::PathEqual ? SameText(path, literal) : LiesBelow(path, literal));
  });
}

Value* Emitter::Patterns(const ShapeNode& node, Service service) {
  const Text text = TextOf(node.terms.front());
  return IfReadable(text.missing, [&] {
    return Call(service, {services_, Word(node.word), text.data, text.size});
  });
}

// No address has another size than 16 bytes; what is none cannot be judged.
Value* Emitter::Address(const ShapeNode& node) {
  constexpr std::uint64_t kAddressBytes = 16;
  const ShapeTerm& term = node.terms.front();
  const Text address = TextOf(term);
  Value* is_address = b_.CreateICmpEQ(address.size, b_.getInt64(kAddressBytes));
  Value* missing = FirstMissing(address.missing, MissingUnless(is_address, term.slot));
  return IfReadable(missing, [&] {
    return Call(Service::AddressIn, {services_, Word(node.word), address.data});
  });
}

Value* Emitter::Condition(const ShapeNode& node) {
  switch (node.form) {
    case Form::Constant:
      return Code(node.mode);
    case Form::Not:
      return Not(Condition(node.parts.front()));
    case Form::And:
    case Form::Or:
      return Junction(node);
    case Form::AnyOf:
    case Form::AllOf:
    case Form::NoneOf:
      return Quantifier(node);
    case Form::Has:
      return Has(node.terms.front().slot);
    case Form::Compare:
      return Comparison(node);
    case Form::InFew:
      return InFew(node);
    case Form::In:
      return In(node);
    case Form::HostOne:
      return Host(node);
    case Form::PathEqual:
    case Form::PathBelow:
      return Path(node);
    case Form::HostIn:
      return Patterns(node, Service::HostIn);
    case Form::PathEndsIn:
      return Patterns(node, Service::PathEndsIn);
    case Form::PathIn:
      return Patterns(node, Service::PathIn);
    case Form::TextMatches:
      return Patterns(node, Service::TextMatches);
    case Form::AddressIn:
      return Address(node);
    case Form::Judge: {
      Value* element =
          element_ != nullptr ? element_ : llvm::ConstantPointerNull::get(b_.getPtrTy());
      return Call(Service::Judge, {services_, facts_, Word(node.word), element});
    }
    case Form::Run:
      break;
  }
  CURFEW_UNREACHABLE("a run is part of a junction");
}

}  // namespace

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
