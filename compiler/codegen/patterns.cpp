#include "compiler/codegen/emitter.h"
#include "compiler/values/host.h"

namespace curfew::codegen {

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
  const Text name = ConstantText(Word(node.word));
  const bool is_exact = node.mode == static_cast<std::uint32_t>(values::HostReach::Exact);
  return Known(is_exact ? SameText(text, name) : EndsIn(text, name));
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
  const Text literal = ConstantText(Word(node.word));
  return Known(node.form == Form::PathEqual ? SameText(path, literal) : LiesBelow(path, literal));
}

Value* Emitter::Patterns(const ShapeNode& node, Service service) {
  const Text text = TextOf(node.terms.front());
  return Call(service, {services_, Word(node.word), text.data, text.size});
}

// Most addresses are of IPv4 and near none of the blocks: those are told by the bit of their first
// byte, without a call.
Value* Emitter::Address(const ShapeNode& node) {
  const Text address = TextOf(node.terms.front());
  Value* blocks = Word(node.word);
  // RFC 4291, 2.5.5.2, as it lies in memory.
  constexpr std::uint32_t kMapped = 0xffff0000;
  Value* is_mapped =
      b_.CreateAnd(b_.CreateICmpEQ(Load(i64_, address.data), b_.getInt64(0)),
                   b_.CreateICmpEQ(Load(i32_, At(address.data, 8)), b_.getInt32(kMapped)));
  Value* byte = b_.CreateZExt(Load(i8_, At(address.data, 12)), i64_);
  Value* bits = b_.CreateInBoundsGEP(
      i64_, Field(Service::Words),
      b_.CreateAdd(b_.CreateSub(Low(blocks), b_.getInt64(native::FirstByteWords)),
                   b_.CreateLShr(byte, 6)));
  Value* bit = b_.CreateLShr(Load(i64_, bits), b_.CreateAnd(byte, 63));
  Value* is_near = b_.CreateICmpNE(b_.CreateAnd(bit, 1), b_.getInt64(0));
  Value* is_far = b_.CreateAnd(is_mapped, b_.CreateNot(is_near));
  return Known(AndThen(b_.CreateNot(is_far), [&] {
    return Yes(Call(Service::AddressIn, {services_, blocks, address.data}));
  }));
}

}  // namespace curfew::codegen
