// Renaming what a set declares. It is done only if the set then says the same under another name:
// the changed texts are read and checked again.
#pragma once

#include "compiler/lsp/index.h"

#include <string>
#include <string_view>
#include <vector>

namespace curfew::lsp {

struct Edit {
  source::Span span;
  std::string text;
};

// The name at a place, and its places in order of files and offsets; empty where there is no
// declared name.
std::vector<source::Span> PlacesOf(const Index& index, source::FileId file, std::uint32_t offset);

// What to change, or why not: Usage, NotFound or InvalidPolicy.
Result<std::vector<Edit>> Rename(const Analysis& analysis, const SetPlace& place,
                                 const source::Overlay& overlay, const Index& index,
                                 source::FileId file, std::uint32_t offset,
                                 std::string_view new_name);

}  // namespace curfew::lsp
