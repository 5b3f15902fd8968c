// Which tokens of a policy may be lost though something opens (language.md section 8).
#pragma once

#include "compiler/syntax/token_list.h"

namespace curfew::properties {

// The exceptions: `not`, since a denial of the opposite is another denial, and elements of a list
// in brackets, since one thing less is denied.
inline bool MayOpen(const syntax::TokenList& list, std::size_t at) {
  if (list.TextOf(list.tokens[at]) == "not") return true;
  int depth = 0;
  for (std::size_t i = 0; i < at; ++i) {
    const auto text = list.TextOf(list.tokens[i]);
    if (text == "[") ++depth;
    if (text == "]") --depth;
  }
  return depth > 0;
}

}  // namespace curfew::properties
