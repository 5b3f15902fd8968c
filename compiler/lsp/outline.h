// The shape of one file: what it declares, and what an editor can fold.
#pragma once

#include "compiler/lsp/analysis.h"

#include <cstdint>
#include <string>
#include <vector>

namespace curfew::lsp {

struct OutlineNode {
  enum class Kind : std::uint8_t {
    Class,
    Image,
    Secret,
    List,
    Attributes,
    Attribute,
    Plane,
    Rule,
    Test
  };
  Kind kind = Kind::Rule;
  std::string name;
  std::string detail;
  source::Span whole;
  source::Span name_span;  // lies in `whole`
  std::vector<OutlineNode> children;
};

std::vector<OutlineNode> OutlineOf(const syntax::Ast& file, const source::SourceMap& sources);

// Brackets and runs of comment lines that are longer than a line: from the first byte to the last.
struct Fold {
  source::Span span;
  bool is_comment = false;
};
std::vector<Fold> FoldsOf(const source::SourceMap& sources, source::FileId file);

}  // namespace curfew::lsp
