#include "compiler/base/check.h"
#include "compiler/lower/lowering.h"

#include <algorithm>
#include <span>
#include <variant>
#include <vector>

namespace curfew::lower {
namespace {

using model::Constant;
using model::Expr;
using model::ExprId;
using model::ExprKind;
using model::Scalar;
using schema::Collection;
using schema::TypeKind;

// A value as the bytes that a request carries it in.
std::string BytesOf(const Scalar& scalar) {
  if (const auto* text = std::get_if<std::string>(&scalar)) return *text;
  if (const auto* digest = std::get_if<Digest>(&scalar)) return std::string(AsText(digest->bytes));
  if (const auto* address = std::get_if<values::Address>(&scalar)) {
    return std::string(AsText(address->bytes));
  }
  const auto* block = std::get_if<values::Cidr>(&scalar);
  CURFEW_CHECK(block != nullptr, "an integer is no text");
  std::string bytes(AsText(block->base.bytes));
  bytes.push_back(static_cast<char>(block->prefix));
  return bytes;
}

module::BlockOfAddresses BlockOf(const values::Cidr& cidr) {
  module::BlockOfAddresses block;
  std::ranges::copy(cidr.base.bytes, block.base);
  block.prefix = cidr.prefix;
  return block;
}

class ExpressionLowering {
 public:
  ExpressionLowering(Lowering& lowering, Action action)
      : expressions_(lowering.model.expressions), b_(lowering.builder), action_(action) {}

  NodeId Condition(ExprId id);

 private:
  [[nodiscard]] const Expr& At(ExprId id) const { return expressions_.at(id); }
  [[nodiscard]] ExprId Operand(ExprId id, std::size_t n) const {
    return expressions_.OperandsOf(id)[n];
  }
  [[nodiscard]] Slot SlotOf(ExprId id) const {
    return model::SlotOf(expressions_.AttributeOf(id), action_);
  }

  TermId Term(ExprId id);
  TermId ConstantTerm(const Constant& constant);
  TermId Sum(ExprId id);
  void Addends(ExprId id, std::int32_t sign, std::vector<module::AddendRecord>& addends);
  std::vector<NodeId> Conditions(ExprId id);
  NodeId Comparison(ExprId id, NodeOp op);
  NodeId Equality(ExprId id, bool is_equal);
  NodeId Membership(ExprId id);
  NodeId Match(ExprId id);
  // Whether the expression is a value that stands in a request or in the policy, no condition.
  [[nodiscard]] bool IsLeaf(ExprId id) const {
    const ExprKind kind = At(id).kind;
    return kind == ExprKind::Constant || kind == ExprKind::Attribute || kind == ExprKind::Variable;
  }

  const model::Expressions& expressions_;
  ir::Builder& b_;
  Action action_;
};

TermId ExpressionLowering::ConstantTerm(const Constant& constant) {
  const ValueClass value = module::ClassOf(constant.type.kind, constant.type.collection);
  if (const auto* one = std::get_if<Scalar>(&constant.value)) {
    return value == ValueClass::Integer ? b_.IntegerTerm(std::get<std::int64_t>(*one))
                                        : b_.TextTerm(BytesOf(*one));
  }
  const bool is_list = constant.type.collection == Collection::List;
  const auto& elements = std::get<std::vector<Scalar>>(constant.value);
  if (value == ValueClass::IntegerItems) {
    std::vector<std::int64_t> integers;
    for (const Scalar& element : elements) integers.push_back(std::get<std::int64_t>(element));
    return is_list ? b_.IntegerListTerm(integers) : b_.IntegerSetTerm(integers);
  }
  std::vector<std::string> texts;
  for (const Scalar& element : elements) texts.push_back(BytesOf(element));
  return is_list ? b_.TextListTerm(texts) : b_.TextSetTerm(texts);
}

void ExpressionLowering::Addends(ExprId id, std::int32_t sign,
                                 std::vector<module::AddendRecord>& addends) {
  const ExprKind kind = At(id).kind;
  if (kind != ExprKind::Plus && kind != ExprKind::Minus) {
    addends.push_back({sign, Term(id)});
    return;
  }
  Addends(Operand(id, 0), sign, addends);
  Addends(Operand(id, 1), kind == ExprKind::Minus ? -sign : sign, addends);
}

TermId ExpressionLowering::Sum(ExprId id) {
  std::vector<module::AddendRecord> addends;
  Addends(id, 1, addends);
  return b_.SumTerm(addends);
}

TermId ExpressionLowering::Term(ExprId id) {
  const Expr& expr = At(id);
  switch (expr.kind) {
    case ExprKind::Constant:
      return ConstantTerm(expressions_.ConstantOf(id));
    case ExprKind::Attribute:
      return b_.SlotTerm(SlotOf(id), module::ClassOf(expr.type.kind, expr.type.collection));
    case ExprKind::Variable:
      return b_.ElementTerm(module::ClassOf(expr.type.kind, Collection::One));
    case ExprKind::Count:
      return b_.CountTerm(Term(Operand(id, 0)));
    case ExprKind::Plus:
    case ExprKind::Minus:
      return Sum(id);
    case ExprKind::Has:
    case ExprKind::Not:
    case ExprKind::And:
    case ExprKind::Or:
    case ExprKind::Equal:
    case ExprKind::NotEqual:
    case ExprKind::Less:
    case ExprKind::LessEqual:
    case ExprKind::Greater:
    case ExprKind::GreaterEqual:
    case ExprKind::In:
    case ExprKind::Matches:
    case ExprKind::Starts:
    case ExprKind::SubsetOf:
    case ExprKind::Intersects:
    case ExprKind::AnyOf:
    case ExprKind::AllOf:
    case ExprKind::NoneOf:
      break;
  }
  CURFEW_UNREACHABLE("a condition is no term; Equality takes conditions apart");
}

std::vector<NodeId> ExpressionLowering::Conditions(ExprId id) {
  std::vector<NodeId> nodes;
  for (const ExprId operand : expressions_.OperandsOf(id)) nodes.push_back(Condition(operand));
  return nodes;
}

NodeId ExpressionLowering::Comparison(ExprId id, NodeOp op) {
  return b_.Compare(op, Term(Operand(id, 0)), Term(Operand(id, 1)));
}

NodeId ExpressionLowering::Equality(ExprId id, bool is_equal) {
  const ExprId left = Operand(id, 0);
  const ExprId right = Operand(id, 1);
  if (At(left).type.collection != Collection::One) {
    // Sets are equal as sets, whatever order they come in.
    const TermId a = Term(left);
    const TermId b = Term(right);
    const NodeId same =
        At(left).type.collection == Collection::List
            ? b_.Compare(NodeOp::SameItems, a, b)
            : b_.And(b_.Compare(NodeOp::SubsetOf, a, b), b_.Compare(NodeOp::SubsetOf, b, a));
    return is_equal ? same : b_.Not(same);
  }
  if (At(left).type.kind == TypeKind::Bool && (!IsLeaf(left) || !IsLeaf(right))) {
    const NodeId a = Condition(left);
    const NodeId b = Condition(right);
    const NodeId same = b_.Or(b_.And(a, b), b_.And(b_.Not(a), b_.Not(b)));
    return is_equal ? same : b_.Not(same);
  }
  return Comparison(id, is_equal ? NodeOp::Equal : NodeOp::NotEqual);
}

NodeId ExpressionLowering::Membership(ExprId id) {
  const ExprId element = Operand(id, 0);
  const ExprId place = Operand(id, 1);
  const model::Type& type = At(place).type;
  const bool of_blocks = At(element).type.kind == TypeKind::Ip && type.kind == TypeKind::Cidr;
  if (!of_blocks) return b_.Compare(NodeOp::In, Term(element), Term(place));
  if (At(place).kind == ExprKind::Constant) {
    const Constant& constant = expressions_.ConstantOf(place);
    std::vector<module::BlockOfAddresses> blocks;
    if (const auto* one = std::get_if<Scalar>(&constant.value)) {
      blocks.push_back(BlockOf(std::get<values::Cidr>(*one)));
    } else {
      for (const Scalar& block : std::get<std::vector<Scalar>>(constant.value)) {
        blocks.push_back(BlockOf(std::get<values::Cidr>(block)));
      }
    }
    return b_.AddressIn(Term(element), blocks);
  }
  CURFEW_CHECK(type.collection != Collection::One, "no attribute is a single block of addresses");
  return b_.Compare(NodeOp::AddressInItems, Term(element), Term(place));
}

NodeId ExpressionLowering::Match(ExprId id) {
  const TermId text = Term(Operand(id, 0));
  const model::Pattern& pattern = expressions_.PatternOf(id);
  if (const auto* glob = std::get_if<values::TextGlob>(&pattern)) {
    return b_.PatternsIn(NodeOp::TextIn, text, std::array{ir::Pattern{glob->text, 0}});
  }
  if (const auto* host = std::get_if<values::HostPattern>(&pattern)) {
    return b_.PatternsIn(
        NodeOp::HostIn, text,
        std::array{ir::Pattern{host->name, static_cast<std::uint32_t>(host->reach)}});
  }
  const auto& path = std::get<values::PathGlob>(pattern);
  return b_.PatternsIn(
      NodeOp::PathIn, text,
      std::array{ir::Pattern{path.text, static_cast<std::uint32_t>(values::Reading::Exact)}});
}

NodeId ExpressionLowering::Condition(ExprId id) {
  const Expr& expr = At(id);
  switch (expr.kind) {
    case ExprKind::Constant:
    case ExprKind::Attribute:
    case ExprKind::Variable:
      return b_.Compare(NodeOp::Equal, Term(id), b_.IntegerTerm(1));
    case ExprKind::Has:
      return b_.Has(SlotOf(id));
    case ExprKind::Not:
      return b_.Not(Condition(Operand(id, 0)));
    case ExprKind::And:
      return b_.And(Conditions(id));
    case ExprKind::Or:
      return b_.Or(Conditions(id));
    case ExprKind::Equal:
    case ExprKind::NotEqual:
      return Equality(id, expr.kind == ExprKind::Equal);
    case ExprKind::Less:
      return Comparison(id, NodeOp::Less);
    case ExprKind::LessEqual:
      return Comparison(id, NodeOp::LessEqual);
    case ExprKind::Greater:
      return Comparison(id, NodeOp::Greater);
    case ExprKind::GreaterEqual:
      return Comparison(id, NodeOp::GreaterEqual);
    case ExprKind::In:
      return Membership(id);
    case ExprKind::Matches:
      return Match(id);
    case ExprKind::Starts:
      return Comparison(id, NodeOp::Starts);
    case ExprKind::SubsetOf:
      return Comparison(id, NodeOp::SubsetOf);
    case ExprKind::Intersects:
      return Comparison(id, NodeOp::Intersects);
    case ExprKind::AnyOf:
      return b_.Quantify(NodeOp::AnyOf, Term(Operand(id, 0)), Condition(Operand(id, 1)));
    case ExprKind::AllOf:
      return b_.Quantify(NodeOp::AllOf, Term(Operand(id, 0)), Condition(Operand(id, 1)));
    case ExprKind::NoneOf:
      return b_.Quantify(NodeOp::NoneOf, Term(Operand(id, 0)), Condition(Operand(id, 1)));
    case ExprKind::Count:
    case ExprKind::Plus:
    case ExprKind::Minus:
      break;
  }
  CURFEW_UNREACHABLE("a number is no condition");
}

}  // namespace

NodeId LowerCondition(Lowering& lowering, model::ExprId expression, Action action) {
  if (expression == model::NoExpr) return lowering.builder.Constant(true);
  return ExpressionLowering(lowering, action).Condition(expression);
}

}  // namespace curfew::lower
