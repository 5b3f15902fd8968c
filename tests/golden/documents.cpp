#include "tests/golden/documents.h"

#include "compiler/diagnostics/diagnostic.h"
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

}  // namespace

std::vector<DocumentPart> DocumentParts() {
  return {{"compiler/diagnostics/README.md", "diagnostics", Diagnostics()},
          {"grammar/README.md", "reserved variables", ReservedVariables()}};
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
