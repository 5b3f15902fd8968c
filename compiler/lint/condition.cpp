#include "compiler/lint/condition.h"

#include "compiler/schema/axioms.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace curfew::lint {
namespace {

using model::Constant;
using model::Expr;
using model::ExprId;
using model::ExprKind;
using model::Scalar;

// The values that one attribute may still have.
class Domain {
 public:
  void AtLeast(std::int64_t value) { low_ = std::max(low_, value); }
  void AtMost(std::int64_t value) { high_ = std::min(high_, value); }
  void Only(std::set<Scalar> values) {
    if (!only_) {
      only_ = std::move(values);
      return;
    }
    std::erase_if(*only_, [&values](const Scalar& value) { return !values.contains(value); });
  }
  void Without(const Scalar& value) { without_.insert(value); }

  [[nodiscard]] bool is_empty() const {
    if (low_ > high_) return true;
    if (only_) {
      return std::none_of(only_->begin(), only_->end(), [this](const Scalar& value) {
        return !without_.contains(value) && IsWithin(value);
      });
    }
    // A short range of numbers whose every value is excluded.
    const auto size = static_cast<std::uint64_t>(high_) - static_cast<std::uint64_t>(low_);
    if (size >= without_.size()) return false;
    for (std::int64_t value = low_;; ++value) {
      if (!without_.contains(Scalar(value))) return false;
      if (value == high_) return true;
    }
  }

 private:
  [[nodiscard]] bool IsWithin(const Scalar& value) const {
    const auto* number = std::get_if<std::int64_t>(&value);
    return number == nullptr || (low_ <= *number && *number <= high_);
  }

  std::int64_t low_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t high_ = std::numeric_limits<std::int64_t>::max();
  std::optional<std::set<Scalar>> only_;
  std::set<Scalar> without_;
};

ExprKind Opposite(ExprKind kind) {
  if (kind == ExprKind::Equal) return ExprKind::NotEqual;
  if (kind == ExprKind::NotEqual) return ExprKind::Equal;
  if (kind == ExprKind::Less) return ExprKind::GreaterEqual;
  if (kind == ExprKind::LessEqual) return ExprKind::Greater;
  if (kind == ExprKind::Greater) return ExprKind::LessEqual;
  return ExprKind::Less;
}

ExprKind Flipped(ExprKind kind) {
  if (kind == ExprKind::Less) return ExprKind::Greater;
  if (kind == ExprKind::LessEqual) return ExprKind::GreaterEqual;
  if (kind == ExprKind::Greater) return ExprKind::Less;
  if (kind == ExprKind::GreaterEqual) return ExprKind::LessEqual;
  return kind;
}

bool IsComparison(ExprKind kind) {
  return kind >= ExprKind::Equal && kind <= ExprKind::GreaterEqual;
}

bool IsNumeric(const model::Type& type) {
  switch (type.kind) {
    case schema::TypeKind::Bool:
    case schema::TypeKind::Int:
    case schema::TypeKind::Duration:
    case schema::TypeKind::Size:
    case schema::TypeKind::Time:
    case schema::TypeKind::Enum:
      return type.collection == schema::Collection::One;
    case schema::TypeKind::Text:
    case schema::TypeKind::Principal:
    case schema::TypeKind::Ip:
    case schema::TypeKind::Cidr:
    case schema::TypeKind::Host:
    case schema::TypeKind::UrlPath:
    case schema::TypeKind::FilePath:
    case schema::TypeKind::Digest:
      return false;
  }
  return false;
}

struct Bounds {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

// What the requests of one action hold of a number.
Bounds BoundsOf(schema::Action action, const schema::Attribute& attribute) {
  using Kind = schema::Axiom::Kind;
  Bounds bounds;
  // Of what is left of a time, a request may say less than nothing.
  const bool is_count =
      attribute.type.kind == schema::TypeKind::Int || attribute.type.kind == schema::TypeKind::Size;
  if (is_count) bounds.least = 0;
  for (const schema::Axiom& axiom : schema::AxiomsOf(action)) {
    if (axiom.slot != attribute.slot) continue;
    if (axiom.kind == Kind::AtLeast) bounds.least = std::max(bounds.least, axiom.number);
    if (axiom.kind == Kind::AtMost) bounds.most = std::min(bounds.most, axiom.number);
  }
  return bounds;
}

// The same of every action that carries the attribute; one that the set declares has none.
Bounds BoundsOf(std::string_view path) {
  std::optional<Bounds> widest;
  for (const schema::ActionInfo& info : schema::Actions()) {
    const schema::Attribute* attribute = schema::FindAttribute(info.action, path);
    if (attribute == nullptr) continue;
    const Bounds here = BoundsOf(info.action, *attribute);
    if (!widest) widest = here;
    widest->least = std::min(widest->least, here.least);
    widest->most = std::max(widest->most, here.most);
  }
  return widest.value_or(Bounds());
}

// Whether one request can make a condition hold, or not hold, as far as can be seen.
class Reading {
 public:
  explicit Reading(const model::PolicyModel& model) : model_(model), all_(model.expressions) {}

  // False only if no request makes `condition` be `wanted`.
  bool IsPossible(ExprId condition, bool wanted) {
    return ArePossible(std::span(&condition, 1), wanted);
  }

  // The same of all of them in one request.
  bool ArePossible(std::span<const ExprId> conditions, bool wanted) {
    domains_.clear();
    impossible_ = false;
    for (const ExprId condition : conditions) Take(condition, wanted);
    return !impossible_ && std::none_of(domains_.begin(), domains_.end(),
                                        [](const auto& entry) { return entry.second.is_empty(); });
  }

 private:
  // Adds what `id == wanted` asks of the attributes.
  void Take(ExprId id, bool wanted) {
    const Expr& expr = all_.at(id);
    if (expr.kind == ExprKind::Not) return Take(all_.OperandsOf(id).front(), !wanted);
    const bool all_at_once = expr.kind == (wanted ? ExprKind::And : ExprKind::Or);
    if (all_at_once) {
      for (const ExprId operand : all_.OperandsOf(id)) Take(operand, wanted);
      return;
    }
    if (expr.kind == ExprKind::And || expr.kind == ExprKind::Or) {
      // One of them is enough, so each is asked for itself.
      const auto operands = all_.OperandsOf(id);
      const bool any = std::any_of(operands.begin(), operands.end(), [&](ExprId operand) {
        return Reading(model_).IsPossible(operand, wanted);
      });
      impossible_ = impossible_ || !any;
      return;
    }
    TakeLeaf(id, expr, wanted);
  }

  void TakeLeaf(ExprId id, const Expr& expr, bool wanted) {
    if (expr.kind == ExprKind::Constant) {
      const auto* value = AsNumber(id);
      impossible_ = impossible_ || (value != nullptr && (*value != 0) != wanted);
    } else if (expr.kind == ExprKind::Attribute) {
      domains_[KeyOf(id)].Only({Scalar(std::int64_t{wanted ? 1 : 0})});
    } else if (expr.kind == ExprKind::Has) {
      domains_["has " + all_.attributes[expr.leaf].path].Only({Scalar(std::int64_t{wanted})});
    } else if (IsComparison(expr.kind)) {
      Compare(id, wanted ? expr.kind : Opposite(expr.kind));
    } else if (expr.kind == ExprKind::In) {
      Contain(id, wanted);
    }
  }

  void Compare(ExprId id, ExprKind kind) {
    ExprId left = all_.OperandsOf(id).front();
    ExprId right = all_.OperandsOf(id).back();
    if (all_.at(left).kind == ExprKind::Constant) {
      std::swap(left, right);
      kind = Flipped(kind);
    }
    const std::string key = KeyOf(left);
    if (key.empty()) return;
    if (key == KeyOf(right)) {
      const bool holds =
          kind == ExprKind::Equal || kind == ExprKind::LessEqual || kind == ExprKind::GreaterEqual;
      impossible_ = impossible_ || !holds;
      return;
    }
    if (all_.at(right).kind != ExprKind::Constant) return;
    const auto* scalar = std::get_if<Scalar>(&all_.ConstantOf(right).value);
    if (scalar == nullptr) return;
    Domain& domain = DomainOf(left, key);
    if (kind == ExprKind::Equal) domain.Only({*scalar});
    if (kind == ExprKind::NotEqual) domain.Without(*scalar);
    const auto* number = AsNumber(right);
    if (number == nullptr || !IsNumeric(all_.at(right).type)) return;
    if (kind == ExprKind::GreaterEqual) domain.AtLeast(*number);
    if (kind == ExprKind::LessEqual) domain.AtMost(*number);
    // No number of the language is an end of the range.
    if (kind == ExprKind::Greater) domain.AtLeast(*number + 1);
    if (kind == ExprKind::Less) domain.AtMost(*number - 1);
  }

  void Contain(ExprId id, bool wanted) {
    const ExprId element = all_.OperandsOf(id).front();
    const ExprId of = all_.OperandsOf(id).back();
    if (all_.at(of).kind != ExprKind::Constant) return;
    const auto* values = std::get_if<std::vector<Scalar>>(&all_.ConstantOf(of).value);
    // An address in blocks is no equality.
    if (values == nullptr || all_.at(of).type.kind == schema::TypeKind::Cidr) return;
    const std::string key = KeyOf(element);
    if (key.empty()) {
      impossible_ = impossible_ || (values->empty() && wanted);
      return;
    }
    Domain& domain = DomainOf(element, key);
    if (wanted) domain.Only({values->begin(), values->end()});
    if (!wanted) {
      for (const Scalar& value : *values) domain.Without(value);
    }
  }

  // Names an attribute, or the count of one; empty for all else.
  [[nodiscard]] std::string KeyOf(ExprId id) const {
    const Expr& expr = all_.at(id);
    if (expr.kind == ExprKind::Attribute) return all_.attributes[expr.leaf].path;
    if (expr.kind != ExprKind::Count) return {};
    const Expr& of = all_.at(all_.OperandsOf(id).front());
    if (of.kind != ExprKind::Attribute) return {};
    return "count " + all_.attributes[of.leaf].path;
  }

  Domain& DomainOf(ExprId id, const std::string& key) {
    Domain& domain = domains_[key];
    const Expr& expr = all_.at(id);
    if (expr.kind == ExprKind::Count) domain.AtLeast(0);
    if (expr.kind == ExprKind::Attribute && IsNumeric(expr.type)) {
      const Bounds bounds = BoundsOf(all_.attributes[expr.leaf].path);
      domain.AtLeast(bounds.least);
      domain.AtMost(bounds.most);
    }
    if (expr.type.kind == schema::TypeKind::Enum) {
      const auto& of = model_.enums[static_cast<std::size_t>(expr.type.enumeration)];
      domain.AtLeast(0);
      domain.AtMost(static_cast<std::int64_t>(of.values.size()) - 1);
    }
    return domain;
  }

  [[nodiscard]] const std::int64_t* AsNumber(ExprId id) const {
    const auto* scalar = std::get_if<Scalar>(&all_.ConstantOf(id).value);
    return scalar == nullptr ? nullptr : std::get_if<std::int64_t>(scalar);
  }

  const model::PolicyModel& model_;
  const model::Expressions& all_;
  std::map<std::string, Domain, std::less<>> domains_;
  bool impossible_ = false;
};

}  // namespace

Truth TruthOf(const model::PolicyModel& model, ExprId condition) {
  Reading reading(model);
  if (!reading.IsPossible(condition, true)) return Truth::Never;
  return reading.IsPossible(condition, false) ? Truth::Open : Truth::Always;
}

bool MayBeChosen(const model::PolicyModel& model, const model::Class& of) {
  std::vector<ExprId> conditions;
  for (const model::ClassId link : of.chain) {
    const ExprId when = model::At(model, link).when;
    if (when != model::NoExpr) conditions.push_back(when);
  }
  return Reading(model).ArePossible(conditions, true);
}

std::vector<ExprId> Conditions(const model::PolicyModel& model) {
  const model::Expressions& all = model.expressions;
  std::vector<bool> is_part(all.nodes.size(), false);
  for (const ExprId operand : all.operands) is_part[static_cast<std::size_t>(operand)] = true;
  std::vector<ExprId> conditions;
  for (std::size_t i = 0; i < all.nodes.size(); ++i) {
    const bool is_bool = all.nodes[i].type.kind == schema::TypeKind::Bool &&
                         all.nodes[i].type.collection == schema::Collection::One;
    if (!is_part[i] && is_bool) conditions.push_back(ExprId{static_cast<std::uint32_t>(i)});
  }
  return conditions;
}

}  // namespace curfew::lint
