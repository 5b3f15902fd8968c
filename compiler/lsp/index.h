// Where each name of a set is declared and used: what hover, definition, references and rename
// answer from. Made from trees; it judges nothing, so a name that the checker refuses may be here.
#pragma once

#include "compiler/lsp/analysis.h"
#include "compiler/lsp/vocabulary.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::lsp {

enum class SymbolKind : std::uint8_t { Class, Image, Secret, List, Attribute, EnumValue, Label };

struct Symbol {
  SymbolKind kind = SymbolKind::Class;
  std::string name;  // as declared: `risk`
  // As others say it: `task.risk`, `coding.network.python`; of an enum value `task.risk.low`.
  std::string path;
  source::Span declared;  // the name in its declaration
  source::Span whole;     // the declaration
  std::string doc;
  std::optional<syntax::ListDecl::Kind> list;  // of a list
};

// One place of a name. `span` is what a renaming replaces; `token` is what a reader points at.
struct Reference {
  std::size_t symbol = 0;
  source::Span span;
  source::Span token;
};

// A path of an attribute, declared or built in, and the whole of what a reader points at.
struct AttributeUse {
  std::string path;
  source::Span token;
  Actions actions;  // of the rule that it stands in; none where that is not one rule's matter
};

// An id that a test expects.
struct IdUse {
  std::string id;
  source::Span token;
};

// `use "shared/hosts.curfew"`, `from "lists/npm.txt"`.
struct FileLink {
  source::Span token;
  source::FileId target = source::Span::Nowhere;
};

struct Index {
  std::vector<Symbol> symbols;
  std::vector<Reference> references;  // declarations too
  std::vector<AttributeUse> attributes;
  std::vector<IdUse> ids;
  std::vector<FileLink> links;

  [[nodiscard]] const Symbol* Find(SymbolKind kind, std::string_view path) const;
  // What stands at a place, its end included; nullptr for nothing.
  [[nodiscard]] const Reference* ReferenceAt(source::FileId file, std::uint32_t offset) const;
  [[nodiscard]] const AttributeUse* AttributeAt(source::FileId file, std::uint32_t offset) const;
  [[nodiscard]] const IdUse* IdAt(source::FileId file, std::uint32_t offset) const;
  [[nodiscard]] const FileLink* LinkAt(source::FileId file, std::uint32_t offset) const;
};

Index IndexOf(const Analysis& analysis, const Vocabulary& vocabulary);

// Whether `offset` lies in the span or at its end.
bool Touches(source::Span span, source::FileId file, std::uint32_t offset);

}  // namespace curfew::lsp
