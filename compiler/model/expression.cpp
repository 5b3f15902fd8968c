#include "compiler/model/expression.h"

#include "compiler/base/check.h"

namespace curfew::model {

std::string_view NameOf(ExprKind kind) {
  switch (kind) {
    case ExprKind::Constant:
      return "constant";
    case ExprKind::Attribute:
      return "attribute";
    case ExprKind::Variable:
      return "variable";
    case ExprKind::Has:
      return "has";
    case ExprKind::Not:
      return "not";
    case ExprKind::And:
      return "and";
    case ExprKind::Or:
      return "or";
    case ExprKind::Equal:
      return "==";
    case ExprKind::NotEqual:
      return "!=";
    case ExprKind::Less:
      return "<";
    case ExprKind::LessEqual:
      return "<=";
    case ExprKind::Greater:
      return ">";
    case ExprKind::GreaterEqual:
      return ">=";
    case ExprKind::In:
      return "in";
    case ExprKind::Matches:
      return "matches";
    case ExprKind::Starts:
      return "starts";
    case ExprKind::SubsetOf:
      return "subset of";
    case ExprKind::Intersects:
      return "intersects";
    case ExprKind::Count:
      return "count";
    case ExprKind::Plus:
      return "+";
    case ExprKind::Minus:
      return "-";
    case ExprKind::AnyOf:
      return "any";
    case ExprKind::AllOf:
      return "all";
    case ExprKind::NoneOf:
      return "none";
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

ExprId Expressions::Add(ExprKind kind, const Type& type, Span span, std::span<const ExprId> of,
                        std::uint32_t leaf) {
  Expr expr;
  expr.kind = kind;
  expr.type = type;
  expr.first_operand = static_cast<std::uint32_t>(operands.size());
  expr.operand_count = static_cast<std::uint32_t>(of.size());
  expr.leaf = leaf;
  expr.span = span;
  operands.insert(operands.end(), of.begin(), of.end());
  nodes.push_back(expr);
  return ExprId{static_cast<std::uint32_t>(nodes.size() - 1)};
}

schema::Slot SlotOf(const AttributeUse& attribute, schema::Action action) {
  if (attribute.declared) return schema::DeclaredSlot(action, attribute.declared_index);
  const schema::Attribute* found = schema::FindAttribute(action, attribute.path);
  CURFEW_CHECK(found != nullptr, "a rule reads only what each of its actions carries");
  return found->slot;
}

}  // namespace curfew::model
