#include "compiler/check/class_overlap.h"

#include "compiler/model/print.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace curfew::check {
namespace {

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

}  // namespace

void CheckClassOverlap(Context& context) {
  const model::PolicyModel& model = context.model;
  if (model.classes.size() > kClassesMax) return;
  std::vector<std::optional<Demands>> demands;
  for (const model::Class& of : model.classes) {
    Demands read;
    const bool plain = of.when == model::NoExpr || ReadDemands(model, of.when, read);
    demands.push_back(plain ? std::optional(std::move(read)) : std::nullopt);
  }
  for (std::size_t b = 0; b < demands.size(); ++b) {
    for (std::size_t a = 0; a < b && demands[b]; ++a) {
      const model::Class& one = model.classes[a];
      const model::Class& other = model.classes[b];
      // A request names one class at most.
      if (!demands[a] || (one.by_name && other.by_name)) continue;
      const std::string named = one.by_name ? one.name : other.by_name ? other.name : "";
      const auto example = Example(model, *demands[a], *demands[b], named);
      if (!example) continue;
      context.sink.Report(other.span, diag::ClassesOverlap, one.name, other.name, *example)
          .Note(one.span, diag::DeclaredHere, one.name);
    }
  }
}

}  // namespace curfew::check
