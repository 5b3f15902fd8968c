// What may follow a text that ends in the middle of something: for an editor that completes words.
#pragma once

#include "compiler/syntax/ast.h"
#include "compiler/syntax/token_list.h"

#include <string>
#include <string_view>
#include <vector>

namespace curfew::syntax {

struct Continuation {
  // The innermost block that is open at the end.
  Block block = Block::File;
  // Words of which one may begin a statement there; empty in the middle of a statement.
  std::vector<std::string_view> statements;
  // The statement that is not whole, or the last one if more could be added to it.
  std::vector<Token> statement;

  // A token that goes on with it: the word or sign itself, or no word where any of a kind would do;
  // and the innermost rule of the grammar that wants it.
  struct Wanted {
    std::string word;
    std::string_view rule;
  };
  std::vector<Wanted> wanted;
};

// `tokens` are those of a text up to a place; their brackets need not be closed. Nothing follows
// where they are nested too deep.
Continuation ContinuationOf(const TokenList& tokens);

}  // namespace curfew::syntax
