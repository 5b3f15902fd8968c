#include "compiler/check/attributes.h"

#include "compiler/base/limits.h"
#include "compiler/check/names.h"
#include "compiler/values/quantity.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::check {
namespace {

constexpr std::string_view kSubjects[] = {"task", "caller"};

// How many attributes a set may declare: what the fullest action leaves.
std::size_t DeclaredMax() {
  std::size_t most = 0;
  for (const schema::ActionInfo& info : schema::Actions()) {
    most = std::max(most, schema::AttributesOf(info.action).size());
  }
  return limits::AttributesPerActionMax - most;
}

bool IsBuiltin(std::string_view path) {
  return std::any_of(schema::Actions().begin(), schema::Actions().end(),
                     [&](const schema::ActionInfo& info) {
                       return schema::FindAttribute(info.action, path) != nullptr;
                     });
}

bool HasDoubles(const std::vector<syntax::Name>& names) {
  std::set<std::string_view> seen;
  return std::any_of(names.begin(), names.end(),
                     [&](const syntax::Name& name) { return !seen.insert(name.text).second; });
}

std::optional<model::Type> ReadType(const syntax::TypeExpr& text, const std::string& path,
                                    model::PolicyModel& model, diagnostics::Sink& sink) {
  model::Type type;
  type.optional = text.optional;
  switch (text.collection) {
    case syntax::TypeExpr::Collection::None:
      type.collection = schema::Collection::One;
      break;
    case syntax::TypeExpr::Collection::Set:
      type.collection = schema::Collection::Set;
      break;
    case syntax::TypeExpr::Collection::List:
      type.collection = schema::Collection::List;
      break;
  }
  if (text.at_most) {
    const auto count = values::ParseInteger(text.at_most->text);
    const bool fits = count && *count >= 1 &&
                      *count <= static_cast<std::int64_t>(limits::SetElementsMax) &&
                      type.collection != schema::Collection::One;
    if (!fits) {
      sink.Report(text.at_most->span, diag::WrongCount, "a set or a list", limits::SetElementsMax);
      return std::nullopt;
    }
    type.elements_max = static_cast<std::uint32_t>(*count);
  }
  if (text.shape == syntax::TypeExpr::Shape::Named) {
    const syntax::Name& name = text.names.front();
    const auto kind = schema::TypeKindOf(name.text);
    if (!kind) {
      std::vector<std::string_view> words;
      for (int i = 0; i < static_cast<int>(schema::TypeKind::Enum); ++i) {
        words.push_back(schema::WordOf(static_cast<schema::TypeKind>(i)));
      }
      const Guess guess = Nearest(name.text, words);
      OfferGuess(sink.Report(name.span, diag::UnknownType, name.text, DidYouMean(guess)), name.span,
                 guess);
      return std::nullopt;
    }
    type.kind = *kind;
    return type;
  }
  if (text.names.size() < 2 || HasDoubles(text.names)) {
    sink.Report(text.span, diag::OneOfEnum, path);
    return std::nullopt;
  }
  type.kind = schema::TypeKind::Enum;
  type.enumeration = model::EnumId{static_cast<std::uint32_t>(model.enums.size())};
  model::EnumType of{path, text.shape == syntax::TypeExpr::Shape::OrderedEnum, {}};
  for (const syntax::Name& name : text.names) of.values.push_back(name.text);
  model.enums.push_back(std::move(of));
  return type;
}

}  // namespace

model::Type TypeOf(const schema::Type& type) {
  model::Type result;
  result.kind = type.kind;
  result.collection = type.collection;
  result.optional = type.optional;
  if (type.kind == schema::TypeKind::Enum) {
    result.enumeration = model::EnumId{static_cast<std::uint32_t>(type.enumeration)};
  }
  return result;
}

UnreadAttributes DeclareAttributes(std::span<const syntax::AttributesDecl* const> declarations,
                                   model::PolicyModel& model, diagnostics::Sink& sink) {
#define CURFEW_ENUM(enum_name, ...)                                                        \
  {                                                                                        \
    const schema::EnumInfo& info = schema::InfoOf(schema::Enum::enum_name);                \
    model.enums.push_back(                                                                 \
        {std::string(info.name), info.ordered, {info.values.begin(), info.values.end()}}); \
  }
#include "compiler/schema/enums.def"
#undef CURFEW_ENUM

  // In the order of their paths, so that an enumeration's id does not tell where it was declared.
  struct Row {
    std::string path;
    const syntax::AttributeDecl* declaration;
  };
  std::vector<Row> rows;
  UnreadAttributes unread;
  for (const syntax::AttributesDecl* declaration : declarations) {
    const syntax::Name& subject = declaration->subject;
    if (std::find(std::begin(kSubjects), std::end(kSubjects), subject.text) ==
        std::end(kSubjects)) {
      const Guess guess = Nearest(subject.text, kSubjects);
      OfferGuess(sink.Report(subject.span, diag::WrongSubject, subject.text, DidYouMean(guess)),
                 subject.span, guess);
      for (const syntax::AttributeDecl& attribute : declaration->attributes) {
        for (const std::string_view meant : kSubjects) {
          unread.insert(fmt::format("{}.{}", meant, attribute.name.text));
        }
      }
      continue;
    }
    for (const syntax::AttributeDecl& attribute : declaration->attributes) {
      rows.push_back({subject.text + "." + attribute.name.text, &attribute});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.path < b.path; });
  const syntax::AttributeDecl* previous = nullptr;
  const std::size_t most = DeclaredMax();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const syntax::AttributeDecl& attribute = *rows[i].declaration;
    const bool taken = i > 0 && rows[i - 1].path == rows[i].path;
    if (taken) {
      sink.Report(attribute.name.span, diag::NameTaken, rows[i].path)
          .Note(previous->name.span, diag::DeclaredHere, rows[i].path);
      continue;
    }
    previous = &attribute;
    if (IsBuiltin(rows[i].path)) {
      sink.Report(attribute.name.span, diag::BuiltinAttribute, rows[i].path);
      continue;
    }
    if (attribute.restated && rows[i].path.starts_with("caller.")) {
      sink.Report(*attribute.restated, diag::RestatedCaller);
    }
    if (model.declared.size() == most) {
      sink.Report(attribute.name.span, diag::TooManyAttributes, static_cast<std::int64_t>(most));
      for (; i < rows.size(); ++i) unread.insert(rows[i].path);
      break;
    }
    if (auto type = ReadType(attribute.type, rows[i].path, model, sink)) {
      model.declared.push_back(
          {rows[i].path, *type, attribute.restated.has_value(), attribute.name.span});
    } else {
      unread.insert(rows[i].path);
    }
  }
  return unread;
}

std::optional<FoundAttribute> FindAttribute(const model::PolicyModel& model, schema::Action action,
                                            std::string_view path) {
  if (const schema::Attribute* builtin = schema::FindAttribute(action, path)) {
    return FoundAttribute{TypeOf(builtin->type), builtin->origin, std::nullopt};
  }
  const auto found = std::lower_bound(
      model.declared.begin(), model.declared.end(), path,
      [](const model::DeclaredAttribute& a, std::string_view b) { return a.path < b; });
  if (found == model.declared.end() || found->path != path) return std::nullopt;
  return FoundAttribute{found->type, schema::Origin::Stated,
                        static_cast<std::uint32_t>(found - model.declared.begin())};
}

std::vector<std::string_view> PathsOf(const model::PolicyModel& model, schema::Action action) {
  std::vector<std::string_view> paths;
  for (const schema::Attribute& attribute : schema::AttributesOf(action)) {
    if (attribute.origin == schema::Origin::Internal) continue;
    if (schema::FindAttribute(action, attribute.path) != nullptr) paths.push_back(attribute.path);
  }
  for (const model::DeclaredAttribute& attribute : model.declared) paths.push_back(attribute.path);
  return paths;
}

}  // namespace curfew::check
