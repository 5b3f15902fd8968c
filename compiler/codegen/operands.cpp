#include "compiler/base/check.h"
#include "compiler/base/limits.h"
#include "compiler/codegen/emitter.h"

namespace curfew::codegen {

using module::TermKind;
using module::ValueClass;

// ---- What is there ------------------------------------------------------------------------------

namespace {

using Slots = FactsRead::Slots;

// `asked`: seen to be there before the code comes here.
void AddFacts(const ShapeTerm& term, const Slots& asked, FactsRead& read) {
  if (term.kind == TermKind::Slot) {
    (asked.test(term.slot) ? read.known : read.present).set(term.slot);
    if (term.value == ValueClass::Text) read.texts.set(term.slot);
    const bool is_items =
        term.value == ValueClass::TextItems || term.value == ValueClass::IntegerItems;
    if (is_items) read.items.set(term.slot);
  }
  for (const ShapeTerm& part : term.parts) AddFacts(part, asked, read);
}

// The part that, where the junction goes on behind it, has seen a fact to be there.
const ShapeNode* AskingPart(const ShapeNode& junction, const ShapeNode& part) {
  if (junction.form == Form::And && part.form == Form::Has) return &part;
  if (junction.form != Form::Or || part.form != Form::Not) return nullptr;
  return part.parts.front().form == Form::Has ? &part.parts.front() : nullptr;
}

void AddFacts(const ShapeNode& node, Slots asked, FactsRead& read) {
  if (node.form == Form::Has) {
    read.known.set(node.terms.front().slot);
    return;
  }
  for (const ShapeTerm& term : node.terms) AddFacts(term, asked, read);
  if (node.form == Form::AddressIn) {
    const schema::Slot slot = node.terms.front().slot;
    if (asked.test(slot)) {
      read.present.set(slot);  // its size is looked at before that
      read.known.reset(slot);
    }
    read.addresses.set(slot);
  }
  for (const ShapeNode& part : node.parts) {
    AddFacts(part, asked, read);
    const ShapeNode* asking = AskingPart(node, part);
    if (asking != nullptr) asked.set(asking->terms.front().slot);
  }
}

}  // namespace

FactsRead FactsReadBy(const ShapeNode& node) {
  FactsRead read;
  AddFacts(node, {}, read);
  return read;
}

Value* Emitter::AllThere(const FactsRead& read) {
  Value* odd = b_.getInt64(0);
  const auto add = [&](Value* bits) { odd = b_.CreateOr(odd, bits); };
  const auto add_missing = [&](const Slots& slots, std::uint64_t bits_at) {
    for (std::size_t word = 0; word < module::Facts::Bits().size(); ++word) {
      std::uint64_t needed = 0;
      for (std::size_t bit = 0; bit < 64; ++bit) {
        if (slots.test(64 * word + bit)) needed |= std::uint64_t{1} << bit;
      }
      if (needed == 0) continue;
      Value* there = Load(i64_, At(facts_, bits_at + 8 * word));
      add(b_.CreateAnd(b_.CreateNot(there), needed));
    }
  };
  add_missing(read.present, kPresentAt);
  add_missing(read.known & ~read.present, kKnownAt);
  Value* longest = b_.getInt64(0);
  Value* most = b_.getInt64(0);
  for (schema::Slot slot = 0; slot < limits::AttributesPerActionMax; ++slot) {
    // None is longer than all of their bits together. What is absent has no size.
    if (read.texts.test(slot)) longest = b_.CreateOr(longest, SizeOf(SlotValue(slot)));
    if (read.items.test(slot)) most = b_.CreateOr(most, SizeOf(SlotValue(slot)));
    if (read.addresses.test(slot)) {
      add(b_.CreateXor(SizeOf(SlotValue(slot)), b_.getInt64(kAddressBytes)));
    }
  }
  Value* none_odd = b_.CreateICmpEQ(odd, b_.getInt64(0));
  Value* fits = b_.CreateAnd(b_.CreateICmpULE(longest, b_.getInt64(limits::RequestStringBytesMax)),
                             b_.CreateICmpULE(most, b_.getInt64(limits::SetElementsMax)));
  return b_.CreateAnd(none_odd, fits);
}

// ---- Operands -----------------------------------------------------------------------------------

Value* Emitter::Bit(std::uint64_t bits_at, schema::Slot slot) {
  Value* bits = Load(i64_, At(facts_, bits_at + std::uint64_t{8} * (slot / 64)));
  return b_.CreateICmpNE(b_.CreateAnd(bits, std::uint64_t{1} << (slot % 64)), b_.getInt64(0));
}

Value* Emitter::IntegerOf(const ShapeTerm& term) {
  switch (term.kind) {
    case TermKind::Slot:
      return Load(i64_, SlotValue(term.slot));
    case TermKind::Element:
      return LoadElement(i64_, 0);
    case TermKind::Count:
      return ItemsOf(term.parts.front()).count;
    case TermKind::Sum: {
      Value* sum = llvm::ConstantInt::get(b_.getInt128Ty(), 0);
      for (std::size_t i = 0; i < term.parts.size(); ++i) {
        Value* wide = b_.CreateSExt(IntegerOf(term.parts[i]), b_.getInt128Ty());
        sum = term.signs[i] < 0 ? b_.CreateSub(sum, wide) : b_.CreateAdd(sum, wide);
      }
      return sum;
    }
    case TermKind::Integer:
    case TermKind::Text:
    case TermKind::TextSet:
    case TermKind::TextList:
    case TermKind::IntegerSet:
    case TermKind::IntegerList:
      return Word(term.word);
  }
  CURFEW_UNREACHABLE("the verifier let no other kind in");
}

Text Emitter::ConstantText(Value* word) {
  return {b_.CreateInBoundsGEP(i8_, Field(Service::Data), Low(word)), High(word)};
}

Text Emitter::TextOf(const ShapeTerm& term) {
  if (term.kind == TermKind::Element) {
    return {LoadElement(ptr_, 0), b_.CreateZExt(LoadElement(i32_, kSizeAt), i64_)};
  }
  if (term.kind != TermKind::Slot) return ConstantText(Word(term.word));
  Value* value = SlotValue(term.slot);
  return {Load(ptr_, value), SizeOf(value)};
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

}  // namespace curfew::codegen
