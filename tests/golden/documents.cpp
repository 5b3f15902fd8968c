#include "tests/golden/documents.h"

#include "compiler/base/check.h"
#include "compiler/diagnostics/diagnostic.h"
#include "compiler/schema/schema.h"
#include "compiler/values/variable.h"

#include <fmt/format.h>

namespace curfew::golden {
namespace {

// In a cell of a table.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string Diagnostics() {
  std::string text = "| code | name | severity | message |\n|---|---|---|---|\n";
  for (const diagnostics::RegistryEntry& entry : diagnostics::Registry()) {
    text += fmt::format("| {} | {} | {} | {} |\n", diagnostics::CodeName(entry.code), entry.name,
                        diagnostics::NameOf(entry.severity), Cell(PatternOf(entry)));
  }
  return text;
}

std::string ReservedVariables() {
  std::string text;
  for (const std::string_view entry : values::ReservedVariables()) {
    text += fmt::format("{}`{}`", text.empty() ? "" : " ", entry);
  }
  return text + "\n";
}

std::string Actions() {
  std::string text = "| action | asked when | granted by |\n|---|---|---|\n";
  for (const schema::ActionInfo& action : schema::Actions()) {
    text += fmt::format("| `{}` | {} | {} |\n", action.word, Cell(action.asked_when),
                        Cell(action.granted_by));
  }
  return text;
}

std::string Types() {
  std::string text;
  for (int kind = 0; kind <= static_cast<int>(schema::TypeKind::Digest); ++kind) {
    text += fmt::format("{}`{}`", text.empty() ? "Types: " : ", ",
                        schema::WordOf(static_cast<schema::TypeKind>(kind)));
  }
  return text + ", enums, `set of T`, `list of T`, `T?`.\n";
}

std::string TextOf(const schema::Type& type) {
  std::string text = type.collection == schema::Collection::Set    ? "set of "
                     : type.collection == schema::Collection::List ? "list of "
                                                                   : "";
  if (type.kind != schema::TypeKind::Enum) {
    text += schema::WordOf(type.kind);
  } else {
    const schema::EnumInfo& info = schema::InfoOf(type.enumeration);
    for (std::size_t i = 0; i < info.values.size(); ++i) {
      if (i > 0) text += info.ordered ? " < " : " | ";
      text += info.values[i];
    }
  }
  return text + (type.optional ? "?" : "");
}

std::string_view WordOf(schema::Origin origin) {
  switch (origin) {
    case schema::Origin::Stated:
      return "stated";
    case schema::Origin::Wish:
      return "wish";
    case schema::Origin::Verified:
      return "verified";
    case schema::Origin::Derived:
      return "derived";
    case schema::Origin::Internal:
      return "internal";
  }
  CURFEW_UNREACHABLE("the switch names every origin");
}

std::string Row(const schema::Attribute& attribute) {
  return fmt::format("| `{}` | {} | {} | {} |\n", attribute.path, Cell(TextOf(attribute.type)),
                     WordOf(attribute.origin), Cell(attribute.doc));
}

// Of each action its own; before them those that every action has, and every sandbox.
std::string Facts() {
  constexpr std::string_view kHead = "| fact | type | from | what it is |\n|---|---|---|---|\n";
  std::string text =
      fmt::format("Of every action; `sandbox.*` and `token.*` of all but `create`:\n\n{}", kHead);
  const auto shared =
      schema::AttributesOf(schema::Action::Observe).first(schema::slot::SharedCount);
  for (const schema::Attribute& attribute : shared) {
    if (attribute.origin != schema::Origin::Internal) text += Row(attribute);
  }
  for (const schema::ActionInfo& action : schema::Actions()) {
    std::string rows;
    for (const schema::Attribute& own :
         schema::AttributesOf(action.action).subspan(schema::slot::SharedCount)) {
      if (own.origin != schema::Origin::Internal) rows += Row(own);
    }
    if (!rows.empty()) text += fmt::format("\nOf `{}`:\n\n{}{}", action.word, kHead, rows);
  }
  return text;
}

}  // namespace

std::vector<DocumentPart> DocumentParts() {
  return {{"compiler/diagnostics/README.md", "diagnostics", Diagnostics()},
          {"grammar/README.md", "reserved variables", ReservedVariables()},
          {"grammar/REFERENCE.md", "types", Types()},
          {"grammar/REFERENCE.md", "actions", Actions()},
          {"grammar/REFERENCE.md", "facts", Facts()},
          {"grammar/REFERENCE.md", "variables", ReservedVariables()}};
}

std::string WithPart(std::string_view document, const DocumentPart& part) {
  const std::string begin = fmt::format("<!-- begin {} -->\n", part.name);
  const std::string end = fmt::format("<!-- end {} -->\n", part.name);
  const std::size_t from = document.find(begin);
  const std::size_t to = document.find(end);
  if (from == document.npos || to == document.npos || to < from + begin.size()) return {};
  return std::string(document.substr(0, from + begin.size())) + part.text +
         std::string(document.substr(to));
}

}  // namespace curfew::golden
