#include "compiler/base/check.h"
#include "compiler/codegen/emit.h"
#include "compiler/codegen/emitter.h"

#include <algorithm>

namespace curfew::codegen {

using module::NodeOp;

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
  Value* answer = Loop(items.count, node.form == Form::AllOf, [&](Value* i) {
    element_ = ElementOf(items, node.terms.front(), i);
    return Condition(node.parts.front());
  });
  element_ = nullptr;
  return node.form == Form::NoneOf ? Not(answer) : answer;
}

Value* Emitter::Has(schema::Slot slot) {
  return Known(present_.test(slot) ? b_.getTrue() : Bit(kPresentAt, slot));
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
    Value* a = IntegerOf(node.terms[0]);
    Value* b = IntegerOf(node.terms[1]);
    if (a->getType() != b->getType()) {
      a = b_.CreateSExt(a, b_.getInt128Ty());
      b = b_.CreateSExt(b, b_.getInt128Ty());
    }
    return Known(b_.CreateICmp(predicate, a, b));
  }
  const Text a = TextOf(node.terms[0]);
  const Text b = TextOf(node.terms[1]);
  if (node.op == NodeOp::Equal) return Known(SameText(a, b));
  if (node.op == NodeOp::NotEqual) return Known(b_.CreateNot(SameText(a, b)));
  Value* order = Call(Service::CompareTexts, {a.data, a.size, b.data, b.size});
  return Known(b_.CreateICmp(predicate, order, Code(0)));
}

Value* Emitter::InFew(const ShapeNode& node) {
  const ShapeTerm& term = node.terms.front();
  const Text text = IsText(term) ? TextOf(term) : Text{};
  Value* integer = IsText(term) ? nullptr : IntegerOf(term);
  Value* is_none = b_.getTrue();
  for (std::uint32_t i = 0; i < node.mode; ++i) {
    is_none = AndThen(is_none, [&] {
      Value* word = Word(node.word + i);
      if (IsText(term)) return b_.CreateNot(SameText(text, ConstantText(word)));
      return b_.CreateICmpNE(integer, b_.CreateSExt(word, integer->getType()));
    });
  }
  return Known(b_.CreateNot(is_none));
}

// Each constant is one word (native::PackShortText), and so is the fact.
Value* Emitter::InFewShort(const ShapeNode& node) {
  const Text text = TextOf(node.terms.front());
  Value* packed = Call(Service::PackShort, {text.data, text.size}, i64_);
  Value* is_some = b_.getFalse();
  for (std::uint32_t i = 0; i < node.mode; ++i) {
    is_some = b_.CreateOr(is_some, b_.CreateICmpEQ(packed, Word(node.word + i)));
  }
  return Known(is_some);
}

Value* Emitter::In(const ShapeNode& node) {
  const ShapeTerm& term = node.terms[0];
  const Items items = ItemsOf(node.terms[1]);
  Value* sorted = Code(items.sorted ? 1 : 0);
  if (IsText(term)) {
    const Text text = TextOf(term);
    return items.values != nullptr
               ? Call(Service::TextInValues, {items.values, items.count, text.data, text.size})
               : Call(Service::TextInItems, {services_, items.word, sorted, text.data, text.size});
  }
  Value* integer = IntegerOf(term);
  // A sum that is no 64-bit number is in no set of them.
  Value* narrow = b_.CreateTrunc(integer, i64_);
  Value* fits = b_.CreateICmpEQ(b_.CreateSExt(narrow, integer->getType()), integer);
  return Known(AndThen(fits, [&] {
    return Yes(items.values != nullptr
                   ? Call(Service::IntegerInValues, {items.values, items.count, narrow})
                   : Call(Service::IntegerInItems, {services_, items.word, sorted, narrow}));
  }));
}

bool Emitter::IsTwoValued(const ShapeNode& node) {
  if (node.form == Form::Judge || node.form == Form::Run) return false;
  return std::ranges::all_of(node.parts, IsTwoValued);
}

Value* Emitter::HoldsJunction(const ShapeNode& node) {
  const bool is_and = node.form == Form::And;
  Value* all = is_and ? b_.getTrue() : b_.getFalse();
  for (const ShapeNode& part : node.parts) {
    all = is_and
              ? AndThen(all, [&] { return Holds(part); })
              : b_.CreateNot(AndThen(b_.CreateNot(all), [&] { return b_.CreateNot(Holds(part)); }));
  }
  return all;
}

Value* Emitter::Holds(const ShapeNode& node) {
  if (node.form == Form::Not) return b_.CreateNot(Holds(node.parts.front()));
  if (node.form == Form::And || node.form == Form::Or) return HoldsJunction(node);
  return Yes(Leaf(node));
}

Value* Emitter::Condition(const ShapeNode& node) {
  if (IsTwoValued(node)) return Known(Holds(node));
  if (node.form == Form::Not) return Not(Condition(node.parts.front()));
  if (node.form == Form::And || node.form == Form::Or) return Junction(node);
  return Leaf(node);
}

Value* Emitter::Leaf(const ShapeNode& node) {
  switch (node.form) {
    case Form::Constant:
      return Code(node.mode);
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
    case Form::InFewShort:
      return InFewShort(node);
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
    case Form::TextContains:
      return Patterns(node, Service::TextContains);
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
    case Form::Not:
    case Form::And:
    case Form::Or:
    case Form::Run:
      break;
  }
  CURFEW_UNREACHABLE("no leaf");
}

}  // namespace curfew::codegen
