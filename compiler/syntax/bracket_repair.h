// Which brackets a declaration lacks or has too many, as its indentation tells: a line that is
// indented deeper stands in the block of the line above, and one that is not does not.
#pragma once

#include "compiler/syntax/token_list.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace curfew::syntax {

inline bool IsOpening(char c) { return c == '{' || c == '[' || c == '('; }
inline bool IsClosing(char c) { return c == '}' || c == ']' || c == ')'; }
inline char ClosingOf(char c) { return c == '{' ? '}' : c == '[' ? ']' : ')'; }

// Tokens [begin, end) of a list.
struct TokenRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct BracketEdit {
  enum class Kind {
    AddOpening,   // behind `token`
    AddClosing,   // behind `token`, of the one that `partner` opens
    Drop,         // `token` closes nothing
    Replace,      // `token` closes what `partner` opens, by the wrong sign
    LeaveBroken,  // `token` is a parenthesis without its other half, which could stand anywhere
  };
  Kind kind = Kind::Drop;
  std::size_t token = 0;
  std::size_t partner = 0;
  char bracket = 0;  // that is added or put there
};

// How far the line of a token is indented, in bytes.
std::size_t IndentOf(const TokenList& list, const Token& token);

// The edits by which the brackets of `range` match. Nothing where indentation does not tell: it is
// not that of blocks, or more would have to change than is missing.
std::optional<std::vector<BracketEdit>> RepairBrackets(const TokenList& list, TokenRange range);

}  // namespace curfew::syntax
