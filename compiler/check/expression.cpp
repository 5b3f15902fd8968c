#include "compiler/check/expression.h"

#include "compiler/base/check.h"
#include "compiler/base/limits.h"
#include "compiler/check/attributes.h"
#include "compiler/check/literal.h"
#include "compiler/model/print.h"

#include <algorithm>
#include <vector>

namespace curfew::check {

using model::ExprId;
using model::ExprKind;
using model::Type;
using schema::Collection;
using schema::TypeKind;

namespace {

using Syntax = syntax::ExprKind;

constexpr Type kBool{TypeKind::Bool};

bool SameType(const Type& a, const Type& b) {
  return a.kind == b.kind && a.collection == b.collection &&
         (a.kind != TypeKind::Enum || a.enumeration == b.enumeration);
}

Type Required(Type type) {
  type.optional = false;
  return type;
}

Type ElementOf(Type type) {
  type.collection = Collection::One;
  type.optional = false;
  return type;
}

Type SetOf(Type type) {
  type.collection = Collection::Set;
  type.optional = false;
  return type;
}

bool IsMany(const Type& type) { return type.collection != Collection::One; }

// With a stack of its own: a sum may be as long as its file.
bool IsSumOfNumbers(const syntax::Expr& expr) {
  std::vector<const syntax::Expr*> rest = {&expr};
  while (!rest.empty()) {
    const syntax::Expr& top = *rest.back();
    rest.pop_back();
    if (top.kind == Syntax::Quantity) continue;
    if (top.kind != Syntax::Plus && top.kind != Syntax::Minus) return false;
    for (const syntax::Expr& operand : top.operands) rest.push_back(&operand);
  }
  return true;
}

bool MayBeReadByClass(std::string_view path) {
  return path == "now" || path.starts_with("now.") || path.starts_with("caller.") ||
         path.starts_with("task.");
}

}  // namespace

// Counts the way down; past the limit nothing is looked at any more.
class ExpressionChecker::Deeper {
 public:
  Deeper(ExpressionChecker& checker, Span span) : checker_(checker) {
    ++checker_.depth_;
    if (fits() || checker_.too_deep_) return;
    checker_.too_deep_ = true;
    checker_.context_.sink.Report(span, diag::ExpressionTooDeep,
                                  static_cast<std::int64_t>(limits::NestingMax));
  }
  ~Deeper() { --checker_.depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

  [[nodiscard]] bool fits() const { return checker_.depth_ <= limits::NestingMax; }

 private:
  ExpressionChecker& checker_;
};

std::optional<ExprId> ExpressionChecker::Condition(const syntax::Expr& expr) {
  MaybeTyped typed = Boolean(expr);
  if (!typed) {
    // What it would have said of absence is unknown; nothing that follows from that is reported.
    known_.set();
    return std::nullopt;
  }
  known_ |= typed->when_true;
  return typed->id;
}

bool ExpressionChecker::IsBareAttribute(std::string_view name) const {
  return name == "now" && !(variable_ && variable_->name == name);
}

bool ExpressionChecker::IsUntyped(const syntax::Expr& expr) const {
  switch (expr.kind) {
    case Syntax::String:
    case Syntax::Quantity:
    case Syntax::List:
      return true;
    case Syntax::Name:
      return !IsBareAttribute(expr.text) && !(variable_ && variable_->name == expr.text);
    case Syntax::Plus:
    case Syntax::Minus:
      return IsSumOfNumbers(expr);
    case Syntax::Time:
    case Syntax::Digest:
    case Syntax::True:
    case Syntax::False:
    case Syntax::Path:
    case Syntax::Has:
    case Syntax::Count:
    case Syntax::Not:
    case Syntax::And:
    case Syntax::Or:
    case Syntax::Equal:
    case Syntax::NotEqual:
    case Syntax::Less:
    case Syntax::LessEqual:
    case Syntax::Greater:
    case Syntax::GreaterEqual:
    case Syntax::In:
    case Syntax::NotIn:
    case Syntax::Matches:
    case Syntax::Starts:
    case Syntax::SubsetOf:
    case Syntax::Intersects:
    case Syntax::Any:
    case Syntax::All:
    case Syntax::None:
      return false;
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

ExpressionChecker::Typed ExpressionChecker::Node(ExprKind kind, const Type& type, Span span,
                                                 std::initializer_list<ExprId> operands,
                                                 std::uint32_t leaf) {
  return Typed{context_.model.expressions.Add(kind, type, span,
                                              std::span(operands.begin(), operands.size()), leaf),
               type};
}

ExpressionChecker::MaybeTyped ExpressionChecker::Constant(const syntax::Expr& expr,
                                                          const Type& type) {
  auto constant = ReadLiteral(context_, expr, type);
  if (!constant) return std::nullopt;
  auto& constants = context_.model.expressions.constants;
  constants.push_back(*std::move(constant));
  return Node(ExprKind::Constant, Required(type), expr.span, {},
              static_cast<std::uint32_t>(constants.size() - 1));
}

ExpressionChecker::MaybeTyped ExpressionChecker::WrongOperand(const syntax::Expr& expr,
                                                              std::string_view operation,
                                                              std::string_view takes,
                                                              const Type& type) {
  context_.sink.Report(expr.span, diag::WrongOperand, operation, takes,
                       model::Print(context_.model, type));
  return std::nullopt;
}

ExpressionChecker::MaybeTyped ExpressionChecker::Infer(const syntax::Expr& expr) {
  const Deeper deeper(*this, expr.span);
  if (!deeper.fits()) return std::nullopt;
  return InferKind(expr);
}

ExpressionChecker::MaybeTyped ExpressionChecker::InferKind(const syntax::Expr& expr) {
  switch (expr.kind) {
    case Syntax::Name:
      if (!IsUntyped(expr)) return Attribute(expr);
      [[fallthrough]];
    case Syntax::String:
    case Syntax::Quantity:
    case Syntax::List:
      context_.sink.Report(expr.span, diag::NoType);
      return std::nullopt;
    case Syntax::Time:
      return Constant(expr, Type{TypeKind::Time});
    case Syntax::Digest:
      return Constant(expr, Type{TypeKind::Digest});
    case Syntax::True:
    case Syntax::False:
      return Constant(expr, kBool);
    case Syntax::Path:
      return Attribute(expr);
    case Syntax::Has:
      return Has(expr);
    case Syntax::Count:
      return Count(expr);
    case Syntax::Not:
      return Not(expr);
    case Syntax::And:
      return Junction(expr, ExprKind::And);
    case Syntax::Or:
      return Junction(expr, ExprKind::Or);
    case Syntax::Equal:
      return Comparison(expr, ExprKind::Equal);
    case Syntax::NotEqual:
      return Comparison(expr, ExprKind::NotEqual);
    case Syntax::Less:
      return Comparison(expr, ExprKind::Less);
    case Syntax::LessEqual:
      return Comparison(expr, ExprKind::LessEqual);
    case Syntax::Greater:
      return Comparison(expr, ExprKind::Greater);
    case Syntax::GreaterEqual:
      return Comparison(expr, ExprKind::GreaterEqual);
    case Syntax::In:
      return In(expr);
    case Syntax::NotIn: {
      auto in = In(expr);
      if (!in) return std::nullopt;
      return Node(ExprKind::Not, kBool, expr.span, {in->id});
    }
    case Syntax::Matches:
      return Matches(expr);
    case Syntax::Starts:
      return Starts(expr);
    case Syntax::SubsetOf:
      return Sets(expr, ExprKind::SubsetOf);
    case Syntax::Intersects:
      return Sets(expr, ExprKind::Intersects);
    case Syntax::Plus:
      return Sum(expr, ExprKind::Plus);
    case Syntax::Minus:
      return Sum(expr, ExprKind::Minus);
    case Syntax::Any:
      return Quantifier(expr, ExprKind::AnyOf);
    case Syntax::All:
      return Quantifier(expr, ExprKind::AllOf);
    case Syntax::None:
      return Quantifier(expr, ExprKind::NoneOf);
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

ExpressionChecker::MaybeTyped ExpressionChecker::Expect(const syntax::Expr& expr,
                                                        const Type& type) {
  const Deeper deeper(*this, expr.span);
  if (!deeper.fits()) return std::nullopt;
  if (!IsUntyped(expr)) {
    auto typed = InferKind(expr);
    if (!typed || SameType(typed->type, type)) return typed;
    context_.sink.Report(expr.span, diag::TypeMismatch, model::Print(context_.model, typed->type),
                         model::Print(context_.model, Required(type)));
    return std::nullopt;
  }
  if (expr.kind != Syntax::Plus && expr.kind != Syntax::Minus) return Constant(expr, type);
  const bool summed =
      !IsMany(type) && (type.kind == TypeKind::Int || type.kind == TypeKind::Duration ||
                        type.kind == TypeKind::Size);
  if (!summed) {
    context_.sink.Report(expr.span, diag::TypeMismatch, "number",
                         model::Print(context_.model, Required(type)));
    return std::nullopt;
  }
  auto left = Expect(expr.operands[0], type);
  auto right = Expect(expr.operands[1], type);
  if (!left || !right) return std::nullopt;
  return Node(expr.kind == Syntax::Plus ? ExprKind::Plus : ExprKind::Minus, Required(type),
              expr.span, {left->id, right->id});
}

std::optional<ExpressionChecker::Found> ExpressionChecker::Find(std::string_view path, Span span) {
  std::optional<FoundAttribute> found;
  std::string_view missing;
  bool of_many_types = false;
  for (const schema::ActionInfo& info : schema::Actions()) {
    if (!readable_.actions[static_cast<std::size_t>(info.action)]) continue;
    const auto here = FindAttribute(context_.model, info.action, path);
    if (!here || here->origin == schema::Origin::Internal) {
      missing = info.word;
    } else if (found && !(found->type == here->type)) {
      of_many_types = true;
    } else {
      found = here;
    }
  }
  if (found && missing.empty() && of_many_types) {
    context_.sink.Report(span, diag::AttributeOfManyTypes, path);
    return std::nullopt;
  }
  if (found && missing.empty()) {
    if (readable_.of_class_when && !MayBeReadByClass(path)) {
      context_.sink.Report(span, diag::NotReadableHere, path);
      return std::nullopt;
    }
    auto& attributes = context_.model.expressions.attributes;
    const auto [place, fresh] = context_.attribute_uses.try_emplace(
        {std::string(path), found->type.optional}, static_cast<std::uint32_t>(attributes.size()));
    if (fresh) {
      attributes.push_back({std::string(path), found->type, found->declared_index.has_value(),
                            found->declared_index.value_or(0)});
    }
    return Found{place->second, found->type};
  }
  // Known to some action: a real attribute in the wrong place.
  std::vector<std::string_view> candidates;
  for (const schema::ActionInfo& info : schema::Actions()) {
    const auto anywhere = FindAttribute(context_.model, info.action, path);
    if (anywhere && anywhere->origin != schema::Origin::Internal) {
      if (readable_.of_class_when) {
        context_.sink.Report(span, diag::NotReadableHere, path);
      } else {
        context_.sink.Report(span, diag::AttributeOfOtherAction, path, missing);
      }
      return std::nullopt;
    }
    if (readable_.actions[static_cast<std::size_t>(info.action)] && candidates.empty()) {
      candidates = PathsOf(context_.model, info.action);
    }
  }
  // A declaration that could not be read may have declared it.
  if (context_.partial && (path.starts_with("task.") || path.starts_with("caller."))) {
    return std::nullopt;
  }
  if (context_.names.unread_attributes.contains(path)) return std::nullopt;
  if (readable_.of_class_when) {
    std::erase_if(candidates, [](std::string_view name) { return !MayBeReadByClass(name); });
  }
  const Guess guess = NearestPath(path, candidates);
  OfferGuess(context_.sink.Report(span, diag::UnknownAttribute, path, DidYouMean(guess)), span,
             guess);
  return std::nullopt;
}

ExpressionChecker::MaybeTyped ExpressionChecker::Attribute(const syntax::Expr& expr) {
  if (variable_ && expr.kind == Syntax::Name && expr.text == variable_->name) {
    return Node(ExprKind::Variable, variable_->type, expr.span, {});
  }
  const auto found = Find(expr.text, expr.span);
  if (!found) return std::nullopt;
  if (found->type.optional && !(found->use < known_.size() && known_[found->use])) {
    context_.sink.Report(expr.span, diag::MayBeAbsent, expr.text);
    return std::nullopt;
  }
  return Node(ExprKind::Attribute, Required(found->type), expr.span, {}, found->use);
}

ExpressionChecker::MaybeTyped ExpressionChecker::Has(const syntax::Expr& expr) {
  const auto found = Find(expr.text, expr.operator_span);
  if (!found) return std::nullopt;
  if (!found->type.optional) {
    context_.sink.Report(expr.span, diag::AlwaysThere, expr.text);
    return std::nullopt;
  }
  Typed typed = Node(ExprKind::Has, kBool, expr.span, {}, found->use);
  if (found->use < typed.when_true.size()) typed.when_true.set(found->use);
  return typed;
}

ExpressionChecker::MaybeTyped ExpressionChecker::Boolean(const syntax::Expr& expr) {
  if (IsUntyped(expr)) {
    const Syntax kind = expr.kind;
    const std::string_view seen =
        kind == Syntax::Name ? std::string_view(expr.text) : syntax::NameOf(kind);
    context_.sink.Report(expr.span, diag::NotACondition, seen);
    return std::nullopt;
  }
  auto typed = Infer(expr);
  if (!typed || SameType(typed->type, kBool)) return typed;
  context_.sink.Report(expr.span, diag::NotACondition, model::Print(context_.model, typed->type));
  return std::nullopt;
}

ExpressionChecker::MaybeTyped ExpressionChecker::Not(const syntax::Expr& expr) {
  auto operand = Boolean(expr.operands[0]);
  if (!operand) return std::nullopt;
  Typed typed = Node(ExprKind::Not, kBool, expr.span, {operand->id});
  typed.when_true = operand->when_false;
  typed.when_false = operand->when_true;
  return typed;
}

ExpressionChecker::MaybeTyped ExpressionChecker::Junction(const syntax::Expr& expr, ExprKind kind) {
  const Facts before = known_;
  std::vector<ExprId> operands;
  // What every operand leaves when the whole has its rarer value, and what some do otherwise.
  Facts all;
  Facts some;
  bool whole = true;
  for (const syntax::Expr& operand : expr.operands) {
    auto typed = Boolean(operand);
    if (!typed) {
      whole = false;
      known_.set();
      continue;
    }
    const bool conjunction = kind == ExprKind::And;
    const Facts& passing = conjunction ? typed->when_true : typed->when_false;
    const Facts& stopping = conjunction ? typed->when_false : typed->when_true;
    all |= passing;
    some = operands.empty() ? stopping : some & stopping;
    known_ |= passing;
    operands.push_back(typed->id);
  }
  known_ = before;
  if (!whole) return std::nullopt;
  Typed typed{context_.model.expressions.Add(kind, kBool, expr.span, operands), kBool};
  typed.when_true = kind == ExprKind::And ? all : some;
  typed.when_false = kind == ExprKind::And ? some : all;
  return typed;
}

std::optional<ExpressionChecker::Pair> ExpressionChecker::Sides(const syntax::Expr& expr) {
  const syntax::Expr& left = expr.operands[0];
  const syntax::Expr& right = expr.operands[1];
  if (IsUntyped(left) && IsUntyped(right)) {
    context_.sink.Report(expr.span, diag::NoType);
    return std::nullopt;
  }
  MaybeTyped typed_left;
  MaybeTyped typed_right;
  if (IsUntyped(left)) {
    typed_right = Infer(right);
    if (typed_right) typed_left = Expect(left, typed_right->type);
  } else {
    typed_left = Infer(left);
    if (typed_left) {
      typed_right = Expect(right, typed_left->type);
    } else if (!IsUntyped(right)) {
      typed_right = Infer(right);  // for its own mistakes
    }
  }
  if (!typed_left || !typed_right) return std::nullopt;
  return Pair{*typed_left, *typed_right};
}

ExpressionChecker::MaybeTyped ExpressionChecker::Comparison(const syntax::Expr& expr,
                                                            ExprKind kind) {
  const auto sides = Sides(expr);
  if (!sides) return std::nullopt;
  const Type& type = sides->left.type;
  if (kind != ExprKind::Equal && kind != ExprKind::NotEqual) {
    bool ordered = false;
    if (!IsMany(type)) {
      ordered = type.kind == TypeKind::Int || type.kind == TypeKind::Duration ||
                type.kind == TypeKind::Size || type.kind == TypeKind::Time ||
                type.kind == TypeKind::Text ||
                (type.kind == TypeKind::Enum &&
                 context_.model.enums[static_cast<std::size_t>(type.enumeration)].ordered);
    }
    if (!ordered) {
      return WrongOperand(expr, model::NameOf(kind), "what has an order", type);
    }
  }
  return Node(kind, kBool, expr.span, {sides->left.id, sides->right.id});
}

ExpressionChecker::MaybeTyped ExpressionChecker::In(const syntax::Expr& expr) {
  const syntax::Expr& left = expr.operands[0];
  const syntax::Expr& right = expr.operands[1];
  if (IsUntyped(left)) {
    if (IsUntyped(right)) {
      context_.sink.Report(expr.span, diag::NoType);
      return std::nullopt;
    }
    auto many = Infer(right);
    if (!many) return std::nullopt;
    if (!IsMany(many->type)) return WrongOperand(right, "in", "a set or a list", many->type);
    auto element = Expect(left, ElementOf(many->type));
    if (!element) return std::nullopt;
    return Node(ExprKind::In, kBool, expr.span, {element->id, many->id});
  }
  auto element = Infer(left);
  if (!element) {
    if (!IsUntyped(right)) Infer(right);
    return std::nullopt;
  }
  if (IsMany(element->type))
    return WrongOperand(left, "in", "a single value on its left", element->type);
  const bool address = element->type.kind == TypeKind::Ip;
  const Type of = address ? Type{TypeKind::Cidr} : element->type;
  MaybeTyped many;
  if (!IsUntyped(right)) {
    many = Infer(right);
    if (!many) return std::nullopt;
    const Type& type = many->type;
    const bool fits = IsMany(type) ? SameType(ElementOf(type), element->type) ||
                                         (address && type.kind == TypeKind::Cidr)
                                   : address && type.kind == TypeKind::Cidr;
    if (!fits) {
      return WrongOperand(right, "in", "a set of " + model::Print(context_.model, of), type);
    }
  } else if (address && right.kind == Syntax::String) {
    many = Constant(right, of);
  } else if (right.kind == Syntax::List || right.kind == Syntax::Name) {
    many = Constant(right, SetOf(of));
  } else {
    context_.sink.Report(right.span, diag::WrongOperand, "in", "a set or a list",
                         syntax::NameOf(right.kind));
    return std::nullopt;
  }
  if (!many) return std::nullopt;
  return Node(ExprKind::In, kBool, expr.span, {element->id, many->id});
}

ExpressionChecker::MaybeTyped ExpressionChecker::Matches(const syntax::Expr& expr) {
  const syntax::Expr& left = expr.operands[0];
  const syntax::Expr& right = expr.operands[1];
  auto text = Infer(left);
  if (right.kind != Syntax::String) {
    context_.sink.Report(right.span, diag::NotALiteral);
    return std::nullopt;
  }
  if (!text) return std::nullopt;
  const auto take = [&](const auto& parsed) -> MaybeTyped {
    if (!parsed) {
      ReportWrong(context_, right.span, "a pattern", parsed.error(), Quoted);
      return std::nullopt;
    }
    auto& patterns = context_.model.expressions.patterns;
    patterns.emplace_back(*parsed);
    return Node(ExprKind::Matches, kBool, expr.span, {text->id},
                static_cast<std::uint32_t>(patterns.size() - 1));
  };
  if (!IsMany(text->type)) {
    if (text->type.kind == TypeKind::Text) return take(values::ParseTextGlob(right.text));
    if (text->type.kind == TypeKind::Host) return take(values::ParseHostPattern(right.text));
    if (text->type.kind == TypeKind::FilePath) return take(values::ParseFileGlob(right.text));
    if (text->type.kind == TypeKind::UrlPath)
      return take(values::ParseUrlGlob(right.text, values::EscapedSlashes::Kept));
  }
  return WrongOperand(left, "matches", "a string, a host or a path", text->type);
}

ExpressionChecker::MaybeTyped ExpressionChecker::Starts(const syntax::Expr& expr) {
  auto list = Infer(expr.operands[0]);
  if (!list) return std::nullopt;
  if (list->type.collection != Collection::List) {
    return WrongOperand(expr.operands[0], "starts", "a list", list->type);
  }
  auto front = Expect(expr.operands[1], list->type);
  if (!front) return std::nullopt;
  return Node(ExprKind::Starts, kBool, expr.span, {list->id, front->id});
}

ExpressionChecker::MaybeTyped ExpressionChecker::Sets(const syntax::Expr& expr, ExprKind kind) {
  const auto sides = Sides(expr);
  if (!sides) return std::nullopt;
  if (sides->left.type.collection != Collection::Set) {
    return WrongOperand(expr, model::NameOf(kind), "sets", sides->left.type);
  }
  return Node(kind, kBool, expr.span, {sides->left.id, sides->right.id});
}

ExpressionChecker::MaybeTyped ExpressionChecker::Count(const syntax::Expr& expr) {
  auto many = Infer(expr.operands[0]);
  if (!many) return std::nullopt;
  if (!IsMany(many->type)) {
    return WrongOperand(expr.operands[0], "count", "a set or a list", many->type);
  }
  return Node(ExprKind::Count, Type{TypeKind::Int}, expr.span, {many->id});
}

ExpressionChecker::MaybeTyped ExpressionChecker::Sum(const syntax::Expr& expr, ExprKind kind) {
  const syntax::Expr& left = expr.operands[0];
  const syntax::Expr& right = expr.operands[1];
  if (IsUntyped(left) && IsUntyped(right)) {
    context_.sink.Report(expr.span, diag::NoType);
    return std::nullopt;
  }
  // A time and a duration make a time; the difference of two times is a duration.
  const Type duration{TypeKind::Duration};
  MaybeTyped a;
  MaybeTyped b;
  if (IsUntyped(left)) {
    b = Infer(right);
    if (b) a = Expect(left, b->type.kind == TypeKind::Time ? duration : b->type);
  } else {
    a = Infer(left);
    if (a && IsUntyped(right)) {
      b = Expect(right, a->type.kind == TypeKind::Time ? duration : a->type);
    } else if (!IsUntyped(right)) {
      b = Infer(right);
    }
  }
  if (!a || !b) return std::nullopt;
  const auto is = [](const Typed& side, TypeKind wanted) {
    return !IsMany(side.type) && side.type.kind == wanted;
  };
  std::optional<Type> result;
  for (const TypeKind same : {TypeKind::Int, TypeKind::Duration, TypeKind::Size}) {
    if (is(*a, same) && is(*b, same)) result = Type{same};
  }
  if (is(*a, TypeKind::Time) && is(*b, TypeKind::Duration)) result = Type{TypeKind::Time};
  if (kind == ExprKind::Plus && is(*a, TypeKind::Duration) && is(*b, TypeKind::Time)) {
    result = Type{TypeKind::Time};
  }
  if (kind == ExprKind::Minus && is(*a, TypeKind::Time) && is(*b, TypeKind::Time)) {
    result = duration;
  }
  if (!result) {
    const bool left_wrong = !is(*a, TypeKind::Int) && !is(*a, TypeKind::Duration) &&
                            !is(*a, TypeKind::Size) && !is(*a, TypeKind::Time);
    return WrongOperand(left_wrong ? left : right, model::NameOf(kind), "numbers of one unit",
                        left_wrong ? a->type : b->type);
  }
  return Node(kind, *result, expr.span, {a->id, b->id});
}

ExpressionChecker::MaybeTyped ExpressionChecker::Quantifier(const syntax::Expr& expr,
                                                            ExprKind kind) {
  if (variable_) {
    context_.sink.Report(expr.span, diag::NestedQuantifier);
    return std::nullopt;
  }
  const auto taken = context_.names.declared.find(expr.text);
  if (taken != context_.names.declared.end()) {
    context_.sink
        .Report(expr.operator_span, diag::AmbiguousName, expr.text, "an element",
                "what the set declares")
        .Note(taken->second, diag::DeclaredHere, expr.text);
    return std::nullopt;
  }
  auto many = Infer(expr.operands[0]);
  if (!many) return std::nullopt;
  if (!IsMany(many->type)) {
    return WrongOperand(expr.operands[0], model::NameOf(kind), "a set or a list", many->type);
  }
  variable_ = Variable{expr.text, ElementOf(many->type)};
  auto condition = Boolean(expr.operands[1]);
  variable_.reset();
  if (!condition) return std::nullopt;
  return Node(kind, kBool, expr.span, {many->id, condition->id});
}

}  // namespace curfew::check
