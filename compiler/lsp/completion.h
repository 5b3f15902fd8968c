// What may be written at a place: words that the grammar takes there, and the names, attributes and
// values that its meaning asks for. The text behind the place is not looked at.
#pragma once

#include "compiler/lsp/index.h"

#include <string>
#include <vector>

namespace curfew::lsp {

struct Proposal {
  enum class Kind : std::uint8_t { Keyword, Attribute, Value, Name, RuleId };
  Kind kind = Kind::Keyword;
  std::string text;
  std::string detail;
  std::string doc;
};

struct Completion {
  std::vector<Proposal> proposals;  // the likeliest first, each text once
  std::uint32_t word_begin = 0;     // of the word that is being written, which a proposal replaces
};

// `text` up to `offset`. `index` and `vocabulary` are of the set; `known_ids` what tests can
// expect.
Completion Complete(std::string_view text, std::uint32_t offset, const Index& index,
                    const Vocabulary& vocabulary, const std::vector<std::string>& known_ids);

}  // namespace curfew::lsp
