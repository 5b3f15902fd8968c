// The trees of a policy set by what they declare: what a rule that judges the text walks. It holds
// what the author wrote, in the author's order; what it means is the model's matter.
#pragma once

#include "compiler/syntax/ast.h"
#include "compiler/values/url.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::lint {

// Points into trees that outlive it.
struct PolicyTree {
  std::span<const syntax::Ast> files;
  std::vector<const syntax::SandboxDecl*> classes;  // with a name
  std::vector<const syntax::SandboxDecl*> floors;   // `every sandbox`
  std::vector<const syntax::Rule*> rules;           // of the whole set
  std::vector<const syntax::TestDecl*> tests;
  std::vector<const syntax::AttributesDecl*> attributes;
  std::map<std::string_view, const syntax::SandboxDecl*> class_of;
  std::map<std::string_view, const syntax::ImageDecl*> images;
  std::map<std::string_view, const syntax::SecretDecl*> secrets;
  std::map<std::string_view, const syntax::ListDecl*> lists;

  // The class, then what it narrows, then the floors: where a statement of it may stand.
  [[nodiscard]] std::vector<const syntax::SandboxDecl*> ChainOf(
      const syntax::SandboxDecl& sandbox) const;
};

PolicyTree ReadTrees(std::span<const syntax::Ast> files);

// Calls `visit(statement)` for each statement of one form in the class.
template <typename Form, typename Visit>
void ForEach(const syntax::SandboxDecl& sandbox, const Visit& visit) {
  for (const syntax::SandboxMember& member : sandbox.members) {
    const auto* plane = std::get_if<syntax::Plane>(&member);
    if (plane == nullptr) continue;
    for (const syntax::Statement& statement : plane->statements) {
      if (const auto* form = std::get_if<Form>(&statement)) visit(*form);
    }
  }
}

// Calls `visit(class, statement)` for each statement of one form in every class and floor.
template <typename Form, typename Visit>
void ForEachIn(const PolicyTree& tree, const Visit& visit) {
  for (const auto* group : {&tree.classes, &tree.floors}) {
    for (const syntax::SandboxDecl* sandbox : *group) {
      ForEach<Form>(*sandbox, [&](const Form& form) { visit(*sandbox, form); });
    }
  }
}

// The first statement of a form along a chain, or null.
template <typename Form>
const Form* First(std::span<const syntax::SandboxDecl* const> chain) {
  const Form* first = nullptr;
  for (const syntax::SandboxDecl* sandbox : chain) {
    ForEach<Form>(*sandbox, [&first](const Form& form) {
      if (first == nullptr) first = &form;
    });
  }
  return first;
}

// Every rule of a class and of the set.
void ForEachRule(const PolicyTree& tree, const std::function<void(const syntax::Rule&)>& visit);

// Every condition of the set: of rules, classes, traffic and transfers.
void ForEachCondition(const PolicyTree& tree,
                      const std::function<void(const syntax::Expr&)>& visit);

// The expression and all below it, from the top.
void Walk(const syntax::Expr& expr, const std::function<void(const syntax::Expr&)>& visit);
bool Reads(const syntax::Expr& expr, std::string_view path_prefix);

// One target of a network rule, read as its stream asks; nothing is set where it is no pattern.
struct TargetText {
  std::string text;
  syntax::Span span;                       // of the text, or of the list's name in the rule
  std::optional<values::UrlPattern> url;   // http, https
  std::optional<values::PlacePattern> at;  // a stream, or a name without a scheme
  bool internet = false;

  // The name or the block, whichever form it has.
  [[nodiscard]] const values::Place* place() const;
};
// With the elements of lists in their place.
std::vector<TargetText> TargetsOf(const PolicyTree& tree, const syntax::Traffic& traffic);

// What a quantity says, in milliseconds, bytes or as it is; nothing where the checker refuses it.
std::optional<std::int64_t> DurationOf(const syntax::Quantity& quantity);
std::optional<std::int64_t> SizeOf(const syntax::Quantity& quantity);
std::optional<std::int64_t> NumberOf(const syntax::Quantity& quantity);
// The maximum of `X at most Y`, `at most Y` and `X`.
const syntax::Quantity& MaximumOf(const syntax::Bound& bound);

// The largest ttl of a class, as its chain writes it.
std::optional<std::int64_t> LargestTtl(const PolicyTree& tree, const syntax::SandboxDecl& sandbox);

}  // namespace curfew::lint
