#include "compiler/lsp/vocabulary.h"

#include "compiler/base/check.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::lsp {
namespace {

std::string WithForm(std::string type, schema::Collection collection, bool optional) {
  switch (collection) {
    case schema::Collection::One:
      break;
    case schema::Collection::Set:
      type = "set of " + type;
      break;
    case schema::Collection::List:
      type = "list of " + type;
      break;
  }
  return optional ? type + "?" : type;
}

std::string_view Describe(schema::Origin origin) {
  switch (origin) {
    case schema::Origin::Stated:
      return "stated by who asks";
    case schema::Origin::Wish:
      return "a wish: stated by who asks, or its bound's default";
    case schema::Origin::Verified:
      return "verified by the runtime";
    case schema::Origin::Derived:
      return "follows from another fact";
    case schema::Origin::Internal:
      return "internal";
  }
  CURFEW_UNREACHABLE("the switch names every origin");
}

}  // namespace

Vocabulary::Vocabulary(std::span<const syntax::Ast> files) {
  for (const schema::ActionInfo& info : schema::Actions()) {
    for (const schema::Attribute& attribute : schema::AttributesOf(info.action)) {
      const bool readable = attribute.origin != schema::Origin::Internal &&
                            schema::FindAttribute(info.action, attribute.path) != nullptr;
      if (readable) AddBuiltin(info.action, attribute);
    }
  }
  for (const syntax::Ast& file : files) {
    for (const syntax::Declaration& declaration : file.declarations) {
      const auto* attributes = std::get_if<syntax::AttributesDecl>(&declaration);
      if (attributes == nullptr) continue;
      for (const syntax::AttributeDecl& attribute : attributes->attributes) {
        AddDeclared(attributes->subject.text, attribute);
      }
    }
  }
}

void Vocabulary::AddBuiltin(schema::Action action, const schema::Attribute& builtin) {
  Attribute attribute;
  attribute.path = builtin.path;
  attribute.kind = builtin.type.kind;
  std::string type(schema::WordOf(builtin.type.kind));
  if (builtin.type.kind == schema::TypeKind::Enum) {
    const schema::EnumInfo& info = schema::InfoOf(builtin.type.enumeration);
    attribute.values.assign(info.values.begin(), info.values.end());
    type = fmt::format("{}", fmt::join(info.values, info.ordered ? " < " : " | "));
  }
  attribute.type = WithForm(std::move(type), builtin.type.collection, builtin.type.optional);
  attribute.origin = Describe(builtin.origin);
  attribute.doc = builtin.doc;
  const auto same = std::find_if(attributes_.begin(), attributes_.end(), [&](const Attribute& a) {
    return a.path == attribute.path && a.type == attribute.type && a.doc == attribute.doc &&
           a.origin == attribute.origin;
  });
  if (same == attributes_.end()) {
    attributes_.push_back(std::move(attribute));
    attributes_.back().actions.set(static_cast<std::size_t>(action));
  } else {
    same->actions.set(static_cast<std::size_t>(action));
  }
}

void Vocabulary::AddDeclared(const std::string& subject, const syntax::AttributeDecl& declared) {
  Attribute attribute;
  attribute.path = subject + "." + declared.name.text;
  std::vector<std::string> names;
  for (const syntax::Name& name : declared.type.names) names.push_back(name.text);
  std::string type;
  if (declared.type.shape == syntax::TypeExpr::Shape::Named) {
    type = names.empty() ? std::string() : names.front();
    attribute.kind = schema::TypeKindOf(type).value_or(schema::TypeKind::Text);
  } else {
    const bool ordered = declared.type.shape == syntax::TypeExpr::Shape::OrderedEnum;
    type = fmt::format("{}", fmt::join(names, ordered ? " < " : " | "));
    attribute.kind = schema::TypeKind::Enum;
    attribute.values = std::move(names);
  }
  auto collection = schema::Collection::One;
  if (declared.type.collection == syntax::TypeExpr::Collection::Set) {
    collection = schema::Collection::Set;
  } else if (declared.type.collection == syntax::TypeExpr::Collection::List) {
    collection = schema::Collection::List;
  }
  attribute.type = WithForm(std::move(type), collection, declared.type.optional);
  attribute.origin = Describe(schema::Origin::Stated);
  attribute.doc = fmt::format("{}", fmt::join(declared.doc.lines, "\n"));
  attribute.actions.set();
  attribute.declared = true;
  attributes_.push_back(std::move(attribute));
}

std::vector<const Attribute*> Vocabulary::Find(std::string_view path) const {
  std::vector<const Attribute*> found;
  for (const Attribute& attribute : attributes_) {
    if (attribute.path == path) found.push_back(&attribute);
  }
  return found;
}

std::vector<const Attribute*> Vocabulary::ReadableBy(Actions actions) const {
  std::vector<const Attribute*> found;
  for (const Attribute& attribute : attributes_) {
    if ((attribute.actions & actions) == actions) found.push_back(&attribute);
  }
  return found;
}

std::string Describe(Actions actions) {
  if (actions.all()) return "every action";
  std::string words;
  std::size_t left = actions.count();
  for (const schema::ActionInfo& info : schema::Actions()) {
    if (!actions.test(static_cast<std::size_t>(info.action))) continue;
    words += fmt::format("`{}`", info.word);
    --left;
    if (left > 0) words += left == 1 ? " and " : ", ";
  }
  return words;
}

}  // namespace curfew::lsp
