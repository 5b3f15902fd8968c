// The blocks of the language and the words that begin something in each: what the parser dispatches
// on, resumes at after a mistake, and offers when a word is misspelt.
#pragma once

#include "compiler/syntax/ast.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace curfew::syntax {

// As a message says it: "`network`", "a test", "the policy".
std::string_view NameOf(Block block);

// The words that may begin a statement, in the order of the language.
std::span<const std::string_view> WordsOf(Block block);

// Whether a statement of the block may begin with `name:`.
bool TakesLabels(Block block);

Block BlockOf(PlaneKind plane);

// Where a statement that begins with `word` belongs, as a message says it; nothing when nowhere.
std::optional<std::string_view> HomeOf(std::string_view word);

// Whether a statement of some plane, or a plane, begins with `word`.
bool IsPlaneWord(std::string_view word);

// Whether `word` is the name of a plane, of whose block it is the head.
bool IsPlaneName(std::string_view word);

// A form that the language keeps for later and that begins so, as a message says it.
// `second` is the word behind `first`; labels are already taken off.
std::optional<std::string_view> ReservedForm(Block block, std::string_view first,
                                             std::string_view second);

// The word of `words` that `word` is most likely a misspelling of.
std::optional<std::string_view> NearestWord(std::string_view word,
                                            std::span<const std::string_view> words);

// Every word that may stand inside a statement, for misspellings there.
std::span<const std::string_view> InnerWords();

}  // namespace curfew::syntax
