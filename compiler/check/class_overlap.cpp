#include "compiler/check/class_overlap.h"

#include "compiler/model/chain.h"
#include "compiler/model/print.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace curfew::check {
namespace {

using model::ClassId;
using model::ExprId;
using model::ExprKind;

// Beyond this many classes the pairs are too many to look at.
constexpr std::size_t kClassesMax = 1000;

// What a plain condition asks of each attribute: one of these values. Facts of a task are stated by
// who asks, so any combination of values is a request.
using Demands = std::map<std::string, std::vector<model::Scalar>, std::less<>>;

void Narrow(Demands& demands, const std::string& path, std::vector<model::Scalar> values) {
  std::sort(values.begin(), values.end());
  const auto [place, fresh] = demands.try_emplace(path, values);
  if (fresh) return;
  std::vector<model::Scalar> both;
  std::set_intersection(place->second.begin(), place->second.end(), values.begin(), values.end(),
                        std::back_inserter(both));
  place->second = std::move(both);
}

bool ReadDemands(const model::PolicyModel& model, ExprId id, Demands& demands) {
  const model::Expressions& all = model.expressions;
  const auto operands = all.OperandsOf(id);
  const ExprKind kind = all.at(id).kind;
  if (kind == ExprKind::And) {
    return std::all_of(operands.begin(), operands.end(),
                       [&](ExprId operand) { return ReadDemands(model, operand, demands); });
  }
  if (kind != ExprKind::Equal && kind != ExprKind::In) return false;
  if (all.at(operands[0]).kind != ExprKind::Attribute ||
      all.at(operands[1]).kind != ExprKind::Constant) {
    return false;
  }
  const model::AttributeUse& attribute = all.AttributeOf(operands[0]);
  const model::Constant& constant = all.ConstantOf(operands[1]);
  const bool plain = attribute.path.starts_with("task.") && !attribute.type.optional &&
                     attribute.type.collection == schema::Collection::One &&
                     constant.type.kind == attribute.type.kind;
  if (!plain) return false;
  if (const auto* scalar = std::get_if<model::Scalar>(&constant.value)) {
    Narrow(demands, attribute.path, {*scalar});
  } else {
    Narrow(demands, attribute.path, std::get<std::vector<model::Scalar>>(constant.value));
  }
  return true;
}

// The task that meets both, in the author's words; nothing where there is none. `named`: the class
// that the request names, if one of them wants that.
std::optional<std::string> Example(const model::PolicyModel& model, const Demands& a,
                                   const Demands& b, std::string_view named) {
  Demands both = a;
  for (const auto& [path, values] : b) Narrow(both, path, values);
  std::string example;
  for (const auto& [path, values] : both) {
    if (values.empty()) return std::nullopt;
    model::Constant constant;
    for (const model::AttributeUse& attribute : model.expressions.attributes) {
      if (attribute.path == path) constant.type = attribute.type;
    }
    constant.value = values.front();
    if (!example.empty()) example += ", ";
    example += fmt::format("{} == {}", path, model::Print(model, constant));
  }
  if (!named.empty()) {
    return fmt::format("class {}{}{}", named, example.empty() ? "" : ", ", example);
  }
  return example.empty() ? std::string("any request") : example;
}

// What the class asks for with all that it narrows; nothing where that is not plain.
std::optional<Demands> DemandsOf(const model::PolicyModel& model, const model::Class& of) {
  Demands demands;
  for (const model::Class* link : ChainOf(model, of)) {
    if (link->when != model::NoExpr && !ReadDemands(model, link->when, demands)) {
      return std::nullopt;
    }
  }
  return demands;
}

bool IsAbove(ClassId a, const model::Class& b) {
  return std::find(b.chain.begin(), b.chain.end(), a) != b.chain.end();
}

using Pairs = std::set<std::pair<ClassId, ClassId>>;

// Whether it was said of classes that these two narrow: then it says nothing new of them.
bool IsSaidAbove(const Pairs& said, const model::Class& one, const model::Class& other) {
  return std::any_of(one.chain.begin(), one.chain.end(), [&](ClassId a) {
    return std::any_of(other.chain.begin(), other.chain.end(),
                       [&](ClassId b) { return said.contains(std::minmax(a, b)); });
  });
}

}  // namespace

void CheckClassOverlap(Context& context) {
  const model::PolicyModel& model = context.model;
  if (model.classes.size() > kClassesMax) return;
  std::vector<std::optional<Demands>> demands;
  std::vector<ClassId> from_above;
  for (const model::Class& of : model.classes) {
    from_above.push_back(ClassId{static_cast<std::uint32_t>(demands.size())});
    demands.push_back(DemandsOf(model, of));
  }
  std::stable_sort(from_above.begin(), from_above.end(), [&](ClassId a, ClassId b) {
    return At(model, a).chain.size() < At(model, b).chain.size();
  });
  Pairs said;
  for (std::size_t i = 0; i < from_above.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto [a, b] = std::minmax(from_above[i], from_above[j]);
      const auto& asks = demands[static_cast<std::size_t>(a)];
      const auto& asks_too = demands[static_cast<std::size_t>(b)];
      const model::Class& one = At(model, a);
      const model::Class& other = At(model, b);
      // A request names one class at most, and of two in one chain the lower one is taken.
      if (!asks || !asks_too || (one.by_name && other.by_name)) continue;
      if (IsAbove(a, other) || IsAbove(b, one) || IsSaidAbove(said, one, other)) continue;
      const std::string named = one.by_name ? one.name : other.by_name ? other.name : "";
      const auto example = Example(model, *asks, *asks_too, named);
      if (!example) continue;
      said.emplace(a, b);
      context.sink.Report(other.span, diag::ClassesOverlap, one.name, other.name, *example)
          .Note(one.span, diag::DeclaredHere, one.name);
    }
  }
}

}  // namespace curfew::check
