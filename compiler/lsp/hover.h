// What a reader is told of the word under the pointer, as Markdown.
#pragma once

#include "compiler/lsp/index.h"

#include <optional>
#include <string>

namespace curfew::lsp {

struct Hover {
  std::string markdown;
  source::Span token;
};

std::optional<Hover> HoverAt(const Analysis& analysis, const Index& index,
                             const Vocabulary& vocabulary, source::FileId file,
                             std::uint32_t offset);

// A symbol in one line, as policy text says it: `image python312`, `task.risk: low < high`.
std::string TitleOf(const Symbol& symbol, const Vocabulary& vocabulary);

// The lines that say what an attribute is, without its path.
std::string AboutAttribute(const std::vector<const Attribute*>& meanings);

}  // namespace curfew::lsp
